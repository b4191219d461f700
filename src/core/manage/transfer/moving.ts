/** What moves runs out of a store and into one. */
export { arrive } from "./arrival.ts";
export { BundleWriter, readBundle, refusedBundle } from "./bundle.ts";
export { checkRun } from "./bundle-check.ts";
export { comingBack } from "./coming-back.ts";
export { Blobs } from "./copy.ts";
export { Needs } from "./needs.ts";
export { acceptImport, isHeldImport, reviewImport } from "./review.ts";
