import { HoldfastError } from "../core/errors.ts";
import { ParseBudget } from "../core/values/parse-budget.ts";
import { linearPattern } from "./linear-pattern.ts";
import type { JsonSchema } from "./model.ts";

/** A schema, or a boolean for "anything" and "nothing". */
export type Sub = JsonSchema | boolean;

interface Check {
  readonly root: Sub;
  readonly budget: ParseBudget;
  readonly problems: string[];
  /** The number of problems after which the check ends. */
  readonly most: number;
}

type Rule = (given: never, value: unknown, at: Place) => void;

interface Place {
  readonly check: Check;
  readonly path: string;
  readonly depth: number;
  /** The schema that contains the keyword. */
  readonly schema: JsonSchema;
}

const MAX_PROBLEMS = 10;
const MAX_DEPTH = 200;
/** A short schema whose parts refer to each other twice can require more steps than any process has time for. */
const LIMITS = { work: 2_000_000 } as const;
/** Patterns are only tried on texts up to this length: every character may meet every state of the pattern. */
const PATTERN_TEXT = 2_000;

export const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: (value) => isObject(value),
  array: (value) => Array.isArray(value),
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number" && Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
};

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the problems and their paths; empty when the value matches. At most ten problems. */
export function problemsOf(schema: JsonSchema, value: unknown): string[] {
  try {
    return checkValue(schema, value, new ParseBudget("the value", LIMITS));
  } catch (error) {
    if (!HoldfastError.is(error, "HF-1040")) throw error;
    return ["it takes too many steps to be checked"];
  }
}

/** Checks a value within a shared budget. Throws HF-1040. */
export function checkValue(schema: JsonSchema, value: unknown, budget: ParseBudget): string[] {
  const check: Check = { root: schema, budget, problems: [], most: MAX_PROBLEMS };
  apply(schema, value, { check, path: "", depth: 0 });
  return check.problems;
}

/** The first problem with a schema that is one of several, or whose problems aren't reported. */
function problemWith(schema: Sub, value: unknown, { check, path, depth }: Place): string | undefined {
  const inner: Check = { ...check, problems: [], most: 1 };
  apply(schema, value, { check: inner, path, depth });
  return inner.problems[0];
}

function apply(schema: Sub, value: unknown, { check, path, depth }: Omit<Place, "schema">): void {
  if (check.problems.length >= check.most || schema === true) return;
  if (schema === false) return say({ check, path }, "must not be there");
  if (depth > MAX_DEPTH) return say({ check, path }, "is nested too deep to be checked");
  const at: Place = { check, path, depth: depth + 1, schema };
  const weight = weightOf(value);
  for (const keyword of Object.keys(schema)) {
    const rule = Object.hasOwn(RULES, keyword) ? RULES[keyword] : undefined;
    const given = schema[keyword];
    check.budget.spend("work", rule ? 1 + weightOf(given) + weight : 1);
    rule?.(given as never, value, at);
  }
}

/** The approximate cost of a rule that visits each part of the value once. */
function weightOf(value: unknown): number {
  if (typeof value === "string") return value.length >> 6;
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : 0;
}

function say({ check, path }: Pick<Place, "check" | "path">, problem: string): void {
  if (check.problems.length < check.most) check.problems.push(`${path === "" ? "it" : path} ${problem}`);
}

const PLAIN_KEY = /^[A-Za-z_$][\w$]*$/;

const below = (path: string, key: string | number): string => {
  if (typeof key === "number") return `${path}[${key}]`;
  if (!PLAIN_KEY.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
};

/** A rule that ignores values of other types. */
const onText =
  (rule: (given: never, value: string) => string | undefined): Rule =>
  (given, value, at) => {
    const problem = typeof value === "string" ? rule(given, value) : undefined;
    if (problem) say(at, problem);
  };
const onNumber =
  (rule: (given: number, value: number) => string | undefined): Rule =>
  (given, value, at) => {
    const problem = typeof value === "number" ? rule(given, value) : undefined;
    if (problem) say(at, problem);
  };
const onList =
  (rule: (given: never, value: readonly unknown[], at: Place) => void): Rule =>
  (given, value, at) => {
    if (Array.isArray(value)) rule(given, value, at);
  };
const onObject =
  (rule: (given: never, value: Record<string, unknown>, at: Place) => void): Rule =>
  (given, value, at) => {
    if (isObject(value)) rule(given, value, at);
  };

const list = (names: readonly unknown[]): string => names.map((name) => JSON.stringify(name)).join(", ");
/** The same text for equal values: keys are sorted. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );

/** JSON equality, regardless of key order. */
const same = (a: unknown, b: unknown, budget: ParseBudget): boolean => {
  budget.spend("work");
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, i) => same(one, b[i], budget));
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key], budget))
  );
};
/** Counts code points, as JSON Schema does. */
const lengthOf = (text: string): number => Array.from(text).length;

/** Remainders are exact, but 0.3 is no multiple of 0.1 for them: fractions are divided, to the 15 digits that a quotient keeps. */
const isMultiple = (value: number, of: number): boolean =>
  Number.isInteger(of) ? value % of === 0 : Number((value / of).toPrecision(15)) % 1 === 0;

