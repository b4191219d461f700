import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { eventsOf } from "../../test/support/family.ts";
import { createLab, type Lab } from "../../test/support/lab.ts";
import { type Engine, workflow } from "../index.ts";

/** A schema by hand: nothing here depends on one library. */
const upper = {
  "~standard": {
    version: 1,
    vendor: "by hand",
    types: undefined as { input: string; output: string } | undefined,
    validate: async (value: unknown) =>
      typeof value === "string" ? { value: `${value.toUpperCase()}!` } : { issues: [{ message: "no text" }] },
  },
} as const;

const review = workflow(
  "review",
  {
    input: z.object({ title: z.string() }),
    output: z.object({ comments: z.array(z.string()) }),
    signals: {
      comment: z.object({ by: z.string(), text: z.string().trim() }),
      loud: upper,
      stop: z.undefined(),
    },
    memory: { draft: z.string().max(20), count: z.coerce.number() },
  },
  async (ctx, { title }) => {
    ctx.memory.set("draft", title);
    ctx.memory.set("count", "7" as never);
    const first = await ctx.signal("comment");
    const second = await ctx.signal("loud", { or: ["stop"] });
    const rest = await ctx.inbox("comment");
    const comments = [first.payload.text, String(second.payload), ...rest.map(({ payload }) => payload.text)];
    return { comments: [...comments, `${ctx.memory.get("draft")} ${typeof ctx.memory.get("count")}`] };
  },
);

/** An engine that only writes: it has no code of any workflow. */
const outsider = (lab: Lab): Engine => lab.engine([], { execute: false });

async function started(lab: Lab): Promise<Engine> {
  const engine = lab.engine([review]);
  await lab.drive(engine.start(review, { title: "A plan" }, { id: "r" }));
  await lab.drive(engine.settled("r"));
  return engine;
}

const comment = (text: string) => ({ by: "ada", text });

describe("signals that a workflow declares", () => {
  it("are typed and checked when they are sent, with the place of each problem", async () => {
    const lab = createLab();
    const engine = await started(lab);
    const run = engine.run(review, "r");
    await expect(lab.drive(engine.signal("r", "comment", { by: 1 }))).rejects.toMatchObject({
      code: "HF-1042",
      message: expect.stringMatching(
        /^Signal comment of review does not match its schema: by: .*; text: /,
      ) as string,
    });
    await expect(lab.drive(engine.signal("r", "coment", comment("x")))).rejects.toMatchObject({
      code: "HF-1043",
      why: "It declares the signals that its runs take: comment, loud, stop.",
    });
    await lab.drive(run.signal("comment", comment("  fine  ")));
    await lab.drive(run.signal("comment", comment(" later ")));
    await lab.drive(run.signal("loud", "ok"));
    expect(await lab.drive(run.result())).toEqual({ comments: ["fine", "OK!", "later", "A plan number"] });
  });

  it("keep what was sent and what the schema made of it, once, so that a replay asks no schema again", async () => {
    const lab = createLab();
    const engine = await started(lab);
    await lab.drive(engine.signal("r", "comment", comment("  fine  ")));
    await lab.drive(engine.settled("r"));
    const asked: unknown[] = [];
    const unsure = {
      "~standard": { validate: (value: unknown) => (asked.push(value), { issues: [{ message: "never" }] }) },
    };
    const later = { ...review, signals: { ...review.signals, comment: unsure } };
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const next = lab.engine([later]);
    await lab.drive(next.signal("r", "loud", "ok"));
    expect(await lab.drive(next.result("r"))).toMatchObject({ comments: ["fine", "OK!", "A plan number"] });
    expect(asked).toEqual([]);
  });

  it("are set aside when they came without the code and don't match, and the run waits on (HF-2124)", async () => {
    const lab = createLab();
    const engine = await started(lab);
    await lab.drive(engine.close());
    const other = outsider(lab);
    await lab.drive(other.signal("r", "comment", { by: 1 }));
    await lab.drive(other.signal("r", "comment", comment(" good ")));
    await lab.drive(other.signal("r", "comment", "bad"));
    await lab.drive(other.signal("r", "loud", "ok"));
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (text: string) => void warnings.push(text) };
    const next = lab.engine([review], { logger });
    await lab.drive(next.recover());
    expect(await lab.drive(next.result("r"))).toEqual({ comments: ["good", "OK!", "A plan number"] });
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/^A message for signal comment of run r was set aside\. .*by: /);
    const refused = (await eventsOf(lab.store, "r")).filter(
      ({ kind, meta }) => kind === "signals_taken" && "refused" in meta,
    );
    expect(refused).toHaveLength(2);
  });
});

