import { HoldfastError } from "../../core/errors.ts";
import { projectionOf } from "../../core/journal/row-copy.ts";
import { readableRow } from "../../core/journal/row-shape.ts";
import type { Append, Entry } from "../../core/store/contract.ts";
import { identityOf } from "../../core/tags.ts";
import type { RunRow } from "../../core/types.ts";
import { texts } from "./commands.ts";

/**
 * A run is stored as two JSON texts, its fixed and its changing part, beside the few fields that scripts use. So every
 * number and every unusual character survives the round trip.
 */
export const FIELDS = ["identity", "projection", "epoch", "owner", "token", "until", "seq", "head"] as const;

/** Builds a row from the values of `FIELDS`; `null` when there is no such run. */
export function toRow(reply: unknown): RunRow | null {
  const [identity = null, projection = null, epoch, owner, token, until, seq, head] = texts(reply);
  if (identity === null || projection === null) return null;
  try {
    const claim = {
      epoch: Number(epoch),
      owner: JSON.parse(owner ?? "null"),
      token: JSON.parse(token ?? "null"),
      until: Number(until),
    };
    const run = { ...JSON.parse(identity), ...JSON.parse(projection) };
    return readableRow({ id: run.id }, () => ({ ...run, claim, seq: Number(seq), head: head ?? "" }));
  } catch (error) {
    throw new HoldfastError("HF-3011", { problem: "the row of a run is not JSON" }, { cause: error });
  }
}

export function toTexts({ run }: Append): { readonly identity: string; readonly projection: string } {
  // A caller may pass a whole row; its claim and position are stored separately.
  const projection = projectionOf(run as RunRow);
  return { identity: JSON.stringify(identityOf(run)), projection: JSON.stringify(projection) };
}

/** Position and count come before the head, so that a list of heads is enough to locate each entry. */
export const toMember = ({ seq, count, head }: Entry): string => `${seq}:${count}:${head}`;

/** The reply alternates between members and data. */
export function toEntries(reply: unknown): readonly Entry[] {
  const parts = texts(reply);
  const entries: Entry[] = [];
  for (let i = 0; i < parts.length; i += 2) {
    const [, seq, count, head = ""] = /^(\d+):(\d+):([\s\S]*)$/.exec(parts[i] ?? "") ?? [];
    if (seq === undefined) throw new HoldfastError("HF-3011", { problem: "an entry has no position" });
    entries.push({ seq: Number(seq), count: Number(count), head, data: parts[i + 1] ?? null });
  }
  return entries;
}
