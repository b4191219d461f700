import { checkText } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";
import { ParseBudget } from "../core/values/parse-budget.ts";
import { linearPattern } from "./linear-pattern.ts";
import type { JsonSchema } from "./model.ts";
import { problemsOf as findProblems, isObject, resolveRef, TYPES } from "./schema-rules.ts";

/** Keywords that inform readers and don't affect validation. */
const ANNOTATIONS = new Set([
  "$schema",
  "$id",
  "$comment",
  "$defs",
  "definitions",
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "format",
]);

const PATTERN_LENGTH = 500;
const NO_PATTERN =
  "pattern is not a regular expression, is too large, looks behind or refers back: that can't be checked in bounded time";

type Shape = (given: unknown, path: string, take: (schema: unknown, path: string) => void) => boolean;

const isSize: Shape = (given) => Number.isInteger(given) && (given as number) >= 0;
const isNumber: Shape = (given) => typeof given === "number" && Number.isFinite(given);
const isTexts: Shape = (given) => Array.isArray(given) && given.every((one) => typeof one === "string");
const isSchema: Shape = (given, path, take) => {
  take(given, path);
  return true;
};
const isSchemas: Shape = (given, path, take) => {
  if (!Array.isArray(given) || given.length === 0) return false;
  for (const [index, one] of given.entries()) take(one, `${path}/${index}`);
  return true;
};
const isSchemaMap: Shape = (given, path, take) => {
  if (!isObject(given)) return false;
  for (const [key, one] of Object.entries(given)) take(one, `${path}/${key}`);
  return true;
};

const SHAPES: Readonly<Record<string, Shape>> = {
  type: (given) => {
    const names = Array.isArray(given) ? given : [given];
    return names.length > 0 && names.every((name) => typeof name === "string" && Object.hasOwn(TYPES, name));
  },
  enum: (given) => Array.isArray(given) && given.length > 0,
  const: () => true,
  required: isTexts,
  properties: isSchemaMap,
  $defs: isSchemaMap,
  definitions: isSchemaMap,
  additionalProperties: isSchema,
  propertyNames: isSchema,
  items: isSchema,
  not: isSchema,
  prefixItems: isSchemas,
  anyOf: isSchemas,
  oneOf: isSchemas,
  allOf: isSchemas,
  minProperties: isSize,
  maxProperties: isSize,
  minItems: isSize,
  maxItems: isSize,
  minLength: isSize,
  maxLength: isSize,
  uniqueItems: (given) => typeof given === "boolean",
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  multipleOf: (given) => typeof given === "number" && given > 0,
  pattern: (given) =>
    typeof given === "string" && given.length <= PATTERN_LENGTH && linearPattern(given) !== undefined,
  $ref: (given) => typeof given === "string",
};

/**
 * Accepts the part of JSON Schema that models and tools use. Refuses values that aren't a schema (HF-4101), keywords
 * that wouldn't be checked (HF-4100), because a silently ignored keyword looks checked, and schemas that are too large
 * (HF-1040). `of` names the schema's owner in the message.
 *
 * @example
 * ```ts
 * import { checkSchema, problemsOf } from "holdfast/agent";
 *
 * const schema = checkSchema({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] }, "the answer");
 * console.log(problemsOf(schema, { n: "one" })); // ["n must be integer, not string"]
 * ```
 */
export function checkSchema(schema: unknown, of: string): JsonSchema {
  checkText("of", of);
  const invalid = (path: string, problem: string) => new HoldfastError("HF-4101", { of, path, problem });
  if (!isObject(schema)) throw invalid("#", "it is not an object");
  const budget = new ParseBudget(`the JSON schema of ${of}`);
  const taken = new Set<unknown>();
  const refs: { readonly path: string; readonly ref: string }[] = [];
  const take = (one: unknown, path: string): void => {
    budget.spend("keys");
    taken.add(one);
    if (typeof one === "boolean") return;
    if (!isObject(one)) throw invalid(path, "it is not a schema");
    for (const [keyword, given] of Object.entries(one)) {
      const shape = Object.hasOwn(SHAPES, keyword) ? SHAPES[keyword] : undefined;
      if (!shape && ANNOTATIONS.has(keyword)) continue;
      if (!shape) throw new HoldfastError("HF-4100", { of, path, keyword });
      if (!budget.deeper(() => shape(given, `${path}/${keyword}`, take)))
        throw invalid(path, keyword === "pattern" ? NO_PATTERN : `${keyword} has no valid value`);
      if (keyword === "$ref") refs.push({ path, ref: String(given) });
    }
  };
  take(schema, "#");
  for (const { path, ref } of refs)
    if (!taken.has(resolveRef(schema, ref))) throw invalid(path, `$ref ${ref} leads to no schema`);
  return schema;
}

/** Returns the problems and their paths; empty when the value matches. At most ten problems. */
export function problemsOf(schema: JsonSchema, value: unknown): string[] {
  return findProblems(checkSchema(schema, "the value"), value);
}
