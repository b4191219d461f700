/** Every check of an option, so that the same mistake is refused with the same words: HF-1003 names the option and what it takes. */
import { HoldfastError } from "./errors.ts";
import { didYouMean } from "./nearest.ts";

export const badOption = (option: string, problem: string): HoldfastError =>
  new HoldfastError("HF-1003", { option, problem });

interface Bounds {
  readonly above?: number;
  readonly least?: number;
  /** Infinity lets an option be without end. Unless it is given, only finite numbers are taken. */
  readonly most?: number;
}

/** A number above 0, or within other bounds. */
export function checkNumber(option: string, value: unknown, bounds: Bounds = { above: 0 }): number {
  const { above = Number.NEGATIVE_INFINITY, least = above, most = Number.MAX_VALUE } = bounds;
  if (typeof value === "number" && value >= least && value > above && value <= most) return value;
  throw badOption(option, `it must be a number ${inWords(bounds)}`);
}

/** A whole number of 1 or more, or within other bounds. */
export function checkWhole(option: string, value: unknown, least = 1, most = Infinity): number {
  if (Number.isSafeInteger(value)) {
    const whole = value as number;
    if (whole >= least && whole <= most) return whole;
  }
  throw badOption(option, `it must be a whole number ${inWords({ least, most })}`);
}

function inWords({ above, least, most = Infinity }: Bounds): string {
  const isOpen = most === Infinity;
  if (above !== undefined) return `above ${above}${isOpen ? "" : ` and up to ${most}`}`;
  return isOpen ? `of ${least} or more` : `from ${least} to ${most}`;
}

/** A text of so many characters. */
export function checkText(option: string, value: unknown, least = 0, most = Infinity): string {
  if (typeof value === "string" && value.length >= least && value.length <= most) return value;
  const empty = least === 0 ? "it must be a text" : "it must be a text that is not empty";
  if (most === Infinity) throw badOption(option, empty);
  const size = least === 0 ? `at most ${most}` : `${least} to ${most}`;
  throw badOption(option, `it must be a text of ${size} characters`);
}

export function checkOneOf<T extends string>(option: string, value: unknown, known: readonly T[]): T {
  const found = known.find((one) => one === value);
  if (found !== undefined) return found;
  throw badOption(option, `it must be ${known.slice(0, -1).join(", ")} or ${known.at(-1)}`);
}

export function checkFunction<T>(option: string, value: T): asserts value is NonNullable<T> {
  if (typeof value !== "function") throw badOption(option, "it must be a function");
}

/** A function of the object that `option` names. */
export function checkMethod<T extends object>(
  option: string,
  holder: T | undefined,
  name: keyof T & string,
): void {
  checkFunction(`${option}.${name}`, (Object(holder) as Partial<T>)[name]);
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `what` says what the object is made of. */
export function checkObject(option: string, value: unknown, what = "an object"): asserts value is object {
  if (!isRecord(value)) throw badOption(option, `${option === "options" ? "they" : "it"} must be ${what}`);
}

type Part = "list" | "object" | "text" | "number";

/** An object of ours that somebody hands back, such as a report: it must have these parts. */
export function checkParts(option: string, value: unknown, parts: Readonly<Record<string, Part>>): void {
  checkObject(option, value);
  for (const [name, part] of Object.entries(parts)) {
    const given: unknown = (value as Readonly<Record<string, unknown>>)[name];
    const isPart = { list: Array.isArray(given), object: isRecord(given), text: typeof given === "string" };
    if (part === "number" ? typeof given !== "number" : !isPart[part])
      throw badOption(`${option}.${name}`, `it must be a ${part}, as the library returned it`);
  }
}

/** The keys of a type: the compiler finds one that is missing, and one that isn't there. */
export const keysOf = <T>(keys: Readonly<Record<KeyOf<T>, true>>): readonly string[] => Object.keys(keys);
type KeyOf<T> = T extends unknown ? keyof T & string : never;

export function checkFlag(option: string, value: unknown): void {
  if (value !== undefined && typeof value !== "boolean") throw badOption(option, "it must be true or false");
}

/** Refuses a key that is not known, so that a mistyped one is never passed over. `within`: the option that holds the keys. */
export function checkKeys(given: unknown, known: readonly string[], within?: string, noun = "option"): void {
  checkObject(within ?? "options", given);
  const wrong = Object.keys(given).find((key) => !known.includes(key));
  if (wrong === undefined) return;
  const shown = wrong.slice(0, 80);
  const meant = didYouMean(wrong, known, " (did you mean ", "?)");
  const problem = `there is no such ${noun}${meant || `; there are ${[...known].sort().join(", ")}`}`;
  throw badOption(within === undefined ? shown : `${within}.${shown}`, problem);
}
