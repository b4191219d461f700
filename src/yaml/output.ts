import { parse } from "yaml";
import type { JsonSchema } from "../agent/model.ts";
import { problemsOf } from "../agent/schema-rules.ts";
import { HoldfastError } from "../core/errors.ts";
import type { OutputField, OutputFields } from "./schema/fields.ts";

/** Declared output fields as a JSON Schema. More fields than declared are let pass, as the dialect has it. */
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
  for (const key of ["pattern", "minimum", "maximum", "minLength", "maxLength"] as const)
    if (field[key] !== undefined) rest[key] = field[key];
  return {
    ...inner,
    type: nullable ? [type, "null"] : type,
    ...(description ? { description } : {}),
    ...(items ? { items: fieldSchema(items) } : {}),
    ...(values ? { enum: values } : {}),
    ...rest,
  };
}

/** HF-4007 unless the value is what was declared. */
export function checkOutput(step: string, fields: OutputFields | null | undefined, value: unknown): void {
  if (!fields) return;
  const problems = problemsOf(outputSchema(fields), value);
  if (problems.length > 0) throw new HoldfastError("HF-4007", { step, problems: problems.join("; ") });
}

/** What a rendered text stands for in an output: JSON, a number, a yes or no, none; or itself. */
export function typed(rendered: string): unknown {
  const text = rendered.trim();
  if (Object.hasOwn(WORDS, text)) return WORDS[text];
  if (/^[{["]/.test(text)) return fromJson(text) ?? rendered;
  return NUMBER.test(text) ? Number(text) : rendered;
}

const WORDS: Readonly<Record<string, unknown>> = {
  True: true,
  False: false,
  None: null,
  true: true,
  false: false,
  null: null,
};
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** An input of a sub-workflow: JSON where it is JSON. */
export function mapped(rendered: string): unknown {
  const value = fromJson(rendered);
  if (value !== undefined) return value;
  const text = rendered.trim();
  return text === "True" || text === "False" || text === "None" ? WORDS[text] : rendered;
}

export type SetType = "auto" | "string" | "number" | "integer" | "boolean" | "list" | "dict";

const YES = ["true", "1", "yes", "y", "on"];
const NO = ["false", "0", "no", "n", "off"];

/** What the rendered text of a set step is bound as (HF-4016 when it is not of the type asked for). */
export function bound(rendered: string, type: SetType, place: string): unknown {
  const text = rendered.trim();
  const refuse = (expected: string) =>
    new HoldfastError("HF-4016", { place, value: rendered.slice(0, 200), expected });
  switch (type) {
    case "string":
      return rendered;
    case "auto":
      return text === ""
        ? ""
        : (plainYaml(rendered) ?? (["null", "~", "Null", "NULL"].includes(text) ? null : rendered));
    case "boolean":
      if (YES.includes(text.toLowerCase())) return true;
      if (NO.includes(text.toLowerCase())) return false;
      throw refuse("true or false");
    case "integer":
      if (/^[+-]?\d+$/.test(text)) return Number(text);
      throw refuse("a whole number");
    case "number":
      if (NUMBER.test(text)) return Number(text);
      throw refuse("a number");
    default: {
      const value = plainYaml(rendered);
      const isList = Array.isArray(value);
      if (type === "list" ? isList : typeof value === "object" && value !== null && !isList) return value;
      throw refuse(type === "list" ? "a list" : "a mapping");
    }
  }
}

/** As plain data; nothing for what does not parse, or is more than that. */
function plainYaml(text: string): unknown {
  try {
    const value: unknown = parse(text, {
      version: "1.2",
      schema: "core",
      maxAliasCount: 0,
      logLevel: "error",
      customTags: [],
    });
    return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
  } catch {
    return undefined;
  }
}
