/** What advances runs, or runs a copy of them ahead. */
export { insteadOfParking } from "../manage/restart/instead.ts";
export { advance } from "./advance.ts";
export { executionDeps } from "./links.ts";
export { engineWorker } from "./worker.ts";