const RULES: Readonly<Record<string, Rule>> = {
  type: (given: string | readonly string[], value, at) => {
    const names = typeof given === "string" ? [given] : given;
    if (!names.some((name) => TYPES[name]?.(value)))
      say(at, `must be ${names.join(" or ")}, not ${kindOf(value)}`);
  },
  enum: (given: readonly unknown[], value, at) => {
    if (!given.some((one) => same(one, value, at.check.budget))) say(at, `must be one of ${list(given)}`);
  },
  const: (given: unknown, value, at) => {
    if (!same(given, value, at.check.budget)) say(at, `must be ${JSON.stringify(given)}`);
  },
  required: onObject((given: readonly string[], value, at) => {
    for (const key of given)
      if (!Object.hasOwn(value, key)) say({ ...at, path: below(at.path, key) }, "is missing");
  }),
  properties: onObject((given: Record<string, Sub>, value, at) => {
    for (const [key, schema] of Object.entries(given))
      if (Object.hasOwn(value, key)) apply(schema, value[key], { ...at, path: below(at.path, key) });
  }),
  additionalProperties: onObject((given: Sub, value, at) => {
    const known = isObject(at.schema["properties"]) ? at.schema["properties"] : {};
    for (const key of Object.keys(value))
      if (!Object.hasOwn(known, key)) apply(given, value[key], { ...at, path: below(at.path, key) });
  }),
  propertyNames: onObject((given: Sub, value, at) => {
    for (const key of Object.keys(value)) apply(given, key, { ...at, path: below(at.path, key) });
  }),
  minProperties: onObject((given: number, value, at) => {
    if (Object.keys(value).length < given) say(at, `must have ${given} or more properties`);
  }),
  maxProperties: onObject((given: number, value, at) => {
    if (Object.keys(value).length > given) say(at, `must have at most ${given} properties`);
  }),
  prefixItems: onList((given: readonly Sub[], value, at) => {
    for (const [index, schema] of given.slice(0, value.length).entries())
      apply(schema, value[index], { ...at, path: below(at.path, index) });
  }),
  items: onList((given: Sub, value, at) => {
    const prefix = at.schema["prefixItems"];
    const from = Array.isArray(prefix) ? prefix.length : 0;
    for (const [index, item] of value.entries())
      if (index >= from) apply(given, item, { ...at, path: below(at.path, index) });
  }),
  minItems: onList((given: number, value, at) => {
    if (value.length < given) say(at, `must have ${given} or more items`);
  }),
  maxItems: onList((given: number, value, at) => {
    if (value.length > given) say(at, `must have at most ${given} items`);
  }),
  uniqueItems: onList((given: boolean, value, at) => {
    if (!given) return;
    const texts = value.map(canonical);
    at.check.budget.spend("work", texts.join("").length >> 6);
    if (new Set(texts).size < texts.length) say(at, "must not have the same item twice");
  }),
  minLength: onText((given: number, value) =>
    lengthOf(value) < given ? `must have ${given} or more characters` : undefined,
  ),
  maxLength: onText((given: number, value) =>
    lengthOf(value) > given ? `must have at most ${given} characters` : undefined,
  ),
  pattern: (given: string, value, at) => {
    if (typeof value !== "string") return;
    if (value.length > PATTERN_TEXT)
      return say(at, `must have at most ${PATTERN_TEXT} characters to be checked`);
    const spend = (work: number): void => at.check.budget.spend("work", work);
    if (!linearPattern(given)?.test(value, spend)) say(at, `must match ${given}`);
  },
  minimum: onNumber((given, value) => (value < given ? `must be ${given} or more` : undefined)),
  maximum: onNumber((given, value) => (value > given ? `must be at most ${given}` : undefined)),
  exclusiveMinimum: onNumber((given, value) => (value <= given ? `must be more than ${given}` : undefined)),
  exclusiveMaximum: onNumber((given, value) => (value >= given ? `must be less than ${given}` : undefined)),
  multipleOf: onNumber((given, value) =>
    isMultiple(value, given) ? undefined : `must be a multiple of ${given}`,
  ),
  anyOf: (given: readonly Sub[], value, at) => {
    const failed: string[] = [];
    for (const schema of given) {
      const problem = problemWith(schema, value, at);
      if (problem === undefined) return;
      failed.push(problem);
    }
    say(at, `must fit one of: ${alternatives(failed)}`);
  },
  oneOf: (given: readonly Sub[], value, at) => {
    const failed = given.flatMap((schema) => problemWith(schema, value, at) ?? []);
    const count = given.length - failed.length;
    if (count === 0) say(at, `must fit one of: ${alternatives(failed)}`);
    else if (count > 1) say(at, `must fit exactly one of ${given.length} schemas, and fits ${count}`);
  },
  allOf: (given: readonly Sub[], value, at) => {
    for (const schema of given) apply(schema, value, at);
  },
  not: (given: Sub, value, at) => {
    if (problemWith(given, value, at) === undefined) say(at, "must not fit the schema under not");
  },
  $ref: (given: string, value, at) => {
    const schema = resolveRef(at.check.root, given);
    if (schema !== undefined) apply(schema, value, at);
  },
};

const kindOf = (value: unknown): string => {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
};

const alternatives = (problems: readonly string[]): string =>
  [...new Set(problems)].slice(0, 4).join("; or ");

/** A reference within the same schema. */
export function resolveRef(root: Sub, ref: string): Sub | undefined {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  let found: unknown = root;
  for (const part of ref.split("/").slice(1)) {
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if ((!isObject(found) && !Array.isArray(found)) || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return isObject(found) || typeof found === "boolean" ? found : undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
