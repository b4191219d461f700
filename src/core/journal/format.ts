/**
 * The format version of journals. Raise it with a release that adds kinds or fields of events, or changes the content
 * of snapshots. Each store then raises its own version, which older releases check when they open it, so that they
 * refuse it (HF-3005) instead of ignoring what they don't know; `format.test.ts` in `src/stores` has the list.
 */
export const JOURNAL_FORMAT = 2;
