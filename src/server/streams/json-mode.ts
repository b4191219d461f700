import { HoldfastError } from "../../core/errors.ts";
import { parseJson } from "../../core/values/bounded-json.ts";
import { ParseBudget } from "../../core/values/parse-budget.ts";

const LIMITS = { depth: 64, keys: 200_000 } as const;

/** Messages of a JSON stream as they are kept: one after the other, with commas between them. */
export function messagesIn(bytes: Uint8Array): string[] {
  let value: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = parseJson(text, new ParseBudget("The body", { ...LIMITS, bytes: bytes.length }));
  } catch (error) {
    throw HoldfastError.is(error) ? error : new HoldfastError("HF-6005");
  }
  return (Array.isArray(value) ? value : [value]).map((message) => JSON.stringify(message));
}

/** The first messages of what is kept. */
export function firstMessages(bytes: Uint8Array, count: number): Uint8Array | undefined {
  const all = messagesIn(Buffer.from(`[${Buffer.from(bytes).toString("utf8")}]`));
  return count > all.length ? undefined : Buffer.from(all.slice(0, count).join(","));
}
