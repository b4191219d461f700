import type { SqlValue } from "../../core/sql.ts";

/** A whole number of any size. */
const whole = (text: string): number | bigint => {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
};

/** Parsers for the caller's own statements, by PostgreSQL's type number. Other types stay texts. */
export const PARSERS: Readonly<Record<number, (text: string) => SqlValue | boolean>> = {
  16: (text) => text === "t",
  17: (text) => new Uint8Array(Buffer.from(text.slice(2), "hex")),
  20: whole,
  21: Number,
  23: Number,
  26: Number,
  700: Number,
  701: Number,
};
