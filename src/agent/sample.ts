import type { JsonSchema } from "./model.ts";
import { isObject, problemsOf, resolveRef, type Sub } from "./schema-rules.ts";

/** Deeper than any handwritten answer schema; stops at recursive schemas. */
const MAX_DEPTH = 12;

/** A value that matches the schema, always the same one; `undefined` when none could be constructed. */
export function sampleOf(schema: JsonSchema): { readonly value: unknown } | undefined {
  const value = sample(schema, { root: schema, name: "value", depth: 0 });
  return problemsOf(schema, value).length === 0 ? { value } : undefined;
}

interface Place {
  readonly root: Sub;
  /** The property name, used to build texts. */
  readonly name: string;
  readonly depth: number;
}

function sample(schema: Sub, at: Place): unknown {
  if (typeof schema === "boolean" || at.depth > MAX_DEPTH) return null;
  const deeper = { ...at, depth: at.depth + 1 };
  const { $ref, examples, anyOf, oneOf, allOf } = schema;
  if ("const" in schema) return schema["const"];
  if ("default" in schema) return schema["default"];
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (Array.isArray(schema["enum"])) return schema["enum"][0];
  if (typeof $ref === "string") return sample(resolveRef(at.root, $ref) ?? true, deeper);
  const choices = Array.isArray(anyOf) ? anyOf : oneOf;
  if (Array.isArray(choices)) return sample({ ...without(schema), ...(choices[0] as JsonSchema) }, deeper);
  if (Array.isArray(allOf)) return sample(merged([without(schema), ...(allOf as JsonSchema[])]), deeper);
  return ofType(schema, typeOf(schema), deeper);
}

function without(schema: JsonSchema): JsonSchema {
  const { anyOf: _, oneOf: __, allOf: ___, ...rest } = schema;
  return rest;
}

const merged = (parts: readonly JsonSchema[]): JsonSchema => {
  const properties = Object.assign({}, ...parts.map((part) => part["properties"]));
  const required = parts.flatMap((part) => (Array.isArray(part["required"]) ? part["required"] : []));
  return { ...Object.assign({}, ...parts), properties, required };
};

function typeOf(schema: JsonSchema): unknown {
  const { type } = schema;
  if (Array.isArray(type)) return type[0];
  if (type !== undefined) return type;
  if (isObject(schema["properties"])) return "object";
  return schema["items"] === undefined ? "string" : "array";
}

function ofType(schema: JsonSchema, type: unknown, at: Place): unknown {
  switch (type) {
    case "object":
      return objectOf(schema, at);
    case "array":
      return arrayOf(schema, at);
    case "integer":
    case "number":
      return numberOf(schema, type);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return textOf(schema, at);
  }
}

const numeric = (value: unknown, fallback: number): number => (typeof value === "number" ? value : fallback);

function objectOf(schema: JsonSchema, at: Place): Record<string, unknown> {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [];
  // At depth, optional properties are left out, so that recursive schemas end.
  const names = at.depth > MAX_DEPTH / 2 ? required : [...new Set([...Object.keys(properties), ...required])];
  return Object.fromEntries(
    names.map((name) => [name, sample((properties[name] as Sub | undefined) ?? {}, { ...at, name })]),
  );
}

function arrayOf(schema: JsonSchema, at: Place): unknown[] {
  const prefix = Array.isArray(schema["prefixItems"]) ? (schema["prefixItems"] as Sub[]) : [];
  const length = Math.max(numeric(schema["minItems"], at.depth > MAX_DEPTH / 2 ? 0 : 1), prefix.length);
  const most = Math.min(length, numeric(schema["maxItems"], length));
  const items = (schema["items"] as Sub | undefined) ?? {};
  return Array.from({ length: most }, (_, index) =>
    sample(prefix[index] ?? items, { ...at, name: index === 0 ? at.name : `${at.name} ${index + 1}` }),
  );
}

function numberOf(schema: JsonSchema, type: "integer" | "number"): number {
  const step = numeric(schema["multipleOf"], 1);
  const above =
    numeric(schema["exclusiveMinimum"], Number.NEGATIVE_INFINITY) + (type === "integer" ? 1 : step / 2);
  const least = Math.max(numeric(schema["minimum"], Number.NEGATIVE_INFINITY), above);
  const most = Math.min(
    numeric(schema["maximum"], Number.POSITIVE_INFINITY),
    numeric(schema["exclusiveMaximum"], Number.POSITIVE_INFINITY) - (type === "integer" ? 1 : step / 2),
  );
  const wanted = Math.min(Math.max(1, least), most);
  if (type === "number" && schema["multipleOf"] === undefined) return wanted;
  return (least > Number.NEGATIVE_INFINITY ? Math.ceil(wanted / step) : Math.floor(wanted / step)) * step;
}

/** Texts that match common patterns. */
const COMMON = [
  "a",
  "A",
  "1",
  "value",
  "abc",
  "v1.0.0",
  "1.0.0",
  "a@example.org",
  "2000-01-01",
  "https://example.org",
];

function textOf(schema: JsonSchema, { name }: Place): string {
  const least = numeric(schema["minLength"], 0);
  const most = numeric(schema["maxLength"], Number.POSITIVE_INFINITY);
  const { pattern } = schema;
  if (typeof pattern === "string") {
    const found = COMMON.find((text) => problemsOf({ pattern, minLength: least }, text).length === 0);
    if (found !== undefined) return found;
  }
  const text = name.padEnd(least, ".");
  return text.length > most ? text.slice(0, most) : text;
}
