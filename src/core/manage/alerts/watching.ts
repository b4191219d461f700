/** What looks for causes of alerts, and tells people. */
export { AwayWatch } from "./away.ts";
export { sent } from "./deliver.ts";
export { AlertLease } from "./lease.ts";
export { AlertWatch } from "./watch.ts";
