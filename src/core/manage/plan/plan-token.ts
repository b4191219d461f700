import { HoldfastError } from "../../errors.ts";
import { digest } from "../../hash.ts";
import { encode } from "../../values/codec.ts";
import type { PlanOptions } from "./plan-types.ts";

/**
 * A token binds a resume to the plan that somebody has seen: to the position of the run, and to the changes that were
 * planned. It is no secret and nothing is stored for it.
 */
export const planToken = (seq: number, options: PlanOptions): string => `${seq}.${changesOf(options)}`;

/** The position that the plan was made for; refuses a token that was made for other changes (HF-6013). */
export function seenInPlan(token: string, options: PlanOptions): number {
  const [, seq, changes] = /^(\d{1,15})\.([\w-]{1,64})$/.exec(token) ?? [];
  if (seq === undefined) throw new HoldfastError("HF-6013", { why: "This isn't the token of a plan." });
  if (changes !== changesOf(options))
    throw new HoldfastError("HF-6013", {
      why: "It was made for changes other than those the resume brings.",
    });
  return Number(seq);
}

function changesOf({ set, inject, budget, retryFailed = false, now = false }: PlanOptions): string {
  const changes = { set: set ?? null, inject: inject ?? null, budget: budget ?? null, retryFailed, now };
  return digest(encode(changes, { sorted: true })).slice(0, 32);
}
