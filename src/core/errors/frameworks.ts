import { entries, SAVED, UNCHANGED } from "./entry.ts";

/** 4600 to 4649: agents, and the frameworks that drive them. */
export const frameworkErrors = entries({
  "HF-4600": {
    what: "The conversation of agent {agent} can't be compacted: its summary can't be used, {problem}.",
    why: "A summary takes the place of messages, so without one they would be lost.",
    safe: SAVED,
    fix: "Check the summarise function, or the model that writes the summary, and resume the run.",
  },
  "HF-4601": {
    what: "Agent {agent} can't take over: {most} agents have handed over to each other already.",
    why: "They may hand over without end, and every turn costs. So far: {path}.",
    safe: SAVED,
    fix: "Tell the agents more clearly when to hand over, or leave out a handoff that leads back, then fork the run from an earlier checkpoint.",
  },
  "HF-4602": {
    what: "The memory of agent {agent} can't be used: select didn't return a list of ids.",
    why: "Ids are texts, and only they are saved; the records are loaded by them after every restore.",
    safe: SAVED,
    fix: "Return the ids of records from memory.select, and resume the run.",
  },
  "HF-4603": {
    what: "Agent {agent} has handed over to {to}, which isn't among its handoffs any more.",
    why: "The handoff was recorded by an earlier version of the code.",
    safe: SAVED,
    fix: "Put {to} back among the handoffs of {agent} and resume the run, or fork it from a checkpoint before the handoff.",
  },
  "HF-4604": {
    what: "The schema of {of} can't be used: {problem}.",
    why: "A model is shown a JSON schema. Standard Schema libraries make one themselves: zod since 4.2, arktype since 2.1.28, valibot with toStandardJsonSchema.",
    safe: "Nothing was called.",
    fix: "Use a newer version of the library, leave out what JSON can't hold (dates, maps), or give the JSON schema itself.",
  },
  "HF-4605": {
    what: "There is no recorded answer for {of} in {file}.",
    why: "The request differs from those that were recorded: its model, texts, tools or settings have changed, or it is made more often.",
    safe: "Nothing was asked of a model.",
    fix: "Record it: run the test once with a live provider, { live }, and commit the file.",
  },
  "HF-4606": {
    what: "{file} doesn't hold recorded answers.",
    why: "It isn't a JSON list as recordedProvider writes it.",
    safe: UNCHANGED,
    fix: "Delete the file and record it again, or name another one.",
  },
  "HF-4610": {
    what: "{what} can't be made durable: {problem}.",
    why: "An agent of the OpenAI Agents SDK is run with a model and function tools whose calls are steps.",
    safe: "Nothing was called.",
    fix: "Give the agent as the SDK made it, and the names of its own function tools in tools.",
  },
  "HF-4611": {
    what: "This version of @openai/agents can't be used: {problem}.",
    why: "A tool's failure must be told from its results, or a call with an effect might be made twice.",
    safe: "Nothing was called.",
    fix: "Install a version of @openai/agents from 0.20 on that Holdfast was tested with.",
  },
  "HF-4612": {
    what: "Session {session} can't be used: {problem}.",
    why: "A session is a run of its own in the store: its items are written in order, each once.",
    safe: UNCHANGED,
    fix: "Use another session id, or a store that keeps runs.",
  },
  "HF-4620": {
    what: "{what} can't be stored for Mastra: {problem}.",
    why: "Each workflow run, thread and resource of Mastra is a run of the store, and is written in order.",
    safe: UNCHANGED,
    fix: "Where a run was cancelled or is of another workflow, use another id; otherwise try again.",
  },
});
