import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab, signalled } from "../../../test/support/lab.ts";
import {
  type Context,
  type Engine,
  type Migration,
  type Workflow,
  type WorkflowOptions,
  workflow,
} from "../../index.ts";
import { parseEntry } from "../journal/journal.ts";
import type { RunRow } from "../types.ts";

const gate = (ctx: Context, name = "ok") => ctx.gate(name, { choices: ["yes"] });
const keyed = { effect: "keyed" } as const;

const flow = (body: (ctx: Context) => unknown, options: WorkflowOptions = {}): Workflow =>
  workflow("flow", options, body) as Workflow;

const first = flow(async (ctx) => {
  await ctx.step("pay", () => 1, keyed);
  await ctx.step("greet", () => "hello");
  ctx.memory.set("sum", 1);
  await gate(ctx);
});

const migration: Migration = {
  from: "1",
  to: "2",
  rename: { pay: "charge", ok: "agree", other: "another" },
  drop: ["greet", "nothing"],
  state: ({ memory, steps }) => ({
    memory: { total: [memory["sum"]], sum: undefined, gone: undefined },
    steps: { charge: steps["charge"] },
  }),
};

const second = flow(
  async (ctx) => {
    await ctx.step("charge", () => expect.unreachable(), keyed);
    await gate(ctx, "agree");
    return ctx.memory.get("total");
  },
  { version: "2", migrations: [migration] },
);

async function begin(lab: Lab, ids: readonly string[], code = first): Promise<void> {
  const engine = lab.engine([code]);
  for (const id of ids) await lab.drive(engine.start(code, undefined, { id }));
  for (const id of ids) await lab.drive(engine.settled(id));
  await lab.drive(engine.close());
}

/** Everything stored, so that it can be compared. */
async function everything(lab: Lab): Promise<unknown> {
  const { runs } = await lab.store.list({ limit: 100 });
  return Promise.all(
    runs.map(async (row) => [row, await lab.store.entries(row.id, { from: 1, limit: 1_000 })]),
  );
}

const idle = (lab: Lab, code: Workflow): Engine => lab.engine([code], { execute: false });

const row = async (lab: Lab, id: string): Promise<RunRow> => (await lab.store.read(id)) as RunRow;

describe("a dry run", () => {
  it("says what becomes of each run, and changes nothing", async () => {
    const lab = createLab();
    await begin(lab, ["a"]);
    await begin(lab, ["b"], second);
    await begin(lab, ["c"], flow(gate, { version: "0" }));
    const before = await everything(lab);
    const report = await lab.drive(idle(lab, second).migrations.check());
    expect(report.totals).toEqual({ current: 1, migrates: 1, parks: 1 });
    expect(report.runs.toSorted((x, y) => (x.runId < y.runId ? -1 : 1))).toEqual([
      {
        runId: "a",
        workflow: "flow",
        status: "waiting",
        from: "1",
        to: "2",
        outcome: "migrates",
        hops: ["2"],
        changes: [
          { what: "memory", name: "total", before: undefined, after: [1] },
          { what: "memory", name: "sum", before: 1, after: undefined },
        ],
        renamed: { pay: "charge", ok: "agree" },
        dropped: ["greet"],
        applied: false,
        next: "waits",
        at: ["agree"],
        missing: [],
      },
      expect.objectContaining({ runId: "b", from: "2", to: "2", outcome: "current", hops: [], changes: [] }),
      expect.objectContaining({
        runId: "c",
        outcome: "parks",
        problem: expect.stringContaining("HF-2114 Run c belongs to version 0") as string,
      }),
    ]);
    expect(await everything(lab)).toEqual(before);
  });

  it("looks at runs of all statuses that may still go on, of the workflows that are known", async () => {
    const lab = createLab();
    await begin(
      lab,
      ["failed"],
      flow(() => Promise.reject(new Error("no"))),
    );
    await begin(
      lab,
      ["done"],
      flow(() => 1),
    );
    await begin(lab, ["waiting", "paused", "cancelled"]);
    const engine = idle(lab, second);
    await lab.drive(engine.pause("paused"));
    await lab.drive(engine.cancel("cancelled"));
    const other = workflow("other", () => 1) as Workflow;
    await lab.drive(idle(lab, other).start(other, undefined, { id: "queued" }));
    const ids = async (which?: { workflow?: string; limit?: number }) =>
      (await lab.drive(engine.migrations.check(which))).runs.map(({ runId }) => runId).sort();
    expect(await ids()).toEqual(["failed", "paused", "waiting"]);
    engine.register(other);
    expect(await ids()).toEqual(["failed", "paused", "queued", "waiting"]);
    expect(await ids({ workflow: "other" })).toEqual(["queued"]);
    const limited = (limit: number) => lab.drive(engine.migrations.check({ limit }));
    expect(await limited(2)).toMatchObject({ more: true, runs: { length: 2 } });
    expect(await limited(4)).toMatchObject({ more: false });
  });

  it("goes through more runs than one page holds", async () => {
    const lab = createLab();
    await begin(
      lab,
      Array.from({ length: 230 }, (_, i) => `r${i}`),
      flow(gate),
    );
    const next = flow(gate, { version: "2", migrations: [{ from: "1", to: "2" }] });
    const { totals } = await lab.drive(idle(lab, next).migrations.check());
    expect(totals.migrates).toBe(230);
  });

  it("refuses what it cannot look at", async () => {
    const lab = createLab();
    await begin(
      lab,
      ["done"],
      flow(() => 1),
    );
    const { migrations } = idle(lab, second);
    await expect(migrations.check("nobody")).rejects.toMatchObject({ code: "HF-1001" });
    await expect(migrations.check("no/id")).rejects.toMatchObject({ code: "HF-1004" });
    await expect(migrations.check("done")).rejects.toMatchObject({ code: "HF-1007" });
    await expect(migrations.check({ workflow: "unknown" })).rejects.toMatchObject({ code: "HF-1026" });
    await expect(migrations.check({ limit: 0 })).rejects.toMatchObject({ code: "HF-1003" });
    await expect(migrations.asIs("done")).rejects.toMatchObject({ code: "HF-1007" });
    await expect(migrations.asIs("nobody")).rejects.toMatchObject({ code: "HF-1001" });
  });
});