describe("memory that a workflow declares", () => {
  it("refuses other keys and values, also in an edit from outside (HF-1044)", async () => {
    const lab = createLab();
    const engine = await started(lab);
    const set = (memory: Record<string, unknown>) =>
      lab.drive(engine.pause("r").then(() => engine.resume("r", { set: { memory } })));
    await expect(set({ draft: "x".repeat(21) })).rejects.toMatchObject({ code: "HF-1042" });
    await expect(set({ draft2: "x" })).rejects.toMatchObject({ code: "HF-1044" });
    await set({ draft: "edited", count: "8" });
    await lab.drive(engine.signal("r", "comment", comment("a")));
    await lab.drive(engine.signal("r", "stop"));
    expect(await lab.drive(engine.result("r"))).toEqual({ comments: ["a", "undefined", "edited number"] });
    const misspelled = workflow("m", { memory: { a: z.string() } }, (ctx) => ctx.memory.set("b" as "a", "x"));
    const run = await lab.drive(engine.start(misspelled, undefined));
    await expect(lab.drive(run.result())).rejects.toMatchObject({ code: "HF-2101" });
  });

  it("refuses a schema that would have to be waited for (HF-1046)", async () => {
    const lab = createLab();
    const slow = workflow("slow", { memory: { a: upper } }, (ctx) => ctx.memory.set("a", "x"));
    const engine = lab.engine([slow]);
    const run = await lab.drive(engine.start(slow, undefined));
    expect(await lab.drive(run.settled())).toMatchObject({
      status: "failed",
      error: expect.stringContaining("asynchronous") as string,
    });
  });
});

describe("a result with a schema", () => {
  it("fails the run when it doesn't match, and is what the schema makes of it when it does", async () => {
    const lab = createLab();
    const count = workflow("count", { output: z.coerce.number().max(9) }, (_, input: string) => input);
    expectTypeOf(count.body).returns.resolves.toEqualTypeOf<number>();
    const engine = lab.engine([count]);
    expect(await lab.drive((await lab.drive(engine.start(count, "7"))).result())).toBe(7);
    const wrong = await lab.drive(engine.start(count, "77", { id: "w" }));
    expect(await lab.drive(wrong.settled())).toMatchObject({ status: "failed" });
  });
});

