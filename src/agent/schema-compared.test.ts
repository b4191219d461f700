import { type Schema, Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { JsonSchema } from "./model.ts";
import { checkSchema } from "./schema.ts";
import { problemsOf } from "./schema-rules.ts";

const key = fc.constantFrom("a", "b", "a b", "constructor");
const text = fc.constantFrom("", "a", "ab", "日本", "🇯🇵", "😀", "e\u0301", "a-1");
const number = fc.oneof(fc.integer({ min: -2, max: 6 }), fc.constantFrom(0.1, 0.3, 0.25, 1.5, 1e9, 1e21));

const values = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false),
    text,
    number,
    tie("list"),
    tie("object"),
  ),
  list: fc.array(tie("any"), { maxLength: 4 }),
  object: fc.dictionary(key, tie("any"), { maxKeys: 4 }),
}));

/** What values each kind of rule says something about. */
const RULES = {
  type: values["any"],
  equal: values["any"],
  text,
  number,
  list: values["list"],
  object: values["object"],
  joined: values["any"],
  ref: values["any"],
};

const size = fc.nat(3);
const some: { requiredKeys: [] } = { requiredKeys: [] };
const type = fc.constantFrom("object", "array", "string", "number", "integer", "boolean", "null");
const DEFS = {
  one: { type: ["string", "object"], properties: { a: { $ref: "#/$defs/one" } } },
  "a/b": { type: "array", items: { $ref: "#/$defs/one" } },
};

const schemas = fc.letrec<Record<string, JsonSchema | boolean>>((tie) => {
  const several = fc.array(tie("any"), { minLength: 1, maxLength: 3 });
  return {
    any: fc.oneof({ maxDepth: 3 }, fc.boolean(), ...Object.keys(RULES).map((name) => tie(name))),
    type: fc.record({ type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })) }),
    equal: fc.record(
      { enum: fc.array(values["any"], { minLength: 1, maxLength: 3 }), const: values["any"] },
      some,
    ),
    text: fc.record(
      { minLength: size, maxLength: size, pattern: fc.constantFrom("^a", "\\d$", "^\\p{L}+$", "^.$") },
      some,
    ),
    number: fc.record(
      {
        minimum: number,
        maximum: number,
        exclusiveMinimum: number,
        exclusiveMaximum: number,
        multipleOf: fc.constantFrom(0.1, 0.05, 1, 3, 1e10),
      },
      some,
    ),
    list: fc.record(
      {
        prefixItems: several,
        items: tie("any"),
        minItems: size,
        maxItems: size,
        uniqueItems: fc.boolean(),
      },
      some,
    ),
    object: fc.record(
      {
        properties: fc.dictionary(key, tie("any"), { maxKeys: 3 }),
        required: fc.uniqueArray(key, { maxLength: 2 }),
        additionalProperties: tie("any"),
        propertyNames: tie("text"),
        minProperties: size,
        maxProperties: size,
      },
      some,
    ),
    joined: fc.record({ anyOf: several, oneOf: several, allOf: several, not: tie("any") }, some),
    ref: fc.record({ $ref: fc.constantFrom("#/$defs/one", "#/$defs/a~1b") }),
  };
});

const cases = fc.oneof(
  ...Object.entries(RULES).map(([name, value]) => fc.tuple(schemas[name] ?? fc.constant(true), value)),
  // Rules about the same value that comes twice.
  values["list"].map((list) => [{ uniqueItems: true }, [list, structuredClone(list)]] as const),
  values["any"].map((value) => [{ const: value }, structuredClone(value)] as const),
);

it("is decided as another implementation of JSON Schema decides it", () => {
  fc.assert(
    fc.property(cases, ([rules, value]) => {
      const schema = { allOf: [rules], $defs: DEFS };
      const problems = problemsOf(checkSchema(schema, "it"), value);
      const other = new Validator(structuredClone(schema) as Schema, "2020-12", false).validate(value);
      expect(problems.length === 0, problems.join("; ")).toBe(other.valid);
    }),
    { numRuns: 4_000 },
  );
});
