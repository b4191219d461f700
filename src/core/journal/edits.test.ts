import { describe, expect, it } from "vitest";
import { journal } from "../../../lab/simulator/operator.ts";
import { code } from "../../../test/support/code.ts";
import { createLab, hangs } from "../../../test/support/lab.ts";
import { type Context, type ReceivedSignal, workflow } from "../../index.ts";

/** Steps with a gate before the last, and what memory held after each of them. */
const seen: unknown[] = [];
const flow = workflow("flow", async (ctx: Context, input: { who: string }) => {
  ctx.memory.set("mood", "calm");
  const first = await ctx.step("first", () => `for ${input.who}`);
  seen.push(ctx.memory.get("mood"));
  await ctx.step("second", () => 2);
  seen.push(ctx.memory.get("mood"));
  await ctx.gate("go", { choices: ["yes"] });
  const mood = ctx.memory.get("mood");
  return ctx.step("last", () => ({ first, mood, input }));
});

async function pausedAtGate() {
  const lab = createLab();
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, { who: "Ada" }, { id: "r" }));
  await lab.drive(engine.settled("r"));
  await lab.drive(engine.pause("r", { actor: "ada", reason: "a look" }));
  return { lab, engine };
}

describe("a resume with edited values", () => {
  it("puts memory, a step's result and the input in place, in one write with the resume (S1-22)", async () => {
    const { lab, engine } = await pausedAtGate();
    const before = (await engine.get("r"))?.seq ?? 0;
    const set = { memory: { mood: "angry" }, steps: { first: "for Ben" }, input: { who: "Ben" } };
    await lab.drive(engine.resume("r", { set, actor: "ada", reason: "wrong name" }));
    const entries = await lab.store.entries("r", { from: before + 1, limit: 1 });
    expect(entries[0]?.count).toBe(4);
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.answer("r", "go", { choice: "yes" }));
    expect(await lab.drive(engine.result("r"))).toEqual({
      first: "for Ben",
      mood: "angry",
      input: { who: "Ben" },
    });
  });

  it("keeps the old values in the journal, with who changed them and why", async () => {
    const { lab, engine } = await pausedAtGate();
    await lab.drive(engine.resume("r", { set: { steps: { first: "new" } }, actor: "ada", reason: "typo" }));
    const events = await journal(lab.store, "r");
    const kept = events.find((event) => event.kind === "step_completed" && event.step === "first");
    expect(kept?.data).toBe('"for Ada"');
    const edit = events.find((event) => event.kind === "value_edited");
    expect([edit?.actor, edit?.meta]).toEqual(["ada", { what: "step", reason: "typo" }]);
  });

  it("shows the old memory to code that runs before the change, and the new one to code after it", async () => {
    const { lab, engine } = await pausedAtGate();
    seen.length = 0;
    // The edited step stands early in the code, wherever its new value stands in the journal.
    const set = { memory: { mood: "angry", more: 1 }, steps: { first: "edited" } };
    await lab.drive(engine.resume("r", { set }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.answer("r", "go", { choice: "yes" }));
    const result = (await lab.drive(engine.result("r"))) as { mood: string };
    expect(result.mood).toBe("angry");
    expect(seen.slice(0, 2)).toEqual(["calm", "angry"]);
  });

  it("edits the state of a loop, which goes on from there after a crash too", async () => {
    const lab = createLab();
    const loop = workflow("loop", async (ctx) =>
      ctx.loop("turn", { total: 0, notes: [] as string[] }, async (state, turn) => {
        if (turn.index === 2) await ctx.gate("half", { choices: ["on"] });
        state.total += await ctx.step("one", () => 1);
        return turn.index === 4 ? turn.done() : undefined;
      }),
    );
    const engine = lab.engine([loop]);
    await lab.drive(engine.start(loop, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.pause("r"));
    await lab.drive(engine.resume("r", { set: { loops: { turn: { total: 100, notes: ["edited"] } } } }));
    const { engine: next } = await lab.afterCrash(engine, [loop], "r");
    await lab.drive(next.answer("r", "turn[2]/half", { choice: "on" }));
    expect(await lab.drive(next.result("r"))).toEqual({ total: 103, notes: ["edited"] });
  });

  it("puts another message in the place of one that was received", async () => {
    const lab = createLab();
    const listens = workflow("listens", async (ctx) => {
      const first = await ctx.signal<string>("go");
      await ctx.gate("then", { choices: ["on"] });
      return `${first.name}: ${first.payload}`;
    });
    const engine = lab.engine([listens]);
    await lab.drive(engine.start(listens, undefined, { id: "r" }));
    await lab.drive(engine.signal("r", "go", "left"));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.pause("r"));
    await lab.drive(engine.resume("r", { set: { steps: { "signal:go": "right" } } }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.answer("r", "then", { choice: "on" }));
    expect(await lab.drive(engine.result("r"))).toBe("go: right");
  });

  it("refuses what cannot be edited and leaves the run as it was", async () => {
    const { lab, engine } = await pausedAtGate();
    const before = await engine.get("r");
    const refused = (set: object) => code(lab.drive(engine.resume("r", { set })));
    expect(await refused({ steps: { nothing: 1 } })).toBe("HF-1010");
    expect(await refused({ steps: { go: 1 } })).toBe("HF-1024");
    expect(await refused({ loops: { turn: {} } })).toBe("HF-1010");
    expect(await refused({ memroy: {} })).toBe("HF-1003");
    expect(await refused({ memory: { fn: () => 1 } })).toBe("HF-2001");
    expect(await engine.get("r")).toEqual(before);
  });

  it("is refused while the run is under way, since what it edits may be in use", async () => {
    const lab = createLab();
    const slow = workflow("slow", (ctx) => ctx.step("a", () => hangs()));
    const engine = lab.engine([slow]);
    await lab.drive(engine.start(slow, undefined, { id: "r" }));
    const set = { memory: { a: 1 } };
    expect(await code(lab.drive(engine.resume("r", { set })))).toBe("HF-1007");
    await lab.drive(engine.pause("r"));
    expect(await code(lab.drive(engine.resume("r", { set })))).toBe("HF-1007");
  });

  it("counts once when it is sent twice under one id", async () => {
    const { lab, engine } = await pausedAtGate();
    const options = { id: "click", inject: "hello", actor: "ada" };
    const rows = await lab.drive(Promise.all([engine.resume("r", options), engine.resume("r", options)]));
    expect(rows.map(({ status }) => status)).not.toContain("paused");
    const events = await journal(lab.store, "r");
    expect(events.filter(({ kind }) => kind === "run_resumed")).toHaveLength(1);
    expect(events.filter(({ kind }) => kind === "signal_received")).toHaveLength(1);
  });
});

describe("injected context", () => {
  const talks = (calls: unknown[][]) =>
    workflow("talks", async (ctx) => {
      for (const name of ["a", "b"]) {
        const notes = await ctx.inbox<string>();
        await ctx.step(name, () => void calls.push([name, notes.map(payload)]));
        await ctx.gate(`after ${name}`, { choices: ["on"] });
      }
      return (await ctx.inbox("other")).length;
    });
  const payload = (signal: ReceivedSignal<string>) => signal.payload;

  it("is found once, in the order it came, by whoever looks next", async () => {
    const lab = createLab();
    const calls: unknown[][] = [];
    const engine = lab.engine([talks(calls)]);
    await lab.drive(engine.start(talks(calls), undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.inject("r", "one", { actor: "ada" }));
    await lab.drive(engine.inject("r", "two", { id: "twice" }));
    await lab.drive(engine.inject("r", "two", { id: "twice" }));
    await lab.drive(engine.answer("r", "after a", { choice: "on" }));
    const { engine: next } = await lab.afterCrash(engine, [talks(calls)], "r");
    await lab.drive(next.answer("r", "after b", { choice: "on" }));
    expect(await lab.drive(next.result("r"))).toBe(0);
    expect(calls).toEqual([
      ["a", []],
      ["b", ["one", "two"]],
    ]);
  });

  it("travels with the resume that brings it (S1-22)", async () => {
    const lab = createLab();
    const calls: unknown[][] = [];
    const engine = lab.engine([talks(calls)]);
    await lab.drive(engine.start(talks(calls), undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.pause("r"));
    await lab.drive(engine.resume("r", { inject: "mind the gap" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.answer("r", "after a", { choice: "on" }));
    await lab.drive(engine.settled("r"));
    expect(calls).toEqual([
      ["a", []],
      ["b", ["mind the gap"]],
    ]);
  });
});
