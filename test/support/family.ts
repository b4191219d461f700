import { isCheckpoint } from "../../src/core/journal/address.ts";
import type { JournalEvent } from "../../src/core/journal/events.ts";
import { parseEntry } from "../../src/core/journal/journal.ts";
import { loadRun } from "../../src/core/journal/load.ts";
import { stateDigest, viewState } from "../../src/core/journal/state-view.ts";
import { Values } from "../../src/core/journal/values.ts";
import { silentLogger } from "../../src/core/logger.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { type Engine, type Run, workflow } from "../../src/index.ts";
import type { Lab } from "./lab.ts";

const LARGE = "x".repeat(20_000);

/** A run, its children and theirs, with everything a run can hold; and a list of the calls that had effects. */
export function family(lab: Lab) {
  const calls: string[] = [];
  // Calls take time, so that every moment differs.
  const later = <T>(ms: number, value: T): Promise<T> =>
    new Promise((resolve) => lab.clock.setTimer(() => resolve(value), ms));
  const effect = (step: string) => () => {
    calls.push(step);
    return later(7, `${step} done`);
  };
  const grandchild = workflow("grandchild", async (ctx, n: number) => {
    const first = await ctx.step("note", () => later(5, n + 1));
    const paid = await ctx.step("pay", effect(`grandchild ${n} pay`), { effect: "once", input: { n } });
    return `${first} ${paid}`;
  });
  const child = workflow("child", async (ctx, n: number) => {
    ctx.memory.set("n", n);
    const sent = await ctx.step("send", effect(`child ${n} send`), { effect: "keyed", input: n });
    const below = await ctx.child("below", grandchild, n * 10);
    const size = await ctx.step("after", () => later(3, LARGE));
    return [sent, below, ctx.memory.get("n"), size.length];
  });
  const root = workflow("root", async (ctx, input: { start: number }) => {
    ctx.memory.set("big", LARGE);
    const names = await ctx.each("items", [1, 2], (n) => later(n, `${n}:${LARGE.slice(0, 9_000)}`));
    const answer = await ctx.gate("agree", { show: names.length, choices: ["yes", "no"] });
    const state = await ctx.loop("turns", { n: input.start, log: [] as string[] }, async (draft, turn) => {
      const lines = Array.from({ length: 6 }, () => `${draft.n} ${"y".repeat(900)}`);
      draft.log.push(...(await ctx.step("think", () => lines)));
      draft.log.push(await ctx.step("write", () => `${draft.n} ${LARGE.slice(0, 2_000)}`));
      draft.log.push(await ctx.step("act", effect(`root act ${turn.index}`), { effect: "once" }));
      draft.n++;
      ctx.memory.set("turn", turn.index);
      return turn.index === 7 ? turn.done() : undefined;
    });
    const [one, two] = await ctx.all("both", [
      () => ctx.child("one", child, 1),
      () => ctx.child("two", child, 2),
    ]);
    const last = await ctx.step("finish", effect("root finish"), { effect: "keyed" });
    const turn = ctx.memory.get("turn");
    return { answer: answer.choice, n: state.n, lines: state.log.length, one, two, last, turn };
  });
  return { root, child, grandchild, calls, flows: [root, child, grandchild] };
}

export const valuesOf = (store: Store): Values =>
  new Values(store, { valueBytes: Infinity, warnBytes: Infinity }, silentLogger);

export async function eventsOf(store: Store, runId: string): Promise<JournalEvent[]> {
  const entries = await store.entries(runId, { from: 1, limit: 10_000 });
  return entries.flatMap((entry) => parseEntry(runId, entry).events);
}

export async function digestAt(store: Store, runId: string, seq?: number): Promise<string> {
  const row = await store.read(runId);
  if (!row) throw new Error(`there is no run ${runId}`);
  const state = await loadRun(store, valuesOf(store), row, seq);
  return stateDigest(await viewState(valuesOf(store), runId, state), state);
}

export const checkpointsOf = async (store: Store, runId: string): Promise<number[]> =>
  (await eventsOf(store, runId)).filter(isCheckpoint).map(({ seq }) => seq);

/** Answers yes to every gate until the run is at rest. */
export async function settle(lab: Lab, engine: Engine, runId: string): Promise<Run> {
  for (;;) {
    const run = await lab.drive(engine.settled(runId));
    const gate = run.waiting.find((wait) => wait.kind === "gate");
    if (gate) await lab.drive(engine.answer(runId, gate.step, { choice: "yes" }));
    else if (run.waiting.some((wait) => wait.kind === "child")) await lab.clock.advance(1_000);
    else return run;
  }
}
