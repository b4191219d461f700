import type { Context } from "../core/context.ts";
import { HoldfastError } from "../core/errors.ts";
import type { RetryPolicy } from "../core/options.ts";
import type { ModelPrice } from "../core/prices.ts";
import type { LimitUse } from "../core/rate-limit.ts";
import { defaultRetry } from "../core/run/retry.ts";

/** Rules for every model call, whoever drives the loop: how it is retried, limited and priced. */

/** A model, and the provider that has it. */
export interface ReachedModel {
  readonly provider: string;
  readonly model: string;
}

export const MODEL_RETRY: RetryPolicy = {
  ...defaultRetry,
  attempts: 6,
  baseMs: 1_000,
  maxMs: 60_000,
  maxWaitMs: 600_000,
};

const CHARACTERS_IN_TOKEN = 4;

/** A rough number of tokens, where nobody has counted them. */
export const tokensIn = (characters: number): number => Math.ceil(characters / CHARACTERS_IN_TOKEN);

/** The rate limits of a provider and of its model, if they are defined. The number of tokens is a rough one. */
export function modelLimits(
  { provider, model }: ReachedModel,
  { characters, maxTokens = 0 }: { readonly characters: number; readonly maxTokens?: number | undefined },
): readonly LimitUse[] {
  const tokens = tokensIn(characters) + maxTokens;
  return [provider, `${provider}/${model}`].map((name) => ({ name, tokens, isOptional: true }));
}

const MILLION = 1_000_000;

/**
 * The cost of a call at the price of the first of these models that has one: a given price, else one of the store or the
 * built-in list. `undefined` if none has.
 */
export async function costOf(
  ctx: Context,
  { inputTokens, outputTokens }: { readonly inputTokens: number; readonly outputTokens: number },
  models: readonly string[],
  prices: Readonly<Record<string, ModelPrice>> | undefined,
): Promise<number | undefined> {
  const given = models.map((model) => prices?.[model]).find((known) => known !== undefined);
  const price = given ?? (await ctx.price(...models));
  return price && (inputTokens * price.input + outputTokens * price.output) / MILLION;
}

/** A cost limit that can't be enforced must not be ignored silently. */
export async function refuseUnpriced(
  ctx: Context,
  agent: string,
  model: string,
  costUsd: number | undefined,
): Promise<void> {
  if (costUsd !== undefined) return;
  const limit = (await ctx.limits())?.costUsd;
  if (limit !== undefined) throw new HoldfastError("HF-2201", { agent, model, limit });
}
