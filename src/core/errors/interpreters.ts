import { entries, SAVED, UNCHANGED } from "./entry.ts";

/** 71xx: workflows that are interpreted inside Temporal, and the values in its history. */
export const interpreterErrors = entries({
  "HF-7100": {
    what: "A value in Temporal's history can't be opened: it needs the key {kek}, and the keyring here has {ids}.",
    why: "Values are sealed with the key of their run, which is wrapped by a key of the keyring.",
    safe: "Nothing was lost: the value is in the history as it was written.",
    fix: "Add the key to the keyring of every worker and client that reads this run.",
  },
  "HF-7101": {
    what: "A value in Temporal's history can't be opened: {problem}.",
    why: "It was changed or moved after it was sealed, or sealed by another key of the same name.",
    safe: "None of it was used.",
    fix: "Check who may write to the server's database. A run from before the damage can be taken from a backup of it.",
  },
  "HF-7102": {
    what: "The workflow {workflow} can't be interpreted inside Temporal.",
    why: "It is a function of its own. Only workflow files, DAGs and agents made by promptWorkflow are plain data.",
    safe: UNCHANGED,
    fix: "Run it with createTemporalEngine, which runs functions in Node.",
  },
  "HF-7103": {
    what: "This worker has no {what}, which a run asks for.",
    why: "The run's workflow was described by code other than this worker's.",
    safe: SAVED,
    fix: "Start a worker with the code that the run was started with, or give the workflow a new version.",
  },
  "HF-7104": {
    what: "There is no interpreted run {run} on Temporal.",
    why: "It was never started in this namespace, or its history was deleted after its retention time.",
    safe: UNCHANGED,
    fix: "Check the id and the namespace: temporal workflow list",
  },
  "HF-7105": {
    what: "The call {call} was refused by the run {run}: {problem}.",
    why: "The run's workflow inside Temporal did not take it.",
    safe: "The run continues as before.",
    fix: "Look at the execution: temporal workflow show --workflow-id {run}",
  },
  "HF-7106": {
    what: "The run {run} has grown too large for Temporal: {bytes} bytes have to be carried into its next execution.",
    why: "Temporal takes at most 2 MB with one request.",
    safe: SAVED,
    fix: "Keep large values outside and save their addresses, or move the run back to a store of your own.",
  },
});
