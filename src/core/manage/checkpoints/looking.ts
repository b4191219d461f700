/** What shows a position of a run, and checks it. */
export { viewLoops, viewState, viewToContinue } from "../../journal/state-view.ts";
export { digestAt, readCheckpoint, readTasks, stateAt, viewAt } from "./checkpoint-view.ts";
export { conversationIn } from "./conversation.ts";
export { findCheckpoint, isLeft, keptFrom } from "./kept.ts";
export { previewState } from "./state-preview.ts";
export { validateRun } from "./validate.ts";
