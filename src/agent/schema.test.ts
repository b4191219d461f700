import { describe, expect, it } from "vitest";
import { checkSchema, problemsOf } from "./index.ts";
import type { JsonSchema } from "./model.ts";
import { sampleOf } from "./sample.ts";

const order: JsonSchema = {
  type: "object",
  properties: {
    id: { type: "string", pattern: "^o-\\d+$" },
    lines: {
      type: "array",
      minItems: 1,
      maxItems: 3,
      items: {
        type: "object",
        properties: {
          article: { type: "string", minLength: 2 },
          count: { type: "integer", minimum: 1, maximum: 9 },
        },
        required: ["article", "count"],
        additionalProperties: false,
      },
    },
    urgency: { enum: ["low", "high"] },
    note: { anyOf: [{ type: "null" }, { type: "string", maxLength: 5 }] },
  },
  required: ["id", "lines"],
};

describe("a JSON schema", () => {
  it("accepts what fits", () => {
    const value = { id: "o-1", lines: [{ article: "bolt", count: 2 }], urgency: "low", note: null };
    expect(problemsOf(checkSchema(order, "it"), value)).toEqual([]);
  });

  it("names the place of everything that does not fit", () => {
    const value = {
      lines: [{ article: "b", count: 1.5, colour: "red" }, 3],
      urgency: "now",
      note: "too long",
    };
    expect(problemsOf(order, value)).toEqual([
      "lines[0].article must have 2 or more characters",
      "lines[0].count must be integer, not number",
      "lines[0].colour must not be there",
      "lines[1] must be object, not number",
      'urgency must be one of "low", "high"',
      "note must fit one of: note must be null, not string; or note must have at most 5 characters",
      "id is missing",
    ]);
  });

  it.each([
    [{ const: 3 }, 4, "it must be 3"],
    [{ exclusiveMinimum: 3 }, 3, "it must be more than 3"],
    [{ exclusiveMaximum: 3 }, 3, "it must be less than 3"],
    [{ maximum: 3 }, 4, "it must be at most 3"],
    [{ multipleOf: 0.1 }, 0.25, "it must be a multiple of 0.1"],
    [{ multipleOf: 1e10 }, 1, "it must be a multiple of 10000000000"],
    [{ multipleOf: 3 }, 1e21, "it must be a multiple of 3"],
    [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      "it must not have the same item twice",
    ],
    [{ oneOf: [{ type: "number" }, { minimum: 0 }] }, 1, "it must fit exactly one of 2 schemas, and fits 2"],
    [{ not: { type: "string" } }, "a", "it must not fit the schema under not"],
    [{ allOf: [{ minLength: 2 }, { maxLength: 3 }] }, "a", "it must have 2 or more characters"],
    [{ propertyNames: { pattern: "^a" } }, { b: 1 }, "b must match ^a"],
    [{ prefixItems: [{ type: "string" }], items: false }, ["a", 1], "[1] must not be there"],
    [{ minProperties: 1 }, {}, "it must have 1 or more properties"],
    [{ type: ["string", "null"] }, 1, "it must be string or null, not number"],
    [{ type: "number" }, Number.NaN, "it must be number, not number"],
  ])("%j does not take %j", (schema, value, problem) => {
    expect(problemsOf(checkSchema(schema, "it"), value)).toEqual([problem]);
  });

  it("follows references within itself, also those of a tree", () => {
    const tree = {
      $ref: "#/$defs/node",
      $defs: {
        node: {
          type: "object",
          properties: {
            name: { type: "string" },
            children: { type: "array", items: { $ref: "#/$defs/node" } },
          },
          required: ["name"],
        },
      },
    };
    const value = { name: "a", children: [{ name: "b", children: [{ nam: "c" }] }] };
    expect(problemsOf(checkSchema(tree, "it"), value)).toEqual(["children[0].children[0].name is missing"]);
  });

  it("ends also when it refers to nothing but itself", () => {
    expect(problemsOf({ $ref: "#" }, 1)).toEqual(["it is nested too deep to be checked"]);
  });

  it("is given up where its parts refer to each other too often", () => {
    const $defs: Record<string, JsonSchema> = { l0: { type: "string" } };
    for (let i = 1; i <= 60; i++)
      $defs[`l${i}`] = { allOf: [1, 2].map(() => ({ $ref: `#/$defs/l${i - 1}` })) };
    const laughs = checkSchema({ $ref: "#/$defs/l60", $defs }, "it");
    const itself = checkSchema({ anyOf: [{ $ref: "#" }, { $ref: "#" }] }, "it");
    const object = { type: "object", properties: { next: { $ref: "#" } } };
    const twice = checkSchema({ allOf: [object, object] }, "it");
    const chain = JSON.parse(`${'{"next":'.repeat(60)}{}${"}".repeat(60)}`) as unknown;
    const big = Array.from({ length: 1_000 }, (_, i) => i);
    const compared = checkSchema({ $ref: "#/$defs/l12", $defs: { ...$defs, l0: { const: big } } }, "it");
    for (const [schema, value] of [
      [laughs, "a"],
      [itself, 1],
      [twice, chain],
      [compared, [...big]],
    ] as const)
      expect(problemsOf(schema, value)).toEqual(["it takes too many steps to be checked"]);
  });

  it("is refused when it is nested too deeply to be read", () => {
    let deep: JsonSchema = {};
    for (let i = 0; i < 20_000; i++) deep = { not: deep };
    expect(() => checkSchema(deep, "it")).toThrowError(expect.objectContaining({ code: "HF-1040" }) as Error);
  });

  it("is refused with a keyword that would not be checked", () => {
    const schema = { type: "object", properties: { a: { type: "string", contentEncoding: "base64" } } };
    expect(() => checkSchema(schema, "tool a")).toThrowError(
      expect.objectContaining({
        code: "HF-4100",
        message:
          "The JSON schema of tool a uses contentEncoding at #/properties/a, which Holdfast doesn't check.",
      }) as Error,
    );
    expect(() => checkSchema({ constructor: {} }, "it")).toThrowError(
      expect.objectContaining({ code: "HF-4100" }) as Error,
    );
  });

  it.each([
    [[]],
    [{ type: "text" }],
    [{ required: "a" }],
    [{ pattern: "(" }],
    [{ pattern: "a".repeat(501) }],
    [{ minLength: -1 }],
    [{ properties: { a: 1 } }],
    [{ anyOf: [] }],
    [{ $ref: "#/$defs/none" }],
    [{ $ref: "#/%" }],
    [{ $ref: "#/properties", properties: {} }],
    [{ $ref: "#/default", default: { type: 5 } }],
    [{ $ref: "https://example.org/schema" }],
  ])("is refused when it is none: %j", (schema) => {
    expect(() => checkSchema(schema, "it")).toThrowError(
      expect.objectContaining({ code: "HF-4101" }) as Error,
    );
  });

  it("takes patterns of the Unicode kind and of the other", () => {
    for (const pattern of ["^\\p{L}+$", "^a\\-b$"])
      expect(checkSchema({ pattern }, "it")).toEqual({ pattern });
    expect(problemsOf({ pattern: "^a\\-b$" }, "a-b")).toEqual([]);
    expect(problemsOf({ pattern: "^\\p{L}+$" }, "é1")).toEqual(["it must match ^\\p{L}+$"]);
  });

  it("tries no pattern on a text of any length", () => {
    expect(problemsOf({ pattern: "^(a+)+$" }, "a".repeat(2_001))).toEqual([
      "it must have at most 2000 characters to be checked",
    ]);
  });
});

