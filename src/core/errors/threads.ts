import { entries, UNCHANGED } from "./entry.ts";

/** 6180 to 6199: threads of LangGraph. */
export const threadErrors = entries({
  "HF-6180": {
    what: "{what} can't be used: it is {given}.",
    why: "A thread's id is a text of 1 to 1,000 characters; a checkpoint's id and namespace are texts.",
    safe: UNCHANGED,
    fix: 'Call the graph with { configurable: { thread_id: "a-text" } }.',
  },
  "HF-6181": {
    what: "Run {run} isn't a LangGraph thread: it belongs to workflow {workflow}.",
    why: "A thread is stored as the run of the same id, and that id is taken by other work.",
    safe: "The run wasn't touched.",
    fix: "Use another thread_id, or give HoldfastSaver the workflow name that the thread was saved under.",
  },
  "HF-6182": {
    what: "{what} is missing.",
    why: "LangGraph names thread and checkpoint in config.configurable, and this call needs both.",
    safe: UNCHANGED,
    fix: 'Call the graph with { configurable: { thread_id: "a-text" } }; checkpoint_id comes from what put returned.',
  },
  "HF-6184": {
    what: "Thread {thread} is paused.",
    why: "A person has paused its run. The checkpoint was saved, and the graph stops here.",
    safe: "This checkpoint and all before it are saved.",
    fix: "Resume it with `holdfast resume {thread}`, then invoke the graph again with null as its input.",
  },
  "HF-6185": {
    what: "Thread {thread} has ended: it is {status}.",
    why: "A run that was cancelled or completed takes no more checkpoints.",
    safe: "Everything saved before is kept. This wasn't written.",
    fix: "Fork it from a checkpoint with `holdfast fork`, or use a new thread_id.",
  },
  "HF-6186": {
    what: "The value of {what} can't be saved: {problem}.",
    why: "LangGraph's serializer refused it, or wrote something that isn't JSON.",
    safe: "The checkpoint before this one is the newest. Nothing of this one was written.",
    fix: "Return plain data or LangChain messages from the node, or give HoldfastSaver a serializer (serde) that knows the value.",
  },
  "HF-6187": {
    what: "Thread {thread} was deleted while this program worked on it.",
    why: "A checkpoint that came after the deletion would bring a part of the thread back.",
    safe: "The thread stays deleted. This wasn't written.",
    fix: "Invoke the graph with an input to start the thread over.",
  },
  "HF-6188": {
    what: "This isn't a checkpoint: {problem}",
    why: "Every checkpoint of LangGraph has an id and the version of its format.",
    safe: UNCHANGED,
    fix: "Use a version of @langchain/langgraph that works with @langchain/langgraph-checkpoint 1.x.",
  },
  "HF-6189": {
    what: "The item {key} can't be stored: {problem}",
    why: "Items of the long-term memory are JSON objects of up to 200,000 bytes under a namespace of non-empty texts.",
    safe: UNCHANGED,
    fix: "Store a reference to large data, and use a namespace without empty parts or dots.",
  },
  "HF-6190": {
    what: "This search can't be answered: {problem}",
    why: "What a filter or a query asks for is never ignored, because the answer would be wider than the question.",
    safe: UNCHANGED,
    fix: "Use $eq, $ne, $gt, $gte, $lt, $lte, $in or $nin; for a query, give HoldfastStore an index with embeddings.",
  },
});
