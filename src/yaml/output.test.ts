import { describe, expect, it } from "vitest";
import { bound, mapped, outputSchema, typed } from "./output.ts";
import { FlowState } from "./run/state.ts";
import { trim } from "./run/trim.ts";

describe("rendered texts", () => {
  it("stand for what they look like in outputs", () => {
    const texts = ["True", "None", "42", "-1.5", '{"a": 1}', "[1", " 7 ", "007x", "yes", ""];
    expect(texts.map((text) => typed(text, "x"))).toEqual([
      true,
      null,
      42,
      -1.5,
      { a: 1 },
      "[1",
      7,
      "007x",
      "yes",
      "",
    ]);
    expect(["5", "x", "[1]", "True"].map((text) => mapped(text, "x"))).toEqual([5, "x", [1], true]);
  });

  it("are bound by a set step as YAML, or as the type that is asked for", () => {
    const texts = [
      "true",
      "3",
      "[a, 1]",
      "{ a: 1 }",
      "2024-01-02",
      "  ",
      "# note",
      "null",
      "a: b: c",
      "&a [*a]",
    ];
    expect(texts.map((text) => bound(text, "auto", "x"))).toEqual([
      true,
      3,
      ["a", 1],
      { a: 1 },
      "2024-01-02",
      "",
      "# note",
      null,
      "a: b: c",
      "&a [*a]",
    ]);
    expect([
      bound("7", "string", "x"),
      bound("7", "integer", "x"),
      bound("On", "boolean", "x"),
      bound("[]", "list", "x"),
    ]).toEqual(["7", 7, true, []]);
    expect(() => bound("7.5", "integer", "s.value")).toThrow(
      "s.value resulted in 7.5, which isn't a whole number.",
    );
    expect(() => bound("[]", "dict", "x")).toThrow("a mapping");
  });
});

describe("declared outputs", () => {
  it("are a JSON Schema that lets more fields pass", () => {
    const field = { required: true, nullable: false };
    expect(
      outputSchema({
        status: { ...field, type: "string", enum: ["a"], nullable: true },
        items: {
          ...field,
          type: "array",
          items: {
            ...field,
            type: "object",
            properties: { n: { ...field, type: "number", minimum: 1, required: false } },
          },
        },
      }),
    ).toEqual({
      type: "object",
      properties: {
        status: { type: ["string", "null"], enum: ["a", null] },
        items: {
          type: "array",
          items: { type: "object", properties: { n: { type: "number", minimum: 1 } } },
        },
      },
      required: ["status", "items"],
    });
  });
});

describe("a context that is too long", () => {
  const filled = (): FlowState => {
    const state = new FlowState({}, {});
    for (const name of ["a", "b", "c"]) state.store(name, { text: "x".repeat(4_000) });
    return state;
  };

  it("loses its oldest outputs, or their length", () => {
    const [dropped, cut] = [filled(), filled()];
    trim(dropped, 2_200, "drop_oldest");
    expect([...dropped.outputs.keys()]).toEqual(["b", "c"]);
    trim(cut, 2_200, "truncate");
    expect((cut.outputs.get("a") as { text: string }).text).toMatch(/^x+… \[shortened\]$/);
    expect((cut.outputs.get("c") as { text: string }).text).toHaveLength(4_000);
  });
});
