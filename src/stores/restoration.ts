import { randomBytes } from "node:crypto";

/** New key material for a store's identity: 32 random bytes as text. */
export const newKey = (): string => randomBytes(32).toString("base64url");

/** The identity of a store after a restore: a new incarnation that is no older than any run it holds. */
export const restoration = (
  now: number,
  newestRun: number,
): { readonly incarnation: string; readonly restoredAt: number } => ({
  incarnation: newKey(),
  // A run created in this very millisecond counts as created after the restore.
  restoredAt: Math.max(now - 1, newestRun),
});
