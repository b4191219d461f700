import {
  amount,
  fixed,
  isFloat,
  makeFloat,
  makeInteger,
  readFloat,
  readInteger,
  rounded,
} from "../numbers.ts";
import { TemplateProblem } from "../problem.ts";
import { isText, Missing, plainText, truthy } from "../value.ts";
import { type Filter, filter, type Given, numberOf } from "./filter.ts";

function toFloat(value: unknown): number | undefined {
  if (isText(value)) return readFloat(plainText(value));
  return value === null || (typeof value === "object" && !isFloat(value))
    ? undefined
    : amount(numberOf(value));
}

function toInteger(value: unknown, given: Given): unknown {
  const base = given.whole("base");
  if (base !== 0 && (base < 2 || base > 36)) throw new TemplateProblem("base must be 0, or from 2 to 36");
  const read = isText(value) ? readInteger(plainText(value), base) : undefined;
  if (read !== undefined) return read;
  const size = toFloat(value);
  if (size === undefined || Number.isNaN(size)) return given.get("default");
  if (Number.isFinite(size)) return makeInteger(Math.trunc(size));
  if (isText(value)) return given.get("default");
  throw new TemplateProblem("an infinite number has no whole number");
}

function round(value: unknown, given: Given): unknown {
  const [digits, method] = [given.whole("precision"), given.get("method")];
  const number = numberOf(value);
  if (method === "common") return rounded(number, digits);
  if (method !== "ceil" && method !== "floor")
    throw new TemplateProblem('the method of round is "common", "ceil" or "floor"');
  const factor = 10 ** digits;
  return makeFloat(Math[method](amount(number) * factor) / factor);
}

function fileSize(value: unknown, given: Given): string {
  const size = toFloat(value);
  if (size === undefined) throw new TemplateProblem("filesizeformat needs a number");
  const [base, units] = given.is("binary")
    ? [1024, ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"]]
    : [1000, ["kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"]];
  if (size === 1) return "1 Byte";
  if (size < base) return `${Math.trunc(size)} Bytes`;
  const index = units.findIndex((_, at) => size < base ** (at + 2));
  const at = index < 0 ? units.length - 1 : index;
  return `${fixed((base * size) / base ** (at + 2), 1)} ${units[at]}`;
}

const fallback = (isNoneMissing: boolean, name: string): Filter =>
  filter(
    { [name]: "", boolean: false },
    (value, given) => {
      const isAway =
        value instanceof Missing ||
        (isNoneMissing && value === null) ||
        (given.is("boolean") && !truthy(value));
      return isAway ? given.get(name) : value;
    },
    true,
  );

export const NUMBER_FILTERS: Readonly<Record<string, Filter>> = {
  abs: filter({}, (value) => {
    const number = numberOf(value);
    return isFloat(number) ? makeFloat(Math.abs(amount(number))) : Math.abs(amount(number));
  }),
  /** Jinja's own: none counts as a value. */
  d: fallback(false, "default_value"),
  /** Conductor's: none counts as missing. */
  default: fallback(true, "default"),
  filesizeformat: filter({ binary: false }, fileSize),
  float: filter({ default: makeFloat(0) }, (value, given) => {
    const size = toFloat(value);
    return size === undefined ? given.get("default") : makeFloat(size);
  }),
  int: filter({ default: 0, base: 10 }, toInteger),
  round: filter({ precision: 0, method: "common" }, round),
};
