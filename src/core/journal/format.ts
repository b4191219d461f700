/**
 * The number of what this version writes into journals. It is raised with a release that adds kinds or fields of events, or changes
 * what a snapshot holds. Each store then raises a number of its own that older versions look at when they open it, so that they
 * refuse it (HF-3005) instead of passing over what they do not know; `format.test.ts` in `src/stores` has the list.
 */
export const JOURNAL_FORMAT = 2;
