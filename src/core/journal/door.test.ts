import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../test/support/lab.ts";
import { type Engine, workflow } from "../../index.ts";
import { childId } from "../ids.ts";
import type { Entry, Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import { buildAct } from "./acts.ts";
import { lastEvent, readRun } from "./door.ts";

type Change = {
  readonly row?: (row: RunRow) => RunRow;
  readonly entries?: (all: readonly Entry[]) => Entry[];
};

/** The store with what it holds of one run changed, as by a bit that fell over or by a hand. */
function changed(store: Store, runId: string, { row = (one) => one, entries }: Change): Store {
  const seen = (one: RunRow): RunRow => (one.id === runId ? row(one) : one);
  return {
    ...store,
    read: async (id) => {
      const found = await store.read(id);
      return found && seen(found);
    },
    list: async (query) => {
      const page = await store.list(query);
      return { ...page, runs: page.runs.map(seen) };
    },
    due: async (query) => (await store.due(query)).map(seen),
    entries: async (id, range) => {
      const all = await store.entries(id, range);
      return id === runId && entries ? entries(all) : all;
    },
  };
}

/** A store that notes what is read of runs. */
function counted(base: Store): { readonly store: Store; readonly asked: string[] } {
  const asked: string[] = [];
  const store: Store = {
    ...base,
    read: (id) => (asked.push("read"), base.read(id)),
    entries: (id, range) => (asked.push(`entries ${range.limit}`), base.entries(id, range)),
  };
  return { store, asked };
}

const damaged = { code: "HF-3010" };
const child = workflow("child", (ctx) => ctx.step("s", () => ({ sum: 7 })));
const parent = workflow("parent", async (ctx) => {
  const { sum } = await ctx.child("c", child, undefined);
  return ctx.step("pay", () => sum);
});
const flows = [parent, child];

describe("a parent", () => {
  const id = childId("p", "c");
  const changes: [string, Change][] = [
    [
      "last entry is missing",
      { entries: (all) => all.filter(({ head }) => !head.includes("run_completed")) },
    ],
    [
      "result is changed",
      {
        entries: (all) => all.map((one) => ({ ...one, data: one.data?.replace("7", "8") ?? null })),
      },
    ],
    [
      "row is completed too early",
      {
        row: (row) => ({ ...row, status: "completed", finishedAt: 1, waiting: [], wakeAt: 0 }),
        entries: (all) => all.filter(({ head }) => !head.includes("run_completed")),
      },
    ],
  ];

  it.each(changes)("whose child's %s waits for review and does nothing with it (E2)", async (_, change) => {
    const lab = createLab();
    const engine = lab.engine(flows, { store: changed(lab.store, id, change) });
    await lab.drive(engine.start(parent, undefined, { id: "p" }));
    const isReview = async (): Promise<boolean> =>
      (await lab.store.read("p"))?.waiting.some(({ kind }) => kind === "review") ?? false;
    for (let n = 0; n < 100 && !(await isReview()); n++) await lab.clock.advance(100);
    const run = await lab.drive(engine.settled("p"));
    expect(run.waiting).toMatchObject([{ kind: "review", detail: expect.stringContaining(id) }]);
    expect(run.stepsDone).toBe(0);
    await lab.drive(engine.resume("p"));
    for (let n = 0; n < 100 && !(await isReview()); n++) await lab.clock.advance(100);
    expect(await isReview()).toBe(true);
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const sound = lab.engine(flows);
    await lab.drive(sound.resume("p"));
    expect(await lab.drive(sound.result("p"))).toBe(7);
  });
});

describe("a completed run", () => {
  const flow = workflow("flow", (ctx) => ctx.step("s", () => 42));

  async function completed(): Promise<{ lab: Lab; run: RunRow }> {
    const lab = createLab();
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    await lab.crash(engine);
    return { lab, run: (await lab.store.read("r")) ?? expect.unreachable() };
  }

  const changes: [string, Change][] = [
    ["last entry is missing", { entries: (all) => all.slice(0, -1) }],
    ["entries are missing", { entries: () => [] }],
    ["row stands further back", { row: (row) => ({ ...row, seq: row.seq - 1 }) }],
    ["row stands further on", { row: (row) => ({ ...row, seq: row.seq + 1 }) }],
    ["head is another", { row: (row) => ({ ...row, head: `${row.head.slice(1)}0` }) }],
    ["last entry is changed", { entries: (all) => all.map((one) => ({ ...one, head: `${one.head} ` })) }],
    ["row is running", { row: (row) => ({ ...row, status: "running" }) }],
    [
      "row is running and looks like it",
      {
        row: (row) => ({ ...row, status: "running", wakeAt: 0, finishedAt: null }),
      },
    ],
    ["row is cancelled", { row: (row) => ({ ...row, status: "cancelled" }) }],
    ["row is failed", { row: (row) => ({ ...row, status: "failed", error: "so it says" }) }],
    ["row is to be undone", { row: (row) => ({ ...row, control: "compensating" }) }],
  ];

  it.each(changes)("whose %s has no result, and waits for review (E2)", async (_, change) => {
    const { lab } = await completed();
    const engine = lab.engine([flow], { store: changed(lab.store, "r", change) });
    await expect(lab.drive(engine.result("r"))).rejects.toMatchObject(damaged);
    const run = await lab.drive(engine.settled("r"));
    expect(run.waiting[0]).toMatchObject({ kind: "review", detail: expect.stringContaining("HF-3010") });
    expect(await lab.drive(engine.get("r"))).toMatchObject({ status: "waiting", damage: expect.any(String) });
    const { headline } = await lab.drive(engine.status("r"));
    expect(headline).toContain("is damaged at");
    for (const act of acts(engine)) await expect(lab.drive(act())).rejects.toMatchObject(damaged);
  });

  const acts = (engine: Engine): (() => Promise<unknown>)[] => [
    () => engine.pause("r"),
    () => engine.resume("r"),
    () => engine.cancel("r"),
    () => engine.signal("r", "s"),
    () => engine.gates("r"),
    () => engine.resolve("r", "s", { action: "rerun" }),
  ];

  it("that is as it was written costs two reads, however long it is", async () => {
    const lab = createLab();
    const long = workflow("long", async (ctx) => {
      for (let n = 0; n < 300; n++) await ctx.step("s", () => n);
    });
    const engine = lab.engine([long]);
    await lab.drive(engine.start(long, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    const { store, asked } = counted(lab.store);
    const row = await readRun(store, "r");
    expect(row?.status).toBe("completed");
    expect(asked).toEqual(["read", "entries 2"]);
    // The entries that were read to verify the row answer the next question, too.
    expect((await lastEvent(store, row as RunRow, ["run_completed"]))?.kind).toBe("run_completed");
    expect(asked).toEqual(["read", "entries 2"]);
  });

  it("takes two reads for a resumed run, too, whose state an earlier entry decided", async () => {
    const lab = createLab();
    const stuck = workflow("stuck", async (ctx) => {
      for (let n = 0; n < 300; n++) await ctx.step("s", () => n);
      throw new Error("stuck");
    });
    const engine = lab.engine([stuck]);
    await lab.drive(engine.start(stuck, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.close());
    const other = lab.engine([], { execute: false });
    await lab.drive(other.checkpoints.mark("r", "before"));
    await lab.drive(other.resume("r"));
    const { store, asked } = counted(lab.store);
    expect((await readRun(store, "r"))?.status).toBe("queued");
    expect(asked).toEqual(["read", "entries 17"]);
  });
});

describe("a run", () => {
  it("that is released in the append in which it begins to wait is as it was written, and continues", async () => {
    const lab = createLab();
    const nap = workflow("nap", async (ctx) => {
      await ctx.sleep("nap", 60_000);
      return "awake";
    });
    const first = lab.engine([nap]);
    await lab.drive(first.start(nap, undefined, { id: "r" }));
    await lab.crash(first);
    // As a worker writes it that is closed while its store is slow.
    const row = (await lab.store.read("r")) as RunRow;
    const { epoch, token } = row.claim;
    const waiting = [{ kind: "timer", step: "nap", since: 1, until: lab.clock.now() + 60_000 }] as const;
    const events = [
      { kind: "run_waiting", step: "", meta: { waiting } },
      { kind: "run_released", step: "", meta: {} },
    ] as const;
    const expected = { epoch, token, seq: row.seq };
    const { append } = buildAct(row, { events, claim: { kind: "release" } }, expected, {
      at: lab.clock.now(),
    });
    expect(await lab.store.append([append])).toEqual([{ ok: true }]);
    expect((await readRun(lab.store, "r"))?.damage).toBeUndefined();
    const next = lab.engine([nap]);
    await lab.drive(next.recover());
    await lab.clock.advance(61_000);
    expect(await lab.drive(next.result("r"))).toBe("awake");
  });
});

describe("a run under way that was looked at before", () => {
  const busy = workflow("busy", async (ctx) => {
    for (let n = 0; n < 100; n++) await ctx.step(`step ${n}`, () => n);
    await ctx.step("last", hangs);
  });

  async function looked(
    change: Change,
  ): Promise<{ before: RunRow | null; after: RunRow | null; asked: number }> {
    const lab = createLab();
    const engine = lab.engine([busy]);
    await lab.drive(engine.start(busy, undefined, { id: "r" }));
    for (let n = 0; n < 100 && (await lab.store.read("r"))?.stepsDone !== 100; n++)
      await lab.clock.advance(10);
    let [now, asked]: [Change, number] = [{}, 0];
    const store = changed(lab.store, "r", {
      row: (row) => now.row?.(row) ?? row,
      entries: (all) => ((asked += all.length), now.entries?.(all) ?? [...all]),
    });
    const before = await readRun(store, "r");
    [now, asked] = [change, 0];
    const after = await readRun(store, "r");
    await lab.crash(engine);
    return { before, after, asked };
  }

  it("is read from there on (E8)", async () => {
    const { before, after, asked } = await looked({});
    expect(after).toEqual(before);
    expect(after?.damage).toBeUndefined();
    expect(asked).toBe(1);
  });

  it.each<[string, Change]>([
    ["row is told to stop", { row: (row) => ({ ...row, control: "pausing" }) }],
    ["row is completed", { row: (row) => ({ ...row, status: "completed", finishedAt: 1, wakeAt: null }) }],
    [
      "row waits",
      { row: (row) => ({ ...row, status: "waiting", waiting: [{ kind: "review", step: "", since: 1 }] }) },
    ],
    ["last entry is changed", { entries: (all) => all.map((one) => ({ ...one, head: `${one.head} ` })) }],
    ["last entry is missing", { entries: () => [] }],
    ["head is another", { row: (row) => ({ ...row, head: `${row.head.slice(1)}0` }) }],
  ])("is damaged when its %s (E2, E8)", async (_, change) => {
    const { before, after } = await looked(change);
    expect(before?.damage).toBeUndefined();
    expect(after?.damage).toEqual(expect.any(String));
  });
});

describe("a run with a status or a control that does not exist, or values dropped before its end", () => {
  it("does not keep anybody waiting (E16)", async () => {
    const rows = [
      { status: "runnin" },
      { control: "nine" },
      { waiting: [{}] },
      { wakeAt: "soon" },
      { prunedAt: 1 },
    ];
    for (const bad of rows) {
      const lab = createLab();
      const flow = workflow("flow", (ctx) => ctx.gate("g", { choices: ["yes"] }));
      const engine = lab.engine([flow]);
      await lab.drive(engine.start(flow, undefined, { id: "r" }));
      await lab.drive(engine.settled("r"));
      await lab.crash(engine);
      const store = changed(lab.store, "r", { row: (row) => ({ ...row, ...bad }) as RunRow });
      const again = lab.engine([flow], { store });
      await expect(lab.drive(again.result("r"))).rejects.toMatchObject(damaged);
      expect((await lab.drive(again.list({ limit: 5 }))).runs).toMatchObject([
        { id: "r", status: "waiting", damage: expect.any(String) },
      ]);
    }
  });
});
