/** What retention does to runs, and finds. */
export { tombstones } from "./erase.ts";
export { pinRun } from "./pin.ts";
export { retain } from "./retain.ts";
