import { TemplateProblem } from "./problem.ts";

/**
 * A float with a whole or special value: `2.0`, `inf`. A number with a fraction is stored as it is, and a plain whole
 * number is an integer, as in JSON data.
 */
export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export const makeFloat = (value: number): number | Float =>
  Number.isSafeInteger(value) || !Number.isFinite(value) ? new Float(value) : value;

/** Returns an integer if it can be represented exactly. */
export function makeInteger(value: number): number {
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  throw new TemplateProblem(
    `a whole number comes to more than ${Number.MAX_SAFE_INTEGER}, which is not supported`,
  );
}

export const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);
export const isFloat = (value: unknown): value is number | Float =>
  value instanceof Float || (typeof value === "number" && !Number.isSafeInteger(value));
export const isNumber = (value: unknown): value is number | Float | boolean =>
  typeof value === "number" || value instanceof Float || typeof value === "boolean";

/** The numeric value; True and False count as 1 and 0. */
export const amount = (value: number | Float | boolean): number =>
  value instanceof Float ? value.value : Number(value);

/** Formats a float like Python: the shortest exact digits, positional from 1e-4 to 1e16. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const [mantissa = "0", power = "0"] = Math.abs(value).toExponential().split("e");
  const exponent = Number(power);
  const digits = mantissa.replace(".", "");
  if (exponent < -4 || exponent >= 16) {
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${mantissa}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

/** A float as an exact fraction. */
function exact(value: number): { readonly numerator: bigint; readonly denominator: bigint } {
  let denominator = 1n;
  let scaled = value;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    denominator *= 2n;
  }
  return { numerator: BigInt(scaled), denominator };
}

/** `value` × 10^`digits`, rounded to a whole number; ties go to the even one. */
export function scaledHalfEven(value: number, digits: number): bigint {
  const { numerator, denominator } = exact(Math.abs(value));
  const over = digits < 0 ? denominator * 10n ** BigInt(-digits) : denominator;
  const under = digits > 0 ? numerator * 10n ** BigInt(digits) : numerator;
  const quotient = under / over;
  const twice = (under % over) * 2n;
  const isUp = twice > over || (twice === over && quotient % 2n === 1n);
  return isUp ? quotient + 1n : quotient;
}

const MOST_DIGITS = 100;

/** Formats with exactly `digits` decimals, like Python's `%.2f`. */
export function fixed(value: number, digits: number): string {
  if (!Number.isFinite(value)) return floatText(value);
  if (digits > MOST_DIGITS) throw new TemplateProblem(`more than ${MOST_DIGITS} digits are not supported`);
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const all = scaledHalfEven(value, digits)
    .toString()
    .padStart(digits + 1, "0");
  return sign + (digits === 0 ? all : `${all.slice(0, -digits)}.${all.slice(-digits)}`);
}

/** Rounds like Python's `round()`: integers stay integers, floats stay floats, ties go to the even side. */
export function rounded(value: number | Float | boolean, digits: number): unknown {
  if (Math.abs(digits) > MOST_DIGITS)
    throw new TemplateProblem(`more than ${MOST_DIGITS} digits are not supported`);
  const size = amount(value);
  if (!isFloat(value)) {
    if (digits >= 0) return Number(value);
    return makeInteger(Number(scaledHalfEven(size, digits) * 10n ** BigInt(-digits)) * Math.sign(size));
  }
  if (!Number.isFinite(size)) return value;
  const scaled = scaledHalfEven(size, digits);
  const result =
    digits >= 0 ? Number(fixed(Math.abs(size), digits)) : Number(scaled * 10n ** BigInt(-digits));
  return makeFloat(size < 0 || Object.is(size, -0) ? -result : result);
}

const PYTHON_NUMBER =
  /^[+-]?(?:(?:\d+(?:_\d+)*)?\.?(?:\d+(?:_\d+)*)?(?:e[+-]?\d+(?:_\d+)*)?|inf(?:inity)?|nan)$/i;

/** The value of `float("…")`, or undefined. */
export function readFloat(text: string): number | undefined {
  const plain = text.trim();
  if (!PYTHON_NUMBER.test(plain) || !/[\dn]/i.test(plain)) return undefined;
  if (/inf/i.test(plain)) return plain.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/nan/i.test(plain)) return Number.NaN;
  const value = Number(plain.replaceAll("_", ""));
  return Number.isNaN(value) ? undefined : value;
}

const PREFIXES: Readonly<Record<string, number>> = { "0b": 2, "0o": 8, "0x": 16 };

/** The value of `int("…", base)`, or undefined. */
export function readInteger(text: string, base: number): number | undefined {
  const [, sign = "", rest = ""] = /^\s*([+-]?)(.*?)\s*$/s.exec(text.toLowerCase()) ?? [];
  const marked = PREFIXES[rest.slice(0, 2)];
  const usesPrefix = marked !== undefined && (base === marked || base === 0);
  const digits = (usesPrefix ? rest.slice(2).replace(/^_/, "") : rest).replace(
    /(?<=[0-9a-z])_(?=[0-9a-z])/g,
    "",
  );
  const radix = usesPrefix ? marked : base === 0 ? 10 : base;
  if (!/^[0-9a-z]+$/.test(digits) || (base === 0 && !usesPrefix && /^0+[1-9]/.test(digits))) return undefined;
  let total = 0;
  for (const digit of digits) {
    const value = Number.parseInt(digit, 36);
    if (value >= radix) return undefined;
    total = total * radix + value;
  }
  return makeInteger(sign === "-" ? -total : total);
}
