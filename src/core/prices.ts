/** US dollars per million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
}

/** A price with the day from which it holds, and where it was read. */
export interface DatedPrice extends ModelPrice {
  /** Milliseconds since 1970. */
  readonly from: number;
  /** Such as the address of the provider's price list, or a contract. */
  readonly source: string;
}

const ANTHROPIC = "https://www.anthropic.com/pricing";
const OPENAI = "https://openai.com/api/pricing";

const listed = (source: string, from: string, input: number, output: number): DatedPrice => ({
  input,
  output,
  from: Date.parse(from),
  source,
});

const OPUS_4_5 = listed(ANTHROPIC, "2025-11-24", 5, 25);
const SONNET_4_5 = listed(ANTHROPIC, "2025-09-29", 3, 15);
const HAIKU_4_5 = listed(ANTHROPIC, "2025-10-15", 1, 5);

/**
 * List prices as they were known when this was written, with the day from which they held and the page that has today's.
 * Nothing updates them: a price that was set in the store takes precedence. The cost of a model that isn't listed is
 * unknown, never zero.
 */
export const LIST_PRICES: Readonly<Record<string, DatedPrice>> = {
  "claude-opus-4-5": OPUS_4_5,
  "claude-opus-4.5": OPUS_4_5,
  "claude-sonnet-4-5": SONNET_4_5,
  "claude-sonnet-4.5": SONNET_4_5,
  "claude-haiku-4-5": HAIKU_4_5,
  "claude-haiku-4.5": HAIKU_4_5,
  "gpt-4.1": listed(OPENAI, "2025-04-14", 2, 8),
  "gpt-4.1-mini": listed(OPENAI, "2025-04-14", 0.4, 1.6),
  "gpt-4o": listed(OPENAI, "2024-10-01", 2.5, 10),
  "gpt-4o-mini": listed(OPENAI, "2024-07-18", 0.15, 0.6),
  "gpt-5": listed(OPENAI, "2025-08-07", 1.25, 10),
};

/** The list price of the first of these models that has one. */
export const listPrice = (models: readonly string[]): DatedPrice | undefined =>
  models
    .map((model) => (Object.hasOwn(LIST_PRICES, model) ? LIST_PRICES[model] : undefined))
    .find((price) => price !== undefined);

/** Tells what calls of a model cost now. */
export interface PriceSource {
  /** The price of the first of these models that has one. */
  priceOf(models: readonly string[]): Promise<ModelPrice | undefined>;
}
