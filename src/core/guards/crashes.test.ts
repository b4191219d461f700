import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../test/support/lab.ts";
import { type Engine, type Policy, type Run, workflow } from "../../index.ts";
import { parseEntry } from "../journal/journal.ts";
import type { Store } from "../store/contract.ts";
import type { ContentVerdict } from "./content.ts";

/** The store as a process sees it that dies at its `n`th write, just before it or just after. */
function dyingStore(store: Store, n: number, isAfter: boolean): { store: Store; writes: () => number } {
  let writes = 0;
  const append: Store["append"] = async (batch) => {
    writes++;
    if (writes > n || (writes === n && !isAfter)) return hangs();
    const results = await store.append(batch);
    return writes >= n ? hangs() : results;
  };
  const proxy = new Proxy(store, {
    get: (target, key) => {
      if (key === "append") return append;
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { store: proxy, writes: () => writes };
}

/** A run that meets every guard: a budget, a policy that asks, a check that quarantines. */
function guarded() {
  const calls: string[] = [];
  const flow = workflow("guarded", { budget: { tokens: 200, turns: 2 } }, async (ctx) => {
    const page = await ctx.step("fetch", () => (ctx.usage({ tokens: 100 }), "page"));
    const { payload } = await ctx.signal("mail");
    const paid = await ctx.step("pay", ({ attempt }) => (calls.push(`pay ${attempt}`), "paid"), {
      effect: "once",
      input: 5,
    });
    const refused = await ctx
      .step("refund", () => (calls.push("refund"), "refunded"), { effect: "once", input: 6 })
      .catch((error: Error) => error.message);
    await ctx.step("use", () => ctx.usage({ tokens: 100 }));
    const loop = await ctx.loop("agent", { n: 0 }, async (state, turn) => {
      state.n += await ctx.step("act", () => 1);
      return turn.index === 3 ? turn.done() : undefined;
    });
    return { page: typeof page, payload, paid, refused, loop };
  });
  const policy: Policy = {
    version: "1",
    decide: ({ effect }) => (effect === "once" ? { ask: "money" } : "allow"),
  };
  const contentCheck = ({ name }: { name: string }): ContentVerdict =>
    name === "mail" ? { quarantine: "spam" } : "allow";
  return { flow, calls, options: { policy, contentCheck } };
}

/** What a person does about a run that waits. */
async function attend(engine: Engine, { id, waiting: [wait] }: Run): Promise<unknown> {
  const step = wait?.step ?? "";
  switch (wait?.kind) {
    case "gate":
      return engine.answer(id, step, { choice: step.includes("refund") ? "deny" : "approve", actor: "ada" });
    case "signal":
      return engine.signal(id, "mail", "buy!", { id: "one" });
    case "decision":
      return engine.resolve(id, step, { action: "done", value: "paid" });
    default:
      return engine.resume(id, { budget: { tokens: 9_000, turns: 9 } });
  }
}

async function approvals(lab: Lab, runId: string): Promise<string[]> {
  const entries = await lab.store.entries(runId, { from: 1, limit: 1_000 });
  const events = entries.flatMap((entry) => parseEntry(runId, entry).events);
  return events.flatMap((event) =>
    event.kind === "gate_answered" && event.meta.choice === "approve" ? [event.step] : [],
  );
}

async function crashAt(n: number, isAfter: boolean): Promise<number> {
  const lab = createLab();
  const { flow, calls, options } = guarded();
  const dying = dyingStore(lab.store, n, isAfter);
  const engine = lab.engine([flow], { ...options, store: dying.store });
  const living = lab.engine([], { execute: false });
  engine.start(flow, undefined, { id: "r" }).catch(() => undefined);
  // The person works from a process of their own, while the other one lives.
  for (let turn = 0; turn < 30; turn++) {
    await lab.clock.advance(500);
    const run = await living.get("r");
    if (run?.status === "waiting") await lab.drive(attend(living, run));
  }
  await lab.crash(engine);
  await lab.clock.advance(20_000);
  const next = lab.engine([flow], options);
  if (!(await next.get("r"))) await lab.drive(next.start(flow, undefined, { id: "r" }));
  await lab.drive(next.recover());
  let run = await lab.drive(next.settled("r"));
  for (let turn = 0; turn < 40 && run.status === "waiting"; turn++) {
    await lab.drive(attend(next, run));
    run = await lab.drive(next.settled("r"));
  }
  expect(run.status).toBe("completed");
  expect(await lab.drive(next.result("r"))).toEqual({
    page: "string",
    payload: { quarantined: "spam" },
    paid: "paid",
    refused: expect.stringContaining("may not run"),
    loop: { n: 4 },
  });
  expect(calls.length).toBeLessThanOrEqual(1);
  expect((await approvals(lab, "r")).length).toBeGreaterThanOrEqual(calls.length);
  expect(run.turns).toBe(4);
  await lab.drive(next.close());
  return dying.writes();
}

describe("a process that dies at any of its writes", () => {
  for (const isAfter of [false, true])
    it(`leaves a guarded run that goes on as if nothing had happened, ${isAfter ? "after" : "before"} the write`, async () => {
      let last = 0;
      for (let n = 1; n === 1 || last >= n - 1; n++) last = await crashAt(n, isAfter);
      expect(last).toBeGreaterThan(10);
    });
});
