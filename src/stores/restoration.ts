import { randomBytes } from "node:crypto";

/** Key material for what a store is known by: 32 random bytes as text. */
export const newKey = (): string => randomBytes(32).toString("base64url");

/** What a store is from the moment it is said to be restored: another one, and no older than any run it holds. */
export const restoration = (
  now: number,
  newestRun: number,
): { readonly incarnation: string; readonly restoredAt: number } => ({
  incarnation: newKey(),
  // What is made in this very millisecond is made after it.
  restoredAt: Math.max(now - 1, newestRun),
});
