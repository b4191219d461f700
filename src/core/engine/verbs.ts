/** What an engine does to a run when a person asks for it. */
export { forkRun } from "../manage/fork/fork.ts";
export { previewFork } from "../manage/fork/fork-preview.ts";
export { planResume } from "../manage/plan/plan.ts";
export { replayCheckpoint } from "../manage/replay/replay-run.ts";
export { deleteRun } from "../manage/retention/delete.ts";
