import type { JsonSchema } from "../agent/model.ts";
import { problemsOf } from "../agent/schema-rules.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import { parseJson } from "../core/values/bounded-json.ts";
import { exactNumber } from "../core/values/exact-number.ts";
import { ParseBudget } from "../core/values/parse-budget.ts";
import type { OutputField, OutputFields } from "./schema/fields.ts";
import { plainYaml } from "./yaml-text.ts";

/** Converts declared output fields to a JSON Schema. Undeclared fields are allowed, as in the dialect. */
export function outputSchema(fields: OutputFields): JsonSchema {
  const required = Object.entries(fields).filter(([, field]) => field.required);
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)])),
    ...(required.length > 0 ? { required: required.map(([name]) => name) } : {}),
  };
}

function fieldSchema(field: OutputField): JsonSchema {
  const { type, description, items, properties, nullable } = field;
  const inner = properties ? outputSchema(properties) : {};
  const values = field.enum && (nullable ? [...field.enum, null] : field.enum);
  const rest: Record<string, unknown> = {};
  // As in Python, `$` also matches before a line break at the end.
  if (field.pattern !== undefined) rest["pattern"] = field.pattern.replace(/(?<!\\)\$$/, "\\n?$");
  for (const key of ["minimum", "maximum", "minLength", "maxLength"] as const)
    if (field[key] !== undefined) rest[key] = field[key];
  return {
    ...inner,
    type: nullable ? [type, "null"] : type,
    ...(description ? { description } : {}),
    ...(items ? { items: fieldSchema(items) } : {}),
    ...defined({ enum: values }),
    ...rest,
  };
}

/** Throws HF-4007 unless the value matches the declaration. */
export function checkOutput(step: string, fields: OutputFields | null | undefined, value: unknown): void {
  if (!fields) return;
  const problems = problemsOf(outputSchema(fields), value);
  if (problems.length > 0) throw new HoldfastError("HF-4007", { step, problems: problems.join("; ") });
}

/** Higher than for YAML, because JSON parses quickly. */
const JSON_LIMITS = { bytes: 2_097_152, keys: 100_000 } as const;
const YAML_LIMITS = { bytes: 524_288, keys: 2_000, work: 800_000 } as const;

/**
 * Converts a rendered text in an output: JSON, a number, a boolean or none; anything else stays text. So does a number
 * that can't be represented exactly.
 */
export function typed(rendered: string, place: string): unknown {
  const text = rendered.trim();
  if (Object.hasOwn(WORDS, text)) return WORDS[text];
  if (/^[{["]/.test(text)) return fromJson(text, place) ?? rendered;
  return exactNumber(text) ?? rendered;
}

const WORDS: Readonly<Record<string, unknown>> = {
  True: true,
  False: false,
  None: null,
  true: true,
  false: false,
  null: null,
};

/** Parses a text from a model, a tool or a command as JSON; returns nothing when it isn't. */
export function fromJson(text: string, place: string): unknown {
  try {
    return parseJson(text, new ParseBudget(place, JSON_LIMITS));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Converts an input of a sub-workflow: parsed when it is JSON. */
export function mapped(rendered: string, place: string): unknown {
  const value = fromJson(rendered, place);
  if (value !== undefined) return value;
  const text = rendered.trim();
  return text === "True" || text === "False" || text === "None" ? WORDS[text] : rendered;
}

export type SetType = "auto" | "string" | "number" | "integer" | "boolean" | "list" | "dict";

const YES = ["true", "1", "yes", "y", "on"];
const NO = ["false", "0", "no", "n", "off"];
const NULLS = ["null", "~", "Null", "NULL"];

/** Converts the rendered text of a set step to its type; throws HF-4016 when it doesn't fit. */
export function bound(rendered: string, type: SetType, place: string): unknown {
  const text = rendered.trim();
  const refuse = (expected: string) =>
    new HoldfastError("HF-4016", { place, value: rendered.slice(0, 200), expected });
  switch (type) {
    case "string":
      return rendered;
    case "auto":
      return text === "" ? "" : (data(rendered, place) ?? (NULLS.includes(text) ? null : rendered));
    case "boolean":
      if (YES.includes(text.toLowerCase())) return true;
      if (NO.includes(text.toLowerCase())) return false;
      throw refuse("true or false");
    case "integer":
    case "number": {
      const value = exactNumber(text);
      if (value !== undefined && (type === "number" || /^[+-]?\d+$/.test(text))) return value;
      throw refuse(type === "number" ? "a number" : "a whole number");
    }
    default: {
      const value = data(rendered, place);
      const isList = Array.isArray(value);
      if (type === "list" ? isList : typeof value === "object" && value !== null && !isList) return value;
      throw refuse(type === "list" ? "a list" : "a mapping");
    }
  }
}

/** Parses JSON, then YAML; returns nothing for anything else. */
function data(rendered: string, place: string): unknown {
  const json = /^\s*[[{]/.test(rendered) ? fromJson(rendered, place) : undefined;
  return json ?? plainYaml(rendered, new ParseBudget(place, YAML_LIMITS)) ?? undefined;
}
