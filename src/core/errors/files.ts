import type { ErrorEntry } from "./entry.ts";

/** 4xxx: a file, its settings or the command line is not as it must be. */
export const fileErrors = {} as const satisfies Record<string, ErrorEntry>;
