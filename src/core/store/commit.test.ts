import { describe, expect, it } from "vitest";
import { createLedgerStore } from "../../../lab/simulator/ledger-store.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { createFakeClock, type FakeClock } from "../../testing/fake-clock.ts";
import { createFaultyStore, type FaultyStore, type StoreFault } from "../../testing/faulty-store.ts";
import { checkInvariants } from "../../testing/invariants/invariants.ts";
import { createEngine } from "../engine/engine.ts";
import { seededIds } from "../ids.ts";
import type { JournalEvent } from "../journal/events.ts";
import { parseEntry } from "../journal/journal.ts";
import { workflow } from "../workflow.ts";
import type { Store } from "./contract.ts";

const flow = workflow("flow", async (ctx) => {
  const first = await ctx.step("first", () => {
    ctx.usage({ tokens: 10, costUsd: 0.5 });
    return 1;
  });
  ctx.usage({ tokens: 3, costUsd: 0.25 });
  ctx.decide({ description: "on with it" });
  const second = await ctx.step("second", () => 2, { effect: "keyed" });
  return first + second;
});

async function events(store: Store, id: string): Promise<JournalEvent[]> {
  const entries = await store.entries(id, { from: 1, limit: 1_000 });
  return entries.flatMap((entry) => parseEntry(id, entry).events);
}

/** What was said while a run went on, besides its journal: what listeners were told of it. */
async function run(fault: StoreFault | undefined, nth: number) {
  const clock: FakeClock = createFakeClock();
  const inner = createMemoryStore({ clock });
  const faults = fault ? [{ method: "append", call: nth, fault } as const] : [];
  const store: FaultyStore = createFaultyStore(inner, { clock, faults });
  const engine = createEngine({ store, workflows: [flow], clock, ids: seededIds(1) });
  const told: string[] = [];
  for (const type of ["step_started", "step_completed", "run_completed"] as const)
    engine.on(type, (event) => void told.push(`${type} ${"step" in event ? event.step : ""}`));
  let result: unknown;
  void engine.start(flow, undefined, { id: "r" }).then(async () => {
    result = await engine.result("r");
  });
  await clock.advance(60_000);
  const journal = (await events(inner, "r")).map(({ kind, step }) => `${kind} ${step}`);
  const row = await inner.read("r");
  const violations = await checkInvariants(inner, { calls: [] });
  await engine.close();
  return { journal, told, result, usage: row?.usage, stepsDone: row?.stepsDone, violations, store };
}

describe("a transaction that fails and lands just before the next attempt", () => {
  it.each([[["a"]], [["a", "b", "c"]]])("is done once, whichever attempt that is (%j)", async (steps) => {
    const clock = createFakeClock();
    const { store: inner, rows } = createLedgerStore(1, clock);
    const faults = [{ method: "transaction", call: 1, fault: { kind: "fail-late" } }] as const;
    const store = createFaultyStore(inner, { clock, faults });
    const booking = workflow("booking", async (ctx) => {
      const book = (step: string) =>
        ctx.transaction(step, (sql) => {
          sql.run("insert", ctx.runId, step);
          return `${step} booked`;
        });
      return Promise.all(steps.map(book));
    });
    const engine = createEngine({ store, workflows: [booking], clock, ids: seededIds(1) });
    void engine.start(booking, undefined, { id: "r" });
    await clock.advance(60_000);
    expect(rows.map(({ step }) => step).sort()).toEqual(steps);
    expect(await engine.result("r")).toEqual(steps.map((step) => `${step} booked`));
    expect(await checkInvariants(inner, { calls: [], effectRows: rows })).toEqual([]);
    await engine.close();
  });
});

