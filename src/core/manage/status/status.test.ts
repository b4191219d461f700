import { describe, expect, it } from "vitest";
import { createLab, hangs, signalled } from "../../../../test/support/lab.ts";
import { type Context, type Engine, type Run, workflow } from "../../../index.ts";
import { describeRun } from "../../../manage.ts";
import { NO_TAGS } from "../../tags.ts";
import type { Waiting } from "../../types.ts";

const run: Run = {
  id: "r",
  workflow: "flow",
  lineage: "r",
  parent: null,
  origin: null,
  ...NO_TAGS,
  createdAt: 0,
  version: "1",
  schema: 1,
  status: "running",
  control: "none",
  waiting: [],
  wakeAt: 0,
  recoveries: 0,
  stepsDone: 0,
  usage: { tokens: 0, costUsd: 0 },
  turns: 0,
  activeMs: 0,
  activeAt: null,
  budget: null,
  openChildren: 0,
  pinned: false,
  prunedAt: null,
  error: null,
  updatedAt: 5,
  finishedAt: null,
  snapshotSeq: 0,
  claim: { epoch: 1, owner: null, token: null, until: 0 },
  seq: 14,
};

const open = (...steps: string[]) =>
  steps.map((step) => ({ step, type: "call", status: "started", attempt: 1, since: 3 }) as const);

const waiting = (kind: Waiting["kind"], rest: Partial<Waiting> = {}): Run => ({
  ...run,
  status: "waiting",
  waiting: [{ kind, step: "s", since: 0, ...rest }],
});

const headline = (row: Run, details = {}): string => describeRun(row, details).headline;
const can = (row: Run, details = {}): readonly string[] => describeRun(row, details).can;

describe("a run in one sentence", () => {
  it("says that its values are dropped, and offers no resume then (C11)", () => {
    const cleared: Run = { ...run, status: "failed", error: "no", prunedAt: 7 };
    expect(headline(cleared)).toBe("failed: no; its values are dropped");
    expect(can(cleared)).not.toContain("resume");
    expect(can({ ...cleared, prunedAt: null })).toContain("resume");
  });

  it("says what is being done", () => {
    expect(headline(run)).toBe("running");
    expect(headline(run, { open: open("pay") })).toBe("running: pay");
    expect(headline(run, { open: open("a", "a/b", "a/b/c", "d", "e", "f") })).toBe(
      "running: a/b/c, d, e and 1 more",
    );
    expect(headline({ ...run, control: "pausing" }, { open: open("pay") })).toBe("pausing: finishing pay");
    expect(headline({ ...run, control: "compensating" })).toBe("cancelling");
    expect(headline({ ...run, status: "queued" })).toMatch(/^queued/);
    expect(headline(run, { unsavedSince: 14 })).toBe("running; not saved since #14");
  });

  it("says what is waited for", () => {
    expect(headline(waiting("gate", { step: "approve" }))).toBe(
      "waiting for approval at gate approve since 1970-01-01T00:00:00.000Z",
    );
    expect(headline(waiting("decision"))).toBe("waiting for a decision: the outcome of s is unknown");
    expect(headline(waiting("review", { detail: "HF-2108 Recovered." }))).toBe(
      "waiting for review: Recovered.",
    );
    expect(headline(waiting("signal", { names: ["a", "b"] }))).toContain("signal a or b");
    expect(headline(waiting("retry", { until: 0 }))).toBe(
      "waiting to try s again at 1970-01-01T00:00:00.000Z",
    );
    expect(headline(waiting("timer", { until: 0 }))).toBe("waiting at s until 1970-01-01T00:00:00.000Z");
    expect(headline(waiting("child", { detail: "c1" }))).toContain("child run c1");
    expect(headline(waiting("policy", { detail: "HF-2116 s may not run: too late" }))).toBe(
      "waiting: s may not run: too late",
    );
    expect(headline(waiting("policy"))).toBe("waiting: s is not allowed");
    expect(headline(waiting("content"))).toBe("waiting: a value is held back at s");
    expect(headline(waiting("migration", { detail: "1 to 2" }))).toBe("waiting for a migration: 1 to 2");
  });

  it("says which limits are reached", () => {
    const spent = { ...waiting("budget"), usage: { tokens: 1_200, costUsd: 0.5 }, turns: 3, activeMs: 9 };
    const row = { ...spent, budget: { tokens: 1_000, costUsd: 1, turns: 3 } };
    expect(headline(row)).toBe("waiting: budget reached (turns 3 of 3, tokens 1,200 of 1,000)");
    expect(headline(waiting("budget", { detail: "of its parent" }))).toBe(
      "waiting: budget reached (of its parent)",
    );
  });

  it("puts what a person must do first", () => {
    const waits: Waiting[] = [
      { kind: "timer", step: "nap", since: 1, until: 9 },
      { kind: "gate", step: "approve", since: 2 },
    ];
    const row = { ...waiting("gate"), waiting: waits };
    expect(describeRun(row)).toMatchObject({
      headline: expect.stringMatching(/^waiting for approval at gate approve .* \(and 1 more\)$/),
      since: 2,
    });
  });

  it("says how it ended, and why it is paused", () => {
    expect(headline({ ...run, status: "paused", error: "lunch" }, { by: "Ada" })).toBe(
      "paused by Ada: lunch",
    );
    expect(headline({ ...run, status: "paused" })).toBe("paused");
    expect(headline({ ...run, status: "completed" })).toBe("completed");
    expect(headline({ ...run, status: "failed", error: "no money" })).toBe("failed: no money");
    expect(headline({ ...run, status: "cancelled" }, { by: "Ada" })).toBe("cancelled by Ada");
    expect(describeRun({ ...run, status: "completed", finishedAt: 4 }).since).toBe(4);
  });

  it("says what a person can do", () => {
    expect(can(run)).toEqual(["pause", "cancel", "fork", "inject"]);
    expect(can({ ...run, control: "pausing" })).toEqual(["resume", "cancel", "fork", "inject"]);
    expect(can({ ...run, control: "compensating" })).toEqual(["fork", "inject"]);
    expect(can(waiting("gate"))).toEqual(["answer", "pause", "cancel", "fork", "inject"]);
    expect(can(waiting("decision"))).toContain("resolve");
    expect(can(waiting("budget"))).toContain("raise budget");
    expect(can(waiting("migration"))).toContain("migrate");
    expect(can(waiting("review"))).toContain("resume");
    expect(can(waiting("retry"))).toContain("retry");
    expect(can({ ...run, status: "paused" })).toEqual(["resume", "cancel", "fork", "inject"]);
    expect(can({ ...run, status: "failed" })).toEqual(["resume", "cancel", "fork", "inject", "delete"]);
    expect(can({ ...run, status: "failed" }, { undone: true })).toEqual([
      "cancel",
      "fork",
      "inject",
      "delete",
    ]);
    expect(can({ ...run, status: "completed" })).toEqual(["fork", "delete"]);
    expect(can({ ...run, status: "completed", prunedAt: 1 })).toEqual(["delete"]);
  });
});

