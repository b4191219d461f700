import type { Claim, RunRow } from "../types.ts";
import type { Append, ClaimChange, Refusal } from "./contract.ts";

/** The rules of claims, for stores that check appends themselves and for code that predicts the effect of a change. */
const FREE = { owner: null, token: null, until: 0 } as const;

/** The claim of a run that has never been claimed. */
export const UNCLAIMED: Claim = { epoch: 0, ...FREE };

/** The claim after the change. Epochs never decrease. */
export function claimAfter(claim: Claim, change: ClaimChange, now: number): Claim {
  switch (change.kind) {
    case "keep":
      return claim;
    case "hold":
      return claim.token === null ? claim : { ...claim, until: now + change.ttlMs };
    case "erase":
      return UNCLAIMED;
    case "release":
      return { epoch: Math.max(claim.epoch, change.epoch ?? 0), ...FREE };
    case "revoke":
      return { epoch: claim.epoch + 1, ...FREE };
    case "acquire":
      return { epoch: claim.epoch + 1, owner: change.owner, token: change.token, until: now + change.ttlMs };
  }
}

/** Why an append to this run must be refused, or `null`. */
export function refusal({ expect, claim }: Append, row: RunRow | null, now: number): Refusal | null {
  if (expect === null) return row ? "exists" : null;
  if (!row) return "missing";
  const theirs = row.claim.token !== expect.token || row.claim.epoch !== expect.epoch;
  if (expect.token !== null && theirs) return "fenced";
  if (claim.kind === "acquire" && row.claim.until > now) return "held";
  return row.seq === expect.seq ? null : "conflict";
}
