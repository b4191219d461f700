import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { type Context, type Engine, type Workflow, workflow } from "../../index.ts";
import type { RunRow } from "../types.ts";
import type { Kind } from "./code-kind.ts";

const keyed = { effect: "keyed" } as const;
const child = workflow("child", async (ctx) => void (await ctx.gate("ok", { choices: ["yes"] })));

/** Something of each kind under one name. A signal's name is its own, so it has none in common with the others. */
type Named = Exclude<Kind, "signal" | "transaction">;
const asked: Readonly<Record<Named, (ctx: Context, calls: string[]) => Promise<unknown>>> = {
  call: (ctx, calls) => ctx.step("x", () => calls.push("call"), keyed),
  gate: (ctx) => ctx.gate("x", { choices: ["yes"] }),
  timer: (ctx) => ctx.sleep("x", 60_000),
  child: (ctx) => ctx.child("x", child, undefined),
  group: (ctx, calls) => ctx.each("x", [1, 2], () => calls.push("group"), keyed),
  loop: (ctx, calls) =>
    ctx.loop("x", { n: 0 }, async (state, { index, done }) => {
      state.n++;
      await ctx.step("a", () => calls.push("loop"), keyed);
      if (index === 1) await ctx.gate("inside", { choices: ["yes"] });
      return index === 1 ? done() : undefined;
    }),
};

const WORDS: Readonly<Record<Named, string>> = {
  call: "a step",
  gate: "a gate",
  timer: "a sleep",
  child: "a child",
  group: "a group",
  loop: "a loop",
};

const flow = (kind: Named, calls: string[]): Workflow<void, void> =>
  workflow("flow", async (ctx) => {
    await asked[kind](ctx, calls);
    await ctx.gate("rest", { choices: ["yes"] });
  });

const kinds = Object.keys(asked) as Named[];
const pairs = kinds.flatMap((was) => kinds.filter((is) => is !== was).map((is) => [was, is] as const));

/** Answers every open gate of every run, and lets a minute pass. */
async function everythingHappens(engine: Engine, advance: (ms: number) => Promise<void>): Promise<void> {
  const { runs } = await engine.list({ limit: 100 });
  for (const { id } of runs)
    for (const { gate } of await engine.gates(id)) await engine.answer(id, gate, { choice: "yes" });
  await advance(61_000);
}

describe("a name that stands for something else in the new code", () => {
  it.each(pairs)("lets the run wait, and nothing is done: %s, now %s", async (was, is) => {
    const lab = createLab();
    const calls: string[] = [];
    const first = lab.engine([flow(was, calls), child]);
    await lab.drive(first.start(flow(was, calls), undefined, { id: "r" }));
    await lab.drive(first.settled("r"));
    await lab.drive(first.pause("r"));
    await lab.drive(first.close());
    const before = [...calls];
    const engine = lab.engine([flow(is, calls), child]);
    await lab.drive(engine.resume("r"));
    await lab.drive(engine.settled("r"));
    const { waiting } = (await lab.store.read("r")) as RunRow;
    const text = `HF-2160 x is ${WORDS[is]} in the code, but it was recorded as ${WORDS[was]}.`;
    expect(waiting).toMatchObject([
      { kind: "migration", step: "x", detail: expect.stringContaining(text) as string },
    ]);
    expect(calls).toEqual(before);
    await lab.crash(engine);
    // With the old code it goes on as if nothing had been.
    const back = lab.engine([flow(was, calls), child]);
    await lab.drive(back.recover());
    for (let round = 0; round < 3; round++)
      await lab.drive(everythingHappens(back, (ms) => lab.clock.advance(ms)));
    expect(await lab.drive(back.settled("r"))).toMatchObject({ status: "completed" });
    const clean = createLab();
    const expected: string[] = [];
    const untouched = clean.engine([flow(was, expected), child]);
    await clean.drive(untouched.start(flow(was, expected), undefined, { id: "r" }));
    for (let round = 0; round < 3; round++)
      await clean.drive(everythingHappens(untouched, (ms) => clean.clock.advance(ms)));
    expect(calls).toEqual(expected);
    await Promise.all([lab.crash(back), clean.crash(untouched)]);
  });

  it.each(pairs)("begins afresh when somebody says: as it is. %s, now %s", async (was, is) => {
    const lab = createLab();
    const calls: string[] = [];
    const first = lab.engine([flow(was, calls), child]);
    await lab.drive(first.start(flow(was, calls), undefined, { id: "r" }));
    await lab.drive(first.settled("r"));
    await lab.drive(first.pause("r"));
    await lab.drive(first.close());
    const engine = lab.engine([flow(is, calls), child]);
    // What became of a child must be known first.
    if (was === "child") await lab.drive(everythingHappens(engine, (ms) => lab.clock.advance(ms)));
    await lab.drive(engine.resume("r"));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.migrations.asIs("r", { actor: "ada" }));
    await lab.drive(engine.settled("r"));
    // A crash in between makes no difference.
    const next = (await lab.afterCrash(engine, [flow(is, calls), child], "r")).engine;
    for (let round = 0; round < 3; round++)
      await lab.drive(everythingHappens(next, (ms) => lab.clock.advance(ms)));
    expect(await lab.drive(next.settled("r"))).toMatchObject({ status: "completed" });
    const done = calls.filter((call) => call === is);
    expect(done).toHaveLength({ call: 1, group: 2, loop: 2, gate: 0, timer: 0, child: 0 }[is]);
    await lab.crash(next);
  });

  it("is no matter of a value that somebody put there", async () => {
    const lab = createLab();
    const failing = workflow("flow", async (ctx) => {
      await ctx.gate("x", { choices: ["yes"], timeoutMs: 10 });
    });
    const engine = lab.engine([failing]);
    await lab.drive(engine.start(failing, undefined, { id: "r" }));
    expect(await lab.drive(engine.settled("r"))).toMatchObject({ status: "failed" });
    const answer = { choice: "yes", actor: "ada", at: 1, timedOut: false };
    await lab.drive(engine.fork("r", { id: "f", set: { steps: { x: answer } } }));
    expect(await lab.drive(engine.settled("f"))).toMatchObject({ status: "completed" });
    await lab.crash(engine);
  });
});