describe("the status of a run", () => {
  async function at(body: (ctx: Context) => unknown) {
    const lab = createLab();
    const flow = workflow("flow", body);
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    return { lab, engine };
  }
  const said = async (engine: Engine) => (await engine.status("r")).headline;

  it("tells what is under way, and who stopped it", async () => {
    const held = signalled();
    const { lab, engine } = await at(async (ctx) => {
      await ctx.step("pay", () => held.promise);
      await ctx.step("ship", () => 1);
    });
    expect(await engine.status("r")).toMatchObject({
      headline: "running: pay",
      open: [{ step: "pay" }],
      run: { id: "r" },
    });
    await lab.drive(engine.pause("r", { actor: "Ada", reason: "lunch" }));
    expect(await said(engine)).toBe("pausing: finishing pay");
    held.resolve();
    await lab.drive(engine.settled("r"));
    expect(await engine.status("r")).toMatchObject({ headline: "paused by Ada: lunch", open: [] });
    await lab.drive(engine.cancel("r", { actor: "Bob" }));
    expect(await said(engine)).toBe("cancelled by Bob");
  });

  it("tells what it waits for", async () => {
    const { engine } = await at((ctx) => ctx.gate("approve", { choices: ["yes"] }));
    expect(await engine.status("r")).toMatchObject({
      headline: expect.stringContaining("waiting for approval at gate approve since"),
      can: ["answer", "pause", "cancel", "fork", "inject"],
      open: [{ step: "approve", type: "gate" }],
    });
  });

  it("of a run that was undone when it failed does not offer to resume it", async () => {
    const lab = createLab();
    const flow = workflow("flow", { compensateOnFailure: true }, () => {
      throw new Error("broken");
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    expect(await engine.status("r")).toMatchObject({
      headline: "failed: broken",
      can: ["cancel", "fork", "inject", "delete"],
    });
  });

  it("is not told by the row alone when the journal cannot be read (E2)", async () => {
    const { lab } = await at((ctx) => ctx.step("s", hangs));
    const store = {
      ...lab.store,
      entries: async (runId: string, range: Parameters<typeof lab.store.entries>[1]) =>
        (await lab.store.entries(runId, range)).map((entry) => ({ ...entry, head: "{" })),
    };
    const other = lab.engine([], { store, execute: false });
    const { headline, open } = await other.status("r");
    expect([headline, open]).toEqual([expect.stringMatching(/^waiting for review: .* is damaged at #/), []]);
    await expect(other.status("none")).rejects.toThrowError(expect.objectContaining({ code: "HF-1001" }));
  });
});