describe("migrating by hand", () => {
  it("migrates every run that nobody works on, once, and leaves it where it is", async () => {
    const lab = createLab();
    await begin(lab, ["waiting", "paused"]);
    await begin(
      lab,
      ["failed"],
      flow(() => Promise.reject(new Error("no"))),
    );
    const engine = idle(lab, second);
    await lab.drive(engine.pause("paused"));
    const applying = engine.migrations.apply({}, { actor: "ada", reason: "deploy 7" });
    const { runs } = await lab.drive(applying);
    expect(runs.map(({ runId, applied }) => `${runId} ${applied}`).sort()).toEqual([
      "failed true",
      "paused true",
      "waiting true",
    ]);
    for (const status of ["waiting", "paused", "failed"])
      expect(await row(lab, status)).toMatchObject({ status, version: "2" });
    const [entry] = await lab.store.entries("paused", { from: (await row(lab, "paused")).seq, limit: 1 });
    expect(parseEntry("paused", entry as NonNullable<typeof entry>).events[0]).toMatchObject({
      kind: "run_migrated",
      actor: "ada",
      meta: { from: "1", to: "2", reason: "deploy 7" },
    });
    const seq = (await row(lab, "waiting")).seq;
    expect(await engine.migrations.apply({})).toMatchObject({
      totals: { current: 3 },
      runs: [{ applied: false }, {}, {}],
    });
    expect((await row(lab, "waiting")).seq).toBe(seq);
  });

  it("lets a run be answered under the new name of its gate", async () => {
    const lab = createLab();
    await begin(lab, ["r"]);
    const engine = lab.engine([second]);
    await lab.drive(engine.migrations.apply("r"));
    expect((await row(lab, "r")).waiting).toMatchObject([{ kind: "gate", step: "agree" }]);
    await lab.drive(engine.answer("r", "agree", { choice: "yes" }));
    expect(await lab.drive(engine.result("r"))).toEqual([1]);
  });

  it("lets a run go on whose gate is gone", async () => {
    const lab = createLab();
    await begin(lab, ["r"]);
    const open = flow((ctx) => ctx.step("pay", () => expect.unreachable(), keyed), {
      version: "2",
      migrations: [{ from: "1", to: "2", drop: ["ok"] }],
    });
    const engine = lab.engine([open]);
    await lab.drive(engine.migrations.apply("r"));
    expect(await lab.drive(engine.result("r"))).toBe(1);
  });

  it("wakes a run that waits for just that", async () => {
    const lab = createLab();
    await begin(lab, ["r"]);
    const without = lab.engine([flow(() => 1, { version: "2" })]);
    await lab.drive(without.answer("r", "ok", { choice: "yes" }));
    await lab.drive(without.settled("r"));
    await lab.drive(without.close());
    expect((await row(lab, "r")).waiting).toMatchObject([{ kind: "migration" }]);
    await lab.drive(idle(lab, second).migrations.apply("r"));
    expect(await row(lab, "r")).toMatchObject({ status: "queued", wakeAt: 0, waiting: [], version: "2" });
  });

  it("leaves a run to the worker that is at it", async () => {
    const lab = createLab();
    const busy = flow((ctx) => ctx.step("think", hangs));
    const worker = lab.engine([busy]);
    await lab.drive(worker.start(busy, undefined, { id: "r" }));
    await lab.clock.advance(100);
    const { runs } = await idle(lab, second).migrations.apply("r");
    expect(runs).toMatchObject([{ outcome: "migrates", applied: false }]);
    expect(await row(lab, "r")).toMatchObject({ version: "1", status: "running" });
    await lab.crash(worker);
  });

  it("keeps a worker that was away too long from going on with its old code", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const call = signalled<number>();
    const old = flow(async (ctx) => {
      await ctx.step("think", () => call.promise);
      await ctx.step("pay", () => calls.push("pay"), keyed);
    });
    const store = { ...lab.store, renew: () => hangs() };
    const frozen = lab.engine([old], { store, sweepMs: 1_000_000 });
    await lab.drive(frozen.start(old, undefined, { id: "r" }));
    await lab.clock.advance(30_000);
    const code = flow(
      async (ctx) => {
        await ctx.step("consider", () => 1);
        await ctx.step("charge", () => calls.push("charge"), keyed);
      },
      { version: "2", migrations: [{ from: "1", to: "2", rename: { think: "consider", pay: "charge" } }] },
    );
    const engine = idle(lab, code);
    expect((await lab.drive(engine.migrations.apply("r"))).runs).toMatchObject([{ applied: true }]);
    call.resolve(1);
    await lab.clock.advance(5_000);
    expect(calls).toEqual([]);
    const worker = lab.engine([code]);
    await lab.drive(worker.recover());
    await lab.drive(worker.result("r"));
    expect(calls).toEqual(["charge"]);
    await Promise.all([lab.crash(frozen), lab.crash(worker)]);
  });

  it("migrates a run once, however many do it at the same time", async () => {
    const lab = createLab();
    await begin(lab, ["r"]);
    const applying = Array.from({ length: 20 }, () => idle(lab, second).migrations.apply("r"));
    const reports = await lab.drive(Promise.all(applying));
    expect(reports.filter(({ runs }) => runs[0]?.applied)).toHaveLength(1);
    expect(reports.map(({ runs }) => runs[0]?.outcome).filter((one) => one === "current")).toHaveLength(19);
  });
});

