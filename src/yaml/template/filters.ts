import {
  isPlain,
  json,
  Missing,
  nameOfKind,
  order,
  replaced,
  same,
  sequence,
  TemplateProblem,
  text,
  truthy,
} from "./value.ts";

/** What stands after `|`: the value, what was given in brackets, by place and by name. */
type Filter = (value: unknown, args: readonly unknown[], named: Readonly<Record<string, unknown>>) => unknown;

function number(value: unknown): number {
  if (typeof value === "number") return value;
  throw new TemplateProblem(`a number is needed, not ${nameOfKind(value)}`);
}

function attribute(value: unknown, path: unknown): unknown {
  let found = value;
  for (const key of text(path).split(".")) {
    const index = Array.isArray(found) && /^-?\d+$/.test(key) ? Number(key) : undefined;
    if (index !== undefined) found = (found as unknown[]).at(index);
    else found = isPlain(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found ?? null;
}

function toNumber(value: unknown, fallback: unknown, whole: boolean): unknown {
  const read = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  const amount = typeof read === "boolean" ? Number(read) : read;
  if (typeof amount !== "number" || !Number.isFinite(amount)) return fallback ?? 0;
  return whole ? Math.trunc(amount) : amount;
}

function sorted(values: readonly unknown[], by: unknown, reverse: unknown): unknown[] {
  const key = (value: unknown): unknown => (by === undefined ? value : attribute(value, by));
  const fold = (value: unknown): unknown => (typeof value === "string" ? value.toLowerCase() : value);
  const list = [...values].sort((a, b) => order(fold(key(a)), fold(key(b))));
  return truthy(reverse) ? list.reverse() : list;
}

function unique(values: readonly unknown[]): unknown[] {
  const found: unknown[] = [];
  for (const value of values) if (!found.some((one) => same(one, value))) found.push(value);
  return found;
}

/** `selectattr("done")`, `selectattr("state", "equalto", "open")`. */
function choose(wanted: boolean, byAttribute: boolean): Filter {
  return (value, args) => {
    const [path, rest] = byAttribute ? [args[0], args.slice(1)] : [undefined, args];
    return sequence(value).filter((one) => {
      const given = path === undefined ? one : attribute(one, path);
      return passes(given, rest) === wanted;
    });
  };
}

function passes(value: unknown, [test, operand]: readonly unknown[]): boolean {
  if (test === undefined) return truthy(value);
  switch (text(test)) {
    case "equalto":
    case "eq":
    case "==":
      return same(value, operand);
    case "ne":
    case "!=":
      return !same(value, operand);
    case "gt":
      return order(value, operand) > 0;
    case "ge":
      return order(value, operand) >= 0;
    case "lt":
      return order(value, operand) < 0;
    case "le":
      return order(value, operand) <= 0;
    case "in":
      return sequence(operand).some((one) => same(one, value));
    default: {
      const check = TESTS[text(test)];
      if (!check) throw new TemplateProblem(`there is no test ${text(test)}`);
      return check(value);
    }
  }
}

const title = (value: string): string =>
  value.replace(/[\p{L}\p{N}']+/gu, (word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase());

function length(value: unknown): number {
  if (typeof value === "number" || typeof value === "boolean" || value === null)
    throw new TemplateProblem(`${nameOfKind(value)} has no length`);
  return sequence(value).length;
}

function indent(value: unknown, width: unknown, first: unknown): string {
  const pad = " ".repeat(Math.min(Math.max(0, number(width ?? 4)), 100));
  const lines = text(value).split("\n");
  return lines
    .map((line, index) => (line === "" || (index === 0 && !truthy(first)) ? line : pad + line))
    .join("\n");
}

function round(value: unknown, digits: unknown, method: unknown): number {
  const factor = 10 ** number(digits ?? 0);
  const by = method === "ceil" ? Math.ceil : method === "floor" ? Math.floor : Math.round;
  return by(number(value) * factor) / factor;
}

const extreme =
  (sign: number): Filter =>
  (value) => {
    const values = sequence(value);
    if (values.length === 0) throw new TemplateProblem("an empty list has neither a least nor a greatest");
    return values.reduce((best, one) => (sign * order(one, best) > 0 ? one : best));
  };

const HTML: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

/** `default` is applied by the evaluator's rule for missing names, and by this for none and what is empty. */
export const FILTERS: Readonly<Record<string, Filter>> = {
  default: (value, [fallback = "", falsy], named) => {
    const isEmpty = truthy(falsy ?? named["boolean"]) && !truthy(value);
    return value instanceof Missing || value === null || isEmpty
      ? (named["default_value"] ?? fallback)
      : value;
  },
  json: (value, [width = 2], named) => json(value, number(named["indent"] ?? width)),
  tojson: (value, [width], named) => json(value, number(named["indent"] ?? width ?? 0)),
  length,
  upper: (value) => text(value).toUpperCase(),
  lower: (value) => text(value).toLowerCase(),
  title: (value) => title(text(value)),
  capitalize: (value) => text(value).charAt(0).toUpperCase() + text(value).slice(1).toLowerCase(),
  trim: (value) => text(value).trim(),
  string: (value) => text(value),
  int: (value, [fallback]) => toNumber(value, fallback, true),
  float: (value, [fallback]) => toNumber(value, fallback, false),
  abs: (value) => Math.abs(number(value)),
  round: (value, [digits, method], named) =>
    round(value, named["precision"] ?? digits, named["method"] ?? method),
  join: (value, [by = "", path], named) => {
    const key = named["attribute"] ?? path;
    const parts = sequence(value).map((one) => text(key === undefined ? one : attribute(one, key)));
    return parts.join(text(named["d"] ?? by));
  },
  first: (value) => sequence(value)[0] ?? null,
  last: (value) => sequence(value).at(-1) ?? null,
  list: (value) => [...sequence(value)],
  reverse: (value) =>
    typeof value === "string" ? Array.from(value).reverse().join("") : [...sequence(value)].reverse(),
  sort: (value, [reverse], named) => sorted(sequence(value), named["attribute"], named["reverse"] ?? reverse),
  unique: (value) => unique(sequence(value)),
  sum: (value, [path], named) => {
    const key = named["attribute"] ?? path;
    return sequence(value).reduce<number>(
      (total, one) => total + number(key === undefined ? one : attribute(one, key)),
      0,
    );
  },
  min: extreme(-1),
  max: extreme(1),
  map: (value, [filter, ...rest], named) => {
    const key = named["attribute"];
    if (key !== undefined) return sequence(value).map((one) => attribute(one, key));
    const apply = Object.hasOwn(FILTERS, text(filter)) ? FILTERS[text(filter)] : undefined;
    if (!apply) throw new TemplateProblem(`there is no filter ${text(filter)}`);
    return sequence(value).map((one) => apply(one, rest, {}));
  },
  select: choose(true, false),
  reject: choose(false, false),
  selectattr: choose(true, true),
  rejectattr: choose(false, true),
  items: (value) => (isPlain(value) ? Object.entries(value) : []),
  dictsort: (value) => Object.entries(isPlain(value) ? value : {}).sort(([a], [b]) => order(a, b)),
  replace: (value, [from, to = ""]) => replaced(text(value), text(from), text(to)),
  indent: (value, [width, first], named) => indent(value, named["width"] ?? width, named["first"] ?? first),
  truncate: (value, [most = 255, , end = "..."]) => {
    const whole = text(value);
    const cut = Math.max(0, number(most) - text(end).length);
    return whole.length <= number(most) ? whole : whole.slice(0, cut) + text(end);
  },
  wordcount: (value) => text(value).split(/\s+/).filter(Boolean).length,
  escape: (value) => text(value).replace(/[&<>"']/g, (one) => HTML[one] ?? one),
  safe: (value) => value,
};

export const ALIASES: Readonly<Record<string, string>> = { d: "default", count: "length", e: "escape" };

/** What may stand after `is`; `defined` and `undefined` are the evaluator's. */
export const TESTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  none: (value) => value === null,
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  float: (value) => typeof value === "number" && !Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  mapping: isPlain,
  sequence: (value) => Array.isArray(value) || typeof value === "string",
  iterable: (value) => Array.isArray(value) || typeof value === "string" || isPlain(value),
  true: (value) => value === true,
  false: (value) => value === false,
  odd: (value) => number(value) % 2 !== 0,
  even: (value) => number(value) % 2 === 0,
  lower: (value) => text(value) === text(value).toLowerCase(),
  upper: (value) => text(value) === text(value).toUpperCase(),
};