describe("the answer at a gate that asks for data", () => {
  const amount = z.object({ cents: z.number().int().max(500), note: z.string().default("none") });
  const pay = workflow("pay", async (ctx) => {
    const { choice, data } = await ctx.gate("approve", { choices: ["pay", "leave"], data: amount });
    return `${choice} ${data.cents} ${data.note}`;
  });

  it("is checked when it is given where the code is at hand, and the run gets what the schema makes of it", async () => {
    const lab = createLab();
    const engine = lab.engine([pay]);
    const run = await lab.drive(engine.start(pay, undefined, { id: "r" }));
    await lab.drive(run.settled());
    expect(await run.gates()).toMatchObject([{ gate: "approve", data: true }]);
    for (const data of [undefined, { cents: 501 }, "x"])
      await expect(lab.drive(run.answer("approve", { choice: "pay", data }))).rejects.toMatchObject({
        code: "HF-1042",
      });
    await lab.drive(run.answer("approve", { choice: "pay", data: { cents: 5 } }));
    expect(await lab.drive(run.result())).toBe("pay 5 none");
  });

  it("is asked for again when it came without the code and doesn't match (HF-2123)", async () => {
    const lab = createLab();
    const engine = lab.engine([pay]);
    await lab.drive(engine.start(pay, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.close());
    const other = outsider(lab);
    await lab.drive(other.answer("r", "approve", { choice: "pay", data: { cents: "5" } }));
    const second = lab.engine([pay]);
    await lab.drive(second.recover());
    expect(await lab.drive(second.settled("r"))).toMatchObject({
      status: "waiting",
      waiting: [
        {
          kind: "gate",
          code: "HF-2123",
          detail: expect.stringMatching(
            /was not accepted\. The data of the answer at gate approve .*cents: /,
          ) as string,
        },
      ],
    });
    await lab.drive(other.answer("r", "approve", { choice: "leave", data: { cents: 6 } }));
    expect(await lab.drive(second.result("r"))).toBe("leave 6 none");
  });

  it("is journaled once as what the schema made of it, and a replay asks no schema again", async () => {
    const lab = createLab();
    let asked = 0;
    const dated = z.string().transform((text) => (asked++, `${text} as of ${asked}`));
    const flow = workflow("dated", async (ctx) => {
      const { data } = await ctx.gate("when", { choices: ["ok"], data: dated });
      await ctx.signal("go");
      return data;
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.answer("r", "when", { choice: "ok", data: "May" }));
    await lab.drive(engine.settled("r"));
    expect(asked).toBe(2);
    const { engine: next } = await lab.afterCrash(engine, [flow], "r");
    await lab.drive(next.signal("r", "go"));
    expect(await lab.drive(next.result("r"))).toBe("May as of 2");
    expect(asked).toBe(2);
  });

  it("is refused where the gate asks for none", async () => {
    const lab = createLab();
    const flow = workflow("plain", (ctx) => ctx.gate("ok", { choices: ["yes"] }));
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await expect(lab.drive(engine.answer("r", "ok", { choice: "yes", data: 1 }))).rejects.toMatchObject({
      code: "HF-1003",
    });
  });

  it("comes from `onTimeout` when nobody answers, and fails the run if even that doesn't match", async () => {
    const lab = createLab();
    const late = (data: unknown) =>
      workflow("late", async (ctx) => {
        const options = { choices: ["no"], data: amount, timeoutMs: 1_000 } as const;
        return (await ctx.gate("x", { ...options, onTimeout: { choice: "no", data } })).data;
      });
    const good = late({ cents: 1 });
    const engine = lab.engine([good]);
    const run = await lab.drive(engine.start(good, undefined));
    expect(await lab.drive(run.result())).toEqual({ cents: 1, note: "none" });
    const bad = await lab.drive(engine.start(late("x"), undefined));
    expect(await lab.drive(bad.settled())).toMatchObject({ status: "failed" });
  });
});

describe("a declaration", () => {
  it("is refused when it isn't made of schemas", () => {
    for (const options of [{ signals: { a: 1 } }, { signals: [] }, { memory: "x" }, { output: {} }])
      expect(() => workflow("x", options as never, () => 1)).toThrow(
        expect.objectContaining({ code: "HF-1003" }),
      );
    expect(() => workflow("x", { signals: { "a/b": z.string() } }, () => 1)).toThrow(
      expect.objectContaining({ code: "HF-1005" }),
    );
  });

  it("turns a schema that throws into an error that says so (HF-1046)", async () => {
    const lab = createLab();
    const broken = { "~standard": { validate: () => Promise.reject(new TypeError("oops")) } };
    const flow = workflow("x", { input: broken }, () => 1);
    await expect(lab.drive(lab.engine([flow]).start(flow, 1))).rejects.toMatchObject({
      code: "HF-1046",
      message: "The input of x could not be checked: oops",
    });
  });
});