describe("going on as it is", () => {
  const other = flow(async (ctx) => (await gate(ctx), "done"), { version: "9", schema: 4 });

  it("makes the run one of the version at hand, with who said so and why", async () => {
    const lab = createLab();
    await begin(lab, ["r"]);
    const engine = lab.engine([other]);
    await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
    expect((await lab.drive(engine.settled("r"))).waiting).toMatchObject([{ kind: "migration" }]);
    const after = await lab.drive(engine.migrations.asIs("r", { actor: "ada", reason: "looked at it" }));
    expect(after).toMatchObject({ version: "9", schema: 4, status: "queued" });
    const [entry] = await lab.store.entries("r", { from: after.seq, limit: 1 });
    expect(parseEntry("r", entry as NonNullable<typeof entry>).events).toMatchObject([
      {
        kind: "run_migrated",
        actor: "ada",
        meta: { from: "1", to: "9", schema: 4, asIs: true, reason: "looked at it" },
      },
    ]);
    expect(await lab.drive(engine.result("r"))).toBe("done");
  });

  it("leaves a paused run paused, and a waiting one where it waits", async () => {
    const lab = createLab();
    await begin(lab, ["paused", "waiting"]);
    const engine = idle(lab, other);
    await lab.drive(engine.pause("paused"));
    expect(await lab.drive(engine.migrations.asIs("paused"))).toMatchObject({
      status: "paused",
      version: "9",
    });
    expect(await lab.drive(engine.migrations.asIs("waiting"))).toMatchObject({
      waiting: [{ kind: "gate" }],
      version: "9",
    });
  });

  it("is refused while a worker with other code is at it, or where the code is not known", async () => {
    const lab = createLab();
    const busy = flow((ctx) => ctx.step("think", hangs));
    const worker = lab.engine([busy]);
    await lab.drive(worker.start(busy, undefined, { id: "r" }));
    await lab.clock.advance(100);
    await expect(idle(lab, other).migrations.asIs("r")).rejects.toMatchObject({ code: "HF-1007" });
    const stranger = idle(lab, workflow("stranger", () => 1) as Workflow);
    await expect(stranger.migrations.asIs("r")).rejects.toMatchObject({ code: "HF-1026" });
    expect(await row(lab, "r")).toMatchObject({ version: "1" });
    await lab.crash(worker);
  });
});
