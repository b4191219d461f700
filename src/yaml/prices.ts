import type { ModelPrice } from "../agent/model-calls.ts";

/**
 * List prices in US dollars per million tokens, as published in 2026, for files that give none. The cost of a model
 * that isn't listed is unknown, never zero.
 */
export const PRICES: Readonly<Record<string, ModelPrice>> = {
  "claude-opus-4-5": { input: 5, output: 25 },
  "claude-opus-4.5": { input: 5, output: 25 },
  "claude-sonnet-4-5": { input: 3, output: 15 },
  "claude-sonnet-4.5": { input: 3, output: 15 },
  "claude-haiku-4-5": { input: 1, output: 5 },
  "claude-haiku-4.5": { input: 1, output: 5 },
  "gpt-4.1": { input: 2, output: 8 },
  "gpt-4.1-mini": { input: 0.4, output: 1.6 },
  "gpt-4o": { input: 2.5, output: 10 },
  "gpt-4o-mini": { input: 0.15, output: 0.6 },
  "gpt-5": { input: 1.25, output: 10 },
};
