/** What people ask an engine about its runs. */
export { findRuns } from "../manage/status/find-runs.ts";
export { readStatus } from "../manage/status/run-status.ts";