describe("an append that fails", () => {
  it.each(["fail", "fail-after", "fail-late"] as const)(
    "and lands as with %s is one entry, told once and counted once",
    async (kind) => {
      const whole = await run(undefined, 0);
      expect(whole).toMatchObject({ result: 3, usage: { tokens: 13, costUsd: 0.75 }, stepsDone: 2 });
      for (let nth = 1; nth <= whole.store.calls.append; nth++) {
        const { store, ...found } = await run({ kind }, nth);
        const { store: _, ...wanted } = whole;
        expect(found, `${kind}, append ${nth}`).toEqual(wanted);
        expect(store.calls.append, `append ${nth}`).toBeGreaterThanOrEqual(whole.store.calls.append);
      }
    },
  );

  it("and lands just before the second attempt is found behind the refusal of that one", async () => {
    const clock = createFakeClock();
    const inner = createMemoryStore({ clock });
    const refusals: string[] = [];
    const watched: Store = {
      ...inner,
      append: async (batch) => {
        const results = await inner.append(batch);
        for (const result of results) if (!result.ok) refusals.push(result.reason);
        return results;
      },
    };
    const faults = [{ method: "append", call: 2, fault: { kind: "fail-late" } }] as const;
    const store = createFaultyStore(watched, { clock, faults });
    const engine = createEngine({ store, workflows: [flow], clock, ids: seededIds(1) });
    void engine.start(flow, undefined, { id: "r" });
    await clock.advance(60_000);
    expect(await inner.read("r")).toMatchObject({ status: "completed" });
    expect(refusals).toHaveLength(1);
    expect((await events(inner, "r")).filter(({ kind }) => kind === "run_claimed")).toHaveLength(1);
    await engine.close();
  });
});

describe("a run that the store will not take, while it takes others", () => {
  /** Takes nothing that has to do with `bad` once `refuses` is set, and nothing else in the same flush. */
  async function lab(refuses: { now: boolean }, bad: (id: string, text: string) => boolean) {
    const clock = createFakeClock();
    const inner = createMemoryStore({ clock });
    const flushes: number[] = [];
    const store: Store = {
      ...inner,
      append: async (batch) => {
        flushes.push(batch.length);
        const isBad = batch.some(({ run: one, entries }) =>
          bad(one.id, entries.map(({ data }) => data).join()),
        );
        if (refuses.now && isBad) throw new Error("item too large");
        return inner.append(batch);
      },
    };
    return { clock, inner, store, flushes };
  }

  const steps = workflow("steps", async (ctx, text: string) => {
    for (let n = 0; n < 5; n++) await ctx.step(`s${n}`, () => `${text} ${n}`);
    return text;
  });

  it("holds up nobody else, says what is not saved, and waits for review with the reason", async () => {
    const { clock, inner, store } = await lab(
      { now: true },
      (id, text) => id === "bad" && text.includes("huge 2"),
    );
    const engine = createEngine({ store, workflows: [steps], clock, ids: seededIds(1) });
    for (const id of ["a", "bad", "b", "c"])
      void engine.start(steps, id === "bad" ? "huge" : id, { id }).catch(() => undefined);
    await clock.advance(5_000);
    for (const id of ["a", "b", "c"]) expect(await inner.read(id)).toMatchObject({ status: "completed" });
    expect(engine.health()).toMatchObject({ store: { state: "ok" }, runs: [{ runId: "bad" }] });
    await clock.advance(120_000);
    expect(await inner.read("bad")).toMatchObject({
      status: "waiting",
      waiting: [{ kind: "review", detail: expect.stringMatching(/^HF-2177 .*item too large/) }],
    });
    await engine.close();
  });

  it("goes on by itself when the store takes it after all, and nothing is done twice", async () => {
    const refuses = { now: true };
    const { clock, inner, store } = await lab(refuses, (id, text) => id === "bad" && text.includes("huge 2"));
    const engine = createEngine({ store, workflows: [steps], clock, ids: seededIds(1) });
    for (const id of ["a", "bad"]) void engine.start(steps, id === "bad" ? "huge" : id, { id });
    await clock.advance(10_000);
    refuses.now = false;
    await clock.advance(5_000);
    expect(await inner.read("bad")).toMatchObject({ status: "completed", stepsDone: 5, recoveries: 0 });
    expect(await checkInvariants(inner, { calls: [] })).toEqual([]);
    await engine.close();
  });

  it("is not looked for one by one while the store takes no writes at all", async () => {
    const refuses = { now: false };
    const { clock, inner, store, flushes } = await lab(refuses, () => true);
    const slow = workflow("slow", async (ctx) => {
      await ctx.sleep("nap", 100);
      return ctx.step("s", () => 1);
    });
    const engine = createEngine({ store, workflows: [slow], clock, ids: seededIds(1) });
    for (let n = 0; n < 200; n++) void engine.start(slow, undefined, { id: `r${n}` });
    await clock.advance(50);
    refuses.now = true;
    flushes.length = 0;
    await clock.advance(30_000);
    expect(flushes.length).toBeLessThanOrEqual(60);
    refuses.now = false;
    flushes.length = 0;
    await clock.advance(5_000);
    expect(flushes.length).toBeLessThanOrEqual(20);
    const { runs } = await inner.list({ limit: 500, status: ["completed"] });
    expect(runs).toHaveLength(200);
    await engine.close();
  });
});
