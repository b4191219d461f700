import { entries, UNCHANGED } from "./entry.ts";

/** 70xx: runs on Temporal. */
export const temporalErrors = entries({
  "HF-7001": {
    what: "The Temporal server at {address} does not answer.",
    why: "{problem}.",
    safe: "Runs that were started are in the server's database and continue when it is back.",
    fix: "Start the server, or correct the address. For a server of your own: temporal operator cluster health --address {address}",
  },
  "HF-7002": {
    what: "There is no namespace {namespace} on the Temporal server at {address}.",
    why: "Namespaces are made by whoever runs the server.",
    safe: UNCHANGED,
    fix: "temporal operator namespace create --namespace {namespace} --address {address}",
  },
  "HF-7003": {
    what: "No worker has answered for run {run}.",
    why: "Temporal asks a worker of the task queue {queue} for the state of a run, and none is there, or all are busy.",
    safe: "The run and its journal are in the server's database.",
    fix: "Start a worker for this task queue: holdfast worker --engine temporal://…",
  },
  "HF-7004": {
    what: "A value of run {run} is too large for Temporal: {problem}.",
    why: "Temporal takes at most 2 MB with one request.",
    safe: "Nothing of this write was stored. Every step that finished before is saved.",
    fix: "Keep the value outside, in a file or a bucket, and save its address.",
  },
  "HF-7006": {
    what: "Temporal refused to write to run {run}: {problem}.",
    why: "The workflow execution that holds the run has failed in its own code, or was made by something other than Holdfast.",
    safe: "What was written before is in its history.",
    fix: "Look at the execution: temporal workflow show --workflow-id {run}",
  },
  "HF-7007": {
    what: "{address} is not an address of Temporal.",
    why: "{problem}.",
    safe: UNCHANGED,
    fix: "Write temporal://host:port/namespace, such as temporal://127.0.0.1:7233/default",
  },
});