describe("a made-up value", () => {
  it.each<JsonSchema>([
    { ...order, properties: { ...(order["properties"] as object), id: { type: "string" } } },
    { type: "array", minItems: 3, items: { type: "integer", minimum: 5, multipleOf: 4 } },
    { oneOf: [{ type: "object", properties: { a: { const: 1 } }, required: ["a"] }, { type: "string" }] },
    {
      allOf: [
        { properties: { a: { type: "number", exclusiveMaximum: 0 } } },
        { required: ["b"], properties: { b: { type: "boolean" } } },
      ],
    },
    { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" },
    { type: "string", minLength: 30 },
    {
      $ref: "#/$defs/n",
      $defs: { n: { type: "object", properties: { next: { $ref: "#/$defs/n" }, n: { type: "integer" } } } },
    },
    { type: ["null", "string"] },
    { type: "number", exclusiveMinimum: 2, maximum: 2.5 },
  ])("fits the schema and is the same every time: %j", (schema) => {
    const made = sampleOf(schema);
    expect(made).toBeDefined();
    expect(problemsOf(schema, made?.value)).toEqual([]);
    expect(sampleOf(schema)).toEqual(made);
  });

  it("is not given where none could be found", () => {
    expect(sampleOf({ type: "string", pattern: "^zebra-[xyz]{9}$" })).toBeUndefined();
  });
});
