import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { createLab } from "../../test/support/lab.ts";
import { type StandardSchema, workflow } from "../index.ts";

/** The same shapes in three libraries; each makes a number of the text `amount`. */
const LIBRARIES = {
  zod: {
    input: z.object({ amount: z.string().regex(/^\d+$/).transform(Number) }),
    comment: z.object({ by: z.string(), stars: z.number().max(5) }),
    draft: z.string().max(20),
    reason: z.object({ why: z.string() }),
    output: z.object({ total: z.number() }),
  },
  valibot: {
    input: v.object({ amount: v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number)) }),
    comment: v.object({ by: v.string(), stars: v.pipe(v.number(), v.maxValue(5)) }),
    draft: v.pipe(v.string(), v.maxLength(20)),
    reason: v.object({ why: v.string() }),
    output: v.object({ total: v.number() }),
  },
  arktype: {
    input: type({ amount: type("/^\\d+$/").pipe(Number) }),
    comment: type({ by: "string", stars: "number <= 5" }),
    draft: type("string <= 20"),
    reason: type({ why: "string" }),
    output: type({ total: "number" }),
  },
} as const;

interface Shapes {
  readonly input: StandardSchema<{ amount: string }, { amount: number }>;
  readonly comment: StandardSchema<{ by: string; stars: number }>;
  readonly draft: StandardSchema<string>;
  readonly reason: StandardSchema<{ why: string }>;
  readonly output: StandardSchema<{ total: number }>;
}

const declared = ({ input, comment, draft, reason, output }: Shapes) =>
  workflow("typed", { input, output, signals: { comment }, memory: { draft } }, async (ctx, { amount }) => {
    expectTypeOf(amount).toEqualTypeOf<number>();
    ctx.memory.set("draft", `amount ${amount}`);
    const { payload } = await ctx.signal("comment");
    expectTypeOf(payload).toEqualTypeOf<{ by: string; stars: number }>();
    const answer = await ctx.gate("agree", { choices: ["yes", "no"], data: reason });
    expectTypeOf(answer.choice).toEqualTypeOf<"yes" | "no">();
    return { total: amount + payload.stars };
  });

describe.each(Object.entries<Shapes>(LIBRARIES))("schemas of %s", (_, shapes) => {
  it("type and check inputs, signals, memory, answers and results, and change what they change", async () => {
    const flow = declared(shapes);
    const lab = createLab();
    const engine = lab.engine([flow]);
    const wrong = lab.drive(engine.start(flow, { amount: "many" }, { id: "no" }));
    await expect(wrong).rejects.toMatchObject({
      code: "HF-1042",
      message: expect.stringContaining("amount"),
    });
    const run = await lab.drive(engine.start(flow, { amount: "7" }, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const tooMany = lab.drive(run.signal("comment", { by: "ada", stars: 9 }));
    await expect(tooMany).rejects.toMatchObject({
      code: "HF-1042",
      message: expect.stringContaining("stars"),
    });
    await lab.drive(run.signal("comment", { by: "ada", stars: 5 }));
    await lab.drive(engine.settled("r"));
    const empty = lab.drive(engine.answer("r", "agree", { choice: "yes", data: {} }));
    await expect(empty).rejects.toMatchObject({ message: expect.stringContaining("why") });
    await lab.drive(engine.answer("r", "agree", { choice: "yes", data: { why: "it adds up" } }));
    const result = await lab.drive(run.result());
    expectTypeOf(result).toEqualTypeOf<{ total: number }>();
    expect(result).toEqual({ total: 12 });
    await lab.drive(engine.close());
  });
});

it("types of each library are carried as they are, without a shape in between", () => {
  const { zod, valibot, arktype } = LIBRARIES;
  const one = workflow("one", { input: zod.input }, async (_, input) => input.amount);
  const two = workflow("two", { input: valibot.input }, async (_, input) => input.amount);
  const three = workflow("three", { input: arktype.input }, async (_, input) => input.amount);
  for (const { name } of [one, two, three]) expect(name).toBeTruthy();
  const engine = createLab().engine([one, two, three]);
  const start = () => [
    engine.start(one, { amount: "1" }),
    engine.start(two, { amount: "1" }),
    engine.start(three, { amount: "1" }),
    // @ts-expect-error: the amount is a text
    engine.start(three, { amount: 1 }),
  ];
  expectTypeOf(start).toBeFunction();
});
