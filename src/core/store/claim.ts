import { HoldfastError } from "../errors.ts";
import { type Claim, ended, type RunRow } from "../types.ts";
import type { Append, AppendResult, ClaimChange, ClaimLimit, Refusal } from "./contract.ts";

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

/** The limits that an append's claim depends on. */
export const limitsOf = ({ claim }: Append): readonly ClaimLimit[] =>
  claim.kind === "acquire" ? (claim.limits ?? []) : [];

/** True when a limit of the claim is reached among these runs, the run itself left out. */
function isFull(append: Append, rows: () => Iterable<RunRow>): boolean {
  const limits = limitsOf(append);
  if (limits.length === 0) return false;
  const running = [...rows()].filter(({ id, status }) => status === "running" && id !== append.run.id);
  return limits.some(({ queue, key, most }) => {
    const counted = running.filter((row) => row.queue === queue && (key === undefined || row.key === key));
    return counted.length >= most;
  });
}

/** The id of a run beside which a create must not stand, among these runs. */
export function inTheWay(append: Append, rows: () => Iterable<RunRow>): string | undefined {
  const { run, alone } = append;
  if (!alone) return undefined;
  const isOpen = ({ status, waiting }: RunRow): boolean =>
    alone.among === "unended" ? !ended(status) : isUnbegun({ status, waiting });
  for (const row of rows())
    if (row.id !== run.id && row.workflow === run.workflow && row.key === alone.key && isOpen(row))
      return row.id;
  return undefined;
}

/** True for a run that waits for its start. */
export const isUnbegun = ({ status, waiting }: Pick<RunRow, "status" | "waiting">): boolean =>
  status === "waiting" && waiting[0]?.kind === "start";

/** Why an append must be refused that comes to these runs, in a store that has them all in memory. */
export function refusalAmong(
  append: Append,
  row: RunRow | null,
  now: number,
  rows: () => Iterable<RunRow>,
): (AppendResult & { readonly ok: false }) | null {
  const reason = refusal(append, row, now) ?? (isFull(append, rows) ? "full" : null);
  if (reason) return { ok: false, reason, row };
  const by = inTheWay(append, rows);
  return by === undefined ? null : { ok: false, reason: "taken", row: null, by };
}

/** Refuses limits (HF-3092) in a store that can't count them in one transaction. */
export function refuseLimits(store: string, batch: readonly Append[]): void {
  if (batch.some((append) => append.alone !== undefined || limitsOf(append).length > 0))
    throw new HoldfastError("HF-3092", { store });
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
