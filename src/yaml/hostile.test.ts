import { describe, expect, it } from "vitest";
import { ANSWERS, FILES, SET_VALUES, TREES } from "../../test/data/hostile.ts";
import { readAnswer } from "../agent/json-answer.ts";
import { HoldfastError } from "../core/errors.ts";
import { ParseBudget } from "../core/values/parse-budget.ts";
import { readFlow } from "./flow.ts";
import { bound } from "./output.ts";
import { withVariables } from "./placeholders.ts";
import { FileProblem, type Files } from "./source.ts";
import { lexYaml } from "./yaml-text.ts";

const LIMITS = { bytes: 1_048_576, keys: 5_000, reads: 200, work: 2_000_000 };
const KINDS = ["bytes", "keys", "reads", "work"] as const;
/** The most by which a single spending may exceed the limit. */
const STEP = 262_144;

const filesOf = (files: Readonly<Record<string, string>>): Files => ({
  read(name) {
    const text = files[name];
    if (text === undefined) throw new FileProblem(`${name} does not exist`);
    return { name, text };
  },
});

async function read(files: Readonly<Record<string, string>>): Promise<ParseBudget> {
  const budget = new ParseBudget("main.yaml", LIMITS);
  const main = { name: "main.yaml", text: files["main.yaml"] as string };
  const { problems } = await readFlow(main, { files: filesOf(files), env: {}, budget });
  expect(problems.length).toBeLessThan(103);
  return budget;
}

describe("hostile texts (X6)", () => {
  it.each(Object.entries(FILES))("end a workflow file within its budget: %s", async (_, text) => {
    const budget = await read({ "main.yaml": text });
    for (const kind of KINDS) expect(budget.spent(kind)).toBeLessThanOrEqual(LIMITS[kind] + STEP);
  });

  it.each(Object.entries(TREES))(
    "end files that refer to each other within one budget: %s",
    async (_, files) => {
      const budget = await read(files);
      for (const kind of KINDS) expect(budget.spent(kind)).toBeLessThanOrEqual(LIMITS[kind] + STEP);
    },
  );

  it.each(Object.entries(SET_VALUES))("are bound by a set step or refused: %s", (_, text) => {
    try {
      expect(bound(text, "auto", "s.value")).toBeDefined();
    } catch (error) {
      expect(HoldfastError.is(error, "HF-1040") && error.message).toContain("s.value is too much to read");
    }
  });

  it.each(Object.entries(ANSWERS))("are no answer of a model: %s", (_, text) => {
    const budget = new ParseBudget("the answer", { work: 1_000_000, bytes: 1_000_000, keys: 100_000 });
    expect(readAnswer(text, { type: "object", required: ["a"] }, budget).ok).toBe(false);
    expect(budget.spent("work")).toBeLessThanOrEqual(1_000_500);
  });

  it("cost twice as much when they are twice as long", () => {
    const spent = (size: number): number => {
      const budget = new ParseBudget("x", { work: 1e9, keys: 1e9 });
      lexYaml(`${"key: [a, {b: c}]\n".repeat(size)}`, budget);
      return budget.spent("work");
    };
    expect(spent(2_000) / spent(1_000)).toBeLessThan(2.01);
  });

  it("are looked up for variables in one pass, and read as before", () => {
    const value = (name: string, fallback?: string): string => `<${name}|${fallback ?? ""}>`;
    expect(withVariables("a ${A} ${B:-x y} ${C:-} $D ${1} ${E ${F}", value)).toBe(
      "a <A|> <B|x y> <C|> $D ${1} ${E <F|>",
    );
  });
});

describe("numbers in texts (Y1)", () => {
  it.each([
    ["9007199254740993", "9007199254740993"],
    ["1e999", "1e999"],
    ["1e-999", "1e-999"],
    [".inf", ".inf"],
    ["12345678901234567890", "12345678901234567890"],
    ["9007199254740993.5", "9007199254740993.5"],
    ["9007199254740991", 9_007_199_254_740_991],
    ["0.1", 0.1],
    ["1e5", 100_000],
    ["0x1F", 31],
    ['{"id": 9007199254740993, "n": 7}', { id: "9007199254740993", n: 7 }],
    ["[1e999, 2]", ["1e999", 2]],
    ["id: 9007199254740993", { id: "9007199254740993" }],
    ["- 1e999\n- 2", ["1e999", 2]],
  ])("are bound as numbers only where they stay the same: %s", (text, value) => {
    expect(bound(text, "auto", "s.value")).toEqual(value);
  });

  it("are refused where a number is asked for and cannot be held", () => {
    expect(() => bound("9007199254740993", "integer", "s")).toThrow("isn't a whole number");
    expect(() => bound("1e999", "number", "s")).toThrow("isn't a number");
  });

  it("are refused in a file that cannot mean them", async () => {
    const text = "workflow: { name: x, entry_point: a, metadata: { id: 9007199254740993 } }\nagents: []\n";
    const budget = new ParseBudget("main.yaml");
    const { problems } = await readFlow({ name: "main.yaml", text }, { files: filesOf({}), env: {}, budget });
    expect(problems[0]?.message).toBe(
      "9007199254740993 is more than a number can hold exactly: write it in quotes.",
    );
  });

  it("reach a schema as text from a model's answer, so that it is asked again", () => {
    const schema = { type: "object", properties: { id: { type: "number" } } };
    expect(readAnswer('{"id": 9007199254740993}', schema).ok).toBe(false);
    expect(readAnswer('{"id": 9007199254740991}', schema)).toEqual({
      ok: true,
      value: { id: 9_007_199_254_740_991 },
    });
  });
});
