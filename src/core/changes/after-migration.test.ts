import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../test/support/lab.ts";
import { testKeyring } from "../../../test/support/sealed.ts";
import { type Context, type Engine, type Migration, type Workflow, workflow } from "../../index.ts";
import { sealStore } from "../../security/index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import type { RunRow } from "../types.ts";

const gateOf = (ctx: Context, name = "ok") => ctx.gate(name, { choices: ["yes"] });
const keyed = { effect: "keyed" } as const;
const version = (of: string, migrations: readonly Migration[], body: (ctx: Context) => unknown) =>
  workflow("flow", { version: of, migrations }, body) as Workflow;
const row = async (lab: Lab, id = "r"): Promise<RunRow> => (await lab.store.read(id)) as RunRow;

async function begun(lab: Lab, flow: Workflow, ids: readonly string[] = ["r"]): Promise<void> {
  const engine = lab.engine([flow]);
  for (const id of ids) await lab.drive(engine.start(flow, undefined, { id }));
  for (const id of ids) await lab.drive(engine.settled(id));
  await lab.drive(engine.close());
}

const pays =
  (pay: string, calls: string[]) =>
  async (ctx: Context): Promise<unknown> => {
    await ctx.checkpoint("start");
    await ctx.step(pay, () => calls.push(pay), keyed);
    ctx.memory.set("total", 5);
    await ctx.checkpoint("paid");
    await gateOf(ctx);
    return ctx.memory.get("total");
  };
const rename: Migration = { from: "1", to: "2", rename: { pay: "charge" } };
const cents: Migration = {
  from: "2",
  to: "3",
  state: ({ memory }) => ({ memory: { total: Number(memory["total"]) * 100 } }),
};

describe("a migrated run", () => {
  it("is forked from before and from after its migration, and goes the same way", async () => {
    const lab = createLab();
    const calls: string[] = [];
    await begun(lab, version("1", [], pays("pay", calls)));
    const third = version("3", [rename, cents], pays("charge", calls));
    const engine = lab.engine([third]);
    await lab.drive(engine.migrations.apply("r"));
    const source = await lab.store.entries("r", { from: 1, limit: 1_000 });
    for (const [id, address] of [
      ["old", "r@paid"],
      ["older", "r@start"],
      ["new", "r"],
    ] as const) {
      await lab.drive(engine.fork(address, { id }));
      await lab.drive(engine.settled(id));
      expect(await row(lab, id), id).toMatchObject({ version: "3", waiting: [{ kind: "gate", step: "ok" }] });
      await lab.drive(engine.answer(id, "ok", { choice: "yes" }));
      // The one from the start remembers anew, in the new code.
      expect(await lab.drive(engine.result(id)), id).toBe(id === "older" ? 5 : 500);
    }
    expect(calls).toEqual(["pay"]);
    expect(await lab.store.entries("r", { from: 1, limit: 1_000 })).toEqual(source);
    await lab.crash(engine);
  });

  it("can be read as it was before: the state at each checkpoint is the one of its time", async () => {
    const lab = createLab();
    await begun(lab, version("1", [], pays("pay", [])));
    const engine = lab.engine([version("3", [rename, cents], pays("charge", []))]);
    const before = await engine.checkpoints.show("r@paid");
    await lab.drive(engine.migrations.apply("r"));
    expect(await engine.checkpoints.show("r@paid")).toEqual(before);
    const after = await engine.checkpoints.show("r");
    expect([before.memory, after.memory]).toEqual([{ total: 5 }, { total: 500 }]);
    expect([Object.keys(before.steps), Object.keys(after.steps)]).toEqual([["pay"], ["charge"]]);
    await lab.crash(engine);
  });

  it("is dropped by retention like any other, and its chain still verifies", async () => {
    const lab = createLab();
    await begun(lab, version("1", [], pays("pay", [])));
    const engine = lab.engine([version("3", [rename, cents], pays("charge", []))]);
    await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
    expect(await lab.drive(engine.result("r"))).toBe(500);
    await lab.clock.advance(1_000);
    await lab.drive(engine.retention.prune({ maxAge: 1 }));
    expect((await row(lab)).prunedAt).not.toBeNull();
    expect(await lab.drive(engine.checkpoints.validate("r"))).toMatchObject({ ok: true });
    await lab.crash(engine);
  });
});

it("a run that waits for a migration is exported and imported, and goes on where there is one", async () => {
  const lab = createLab();
  const calls: string[] = [];
  await begun(lab, version("1", [], pays("pay", calls)));
  const stuck = lab.engine([version("3", [], pays("charge", calls))]);
  await lab.drive(stuck.answer("r", "ok", { choice: "yes" }));
  await lab.clock.advance(60_000);
  expect(await row(lab)).toMatchObject({ waiting: [{ kind: "migration" }] });
  const there = createLab(createMemoryStore({ clock: lab.clock }));
  const able = version("3", [rename, cents], pays("charge", calls));
  const target = createLabOn(lab, there);
  const arriving = target.engine([able], { execute: false });
  await lab.drive(arriving.transfer.importRuns(stuck.transfer.exportRun("r"), { accept: { actor: "ops" } }));
  expect(await row(target)).toMatchObject({ version: "1", waiting: [{ kind: "migration" }] });
  const engine = target.engine([able]);
  await lab.drive(engine.recover());
  // What was answered elsewhere, and nothing had come of, is asked again here.
  await lab.clock.advance(60_000);
  await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
  expect(await lab.drive(engine.result("r"))).toBe(500);
  expect(calls).toEqual(["pay"]);
  await Promise.all([lab.crash(stuck), lab.crash(engine)]);
});

/** The same clock, another store. */
const createLabOn = (lab: Lab, { store }: Lab): Lab => ({
  ...lab,
  store,
  engine: (workflows, options = {}) => lab.engine(workflows, { store, ...options }),
});

describe("in a sealed store", () => {
  const NAME = "Ada Lovelace of 12 Square";

  async function sealedLab(): Promise<{ lab: Lab; raw: () => Promise<string>; keys: string[] }> {
    const clock = createFakeClock();
    const inner = createMemoryStore({ clock });
    const keyring = testKeyring("k1");
    const store = await sealStore(inner, { keyring, keysInMemory: 1 });
    const lab = createLab(store);
    const raw = async (): Promise<string> => {
      const { runs } = await inner.list({ limit: 100 });
      const entries = await Promise.all(runs.map(({ id }) => inner.entries(id, { from: 1, limit: 1_000 })));
      return JSON.stringify([runs, entries]);
    };
    return { lab, raw, keys: keyring.names };
  }

  const named = (pay: string) => async (ctx: Context) => {
    ctx.memory.set("name", NAME);
    await ctx.step(pay, () => NAME, keyed);
    await gateOf(ctx);
    return ctx.memory.get("name");
  };

  it("a migration reads and writes values, and none of them is stored in the open", async () => {
    const { lab, raw } = await sealedLab();
    await begun(lab, version("1", [], named("pay")));
    const state: Migration["state"] = ({ memory }) => ({
      memory: { name: `${String(memory["name"])}, moved` },
    });
    const engine = lab.engine([version("2", [{ ...rename, state }], named("charge"))]);
    const { runs } = await lab.drive(engine.migrations.check("r"));
    expect(runs).toMatchObject([
      { outcome: "migrates", next: "waits", changes: [{ after: `${NAME}, moved` }] },
    ]);
    await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
    expect(await lab.drive(engine.result("r"))).toBe(`${NAME}, moved`);
    expect(await raw()).not.toContain("Lovelace");
    await lab.crash(engine);
  });

  it("a migration or code that fails says what kind of error it was, and no value", async () => {
    for (const [code, told] of [
      [
        version(
          "2",
          [
            {
              ...rename,
              state: ({ memory }) => Promise.reject(new TypeError(`bad: ${String(memory["name"])}`)),
            },
          ],
          named("charge"),
        ),
        "failed: TypeError",
      ],
      [
        version("1", [], (ctx) =>
          Promise.reject(new RangeError(`bad: ${String(ctx.memory.get("name") ?? NAME)}`)),
        ),
        "recorded: RangeError",
      ],
    ] as const) {
      const { lab, raw } = await sealedLab();
      await begun(lab, version("1", [], named("pay")));
      const engine = lab.engine([code]);
      await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
      await lab.drive(engine.settled("r"));
      const { waiting } = await row(lab);
      expect(waiting).toMatchObject([{ kind: "migration", detail: expect.stringContaining(told) as string }]);
      expect(await raw()).not.toContain("Lovelace");
      await lab.crash(engine);
    }
  });

  it("a run whose key is away is told apart in a dry run, and the others are looked at", async () => {
    const { lab, keys } = await sealedLab();
    await begun(lab, version("1", [], named("pay")), ["a"]);
    keys.unshift("k2");
    await begun(lab, version("1", [], named("pay")), ["b"]);
    keys.splice(keys.indexOf("k1"), 1);
    const engine = lab.engine([version("2", [rename], named("charge"))], { execute: false });
    const { runs } = await lab.drive(engine.migrations.check());
    expect(runs.toSorted((one, other) => (one.runId < other.runId ? -1 : 1))).toMatchObject([
      { runId: "a", outcome: "parks", problem: expect.stringMatching(/^HF-303\d/) as string },
      { runId: "b", outcome: "migrates", next: "waits" },
    ]);
  });
});

describe("what a person can do with a run that no migration leads on", () => {
  async function stuck(calls: string[]): Promise<{ lab: Lab; engine: Engine }> {
    const lab = createLab();
    await begun(lab, version("1", [], pays("pay", calls)));
    const engine = lab.engine([version("2", [], pays("charge", calls))]);
    await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
    await lab.clock.advance(60_000);
    expect(await row(lab)).toMatchObject({ version: "1", waiting: [{ kind: "migration" }] });
    return { lab, engine };
  }

  it("look at it: what it has, and what the code would make of it", async () => {
    const { lab, engine } = await stuck([]);
    expect((await engine.checkpoints.show("r")).memory).toEqual({ total: 5 });
    const { runs } = await lab.drive(engine.migrations.check("r"));
    expect(runs).toMatchObject([{ outcome: "parks", next: "parks", at: ["charge"], missing: ["pay"] }]);
    expect(JSON.stringify(await lab.drive(engine.status("r")))).toContain("migration");
    await lab.crash(engine);
  });

  it("fork its beginning and go on as it is, with what the new code does under new names", async () => {
    const calls: string[] = [];
    const { lab, engine } = await stuck(calls);
    const before = await lab.store.entries("r", { from: 1, limit: 1_000 });
    await lab.drive(engine.fork("r@start", { id: "fresh" }));
    await lab.clock.advance(60_000);
    expect(await row(lab, "fresh")).toMatchObject({ version: "1", waiting: [{ kind: "migration" }] });
    await lab.drive(engine.migrations.asIs("fresh", { actor: "ada", reason: "small enough to do again" }));
    await lab.drive(engine.settled("fresh"));
    expect(await row(lab, "fresh")).toMatchObject({ version: "2", waiting: [{ kind: "gate" }] });
    // Under its new name the source has not done it.
    expect(calls).toEqual(["pay", "charge"]);
    expect(await lab.store.entries("r", { from: 1, limit: 1_000 })).toEqual(before);
    expect(await row(lab)).toMatchObject({ version: "1", waiting: [{ kind: "migration" }] });
    await lab.crash(engine);
  });

  it("start afresh with what it was given: the old run stays as it is", async () => {
    const { lab, engine } = await stuck([]);
    const { input } = await engine.checkpoints.show("r");
    const before = await row(lab);
    await lab.drive(engine.start(version("2", [], pays("charge", [])), input, { id: "fresh" }));
    await lab.drive(engine.settled("fresh"));
    expect(await row(lab, "fresh")).toMatchObject({ version: "2", waiting: [{ kind: "gate" }] });
    expect(await row(lab)).toEqual(before);
    await lab.crash(engine);
  });

  it("nothing of that happens by itself, however long it takes", async () => {
    const calls: string[] = [];
    const { lab, engine } = await stuck(calls);
    const { seq } = await row(lab);
    await lab.clock.advance(3_600_000);
    expect((await row(lab)).seq).toBe(seq);
    expect((await lab.store.list({ limit: 10 })).runs).toHaveLength(1);
    expect(calls).toEqual(["pay"]);
    await lab.crash(engine);
  });

  it("cancel it", async () => {
    const { lab, engine } = await stuck([]);
    await lab.drive(engine.cancel("r", { actor: "ada" }));
    expect(await lab.drive(engine.settled("r"))).toMatchObject({ status: "cancelled" });
    await lab.crash(engine);
  });
});

it("a child of another version waits by itself, and its parent for it, until there is a migration", async () => {
  const lab = createLab();
  const calls: string[] = [];
  const child = (of: string, migrations: readonly Migration[], name: string) =>
    workflow("child", { version: of, migrations }, async (ctx) => {
      await ctx.step(name, () => calls.push(name), keyed);
      await gateOf(ctx);
      return "told";
    }) as Workflow;
  const parent = (below: Workflow) => version("1", [], (ctx) => ctx.child("below", below, undefined));
  const first = child("1", [], "pay");
  const old = lab.engine([parent(first), first]);
  await lab.drive(old.start(parent(first), undefined, { id: "r" }));
  await lab.drive(old.settled("r"));
  await lab.drive(old.close());
  const second = child("2", [], "charge");
  const engine = lab.engine([parent(second), second]);
  const id = (await row(lab)).waiting[0]?.detail ?? "";
  await lab.drive(engine.answer(id, "ok", { choice: "yes" }));
  await lab.clock.advance(60_000);
  expect(await row(lab, id)).toMatchObject({ version: "1", waiting: [{ kind: "migration" }] });
  expect(await row(lab)).toMatchObject({ status: "waiting", waiting: [{ kind: "child", detail: id }] });
  engine.register(child("2", [rename], "charge") as Workflow<never, unknown>);
  await lab.clock.advance(5_000);
  expect(await lab.drive(engine.result("r"))).toBe("told");
  expect(calls).toEqual(["pay"]);
  await lab.crash(engine);
});

it("an agent's migration gives completed subtasks the progress that version 1.0 did not keep (S0-36)", async () => {
  const lab = createLab();
  const SUBTASKS = ["fundamentals", "filings", "peers", "valuation"];
  const analysis = (of: string, migrations: readonly Migration[], stopsIn?: string) =>
    version(of, migrations, async (ctx) => {
      for (const subtask of SUBTASKS) {
        await ctx.step(subtask, () => (subtask === stopsIn ? hangs() : subtask));
        const key = of === "1.0" ? "completed_subtasks" : "subtask_progress";
        if (of === "1.0") ctx.memory.set(key, [...(ctx.memory.get<string[]>(key) ?? []), subtask]);
        else ctx.memory.set(key, { ...ctx.memory.get<object>(key), [subtask]: 1.0 });
      }
      return ctx.memory.get("subtask_progress");
    });
  const migrateV10ToV11: Migration = {
    from: "1.0",
    to: "1.1",
    state: ({ memory }) => {
      const completed = (memory["completed_subtasks"] ?? []) as string[];
      return { memory: { subtask_progress: Object.fromEntries(completed.map((one) => [one, 1.0])) } };
    },
  };
  const first = lab.engine([analysis("1.0", [], "peers")]);
  await lab.drive(first.start(analysis("1.0", [], "peers"), undefined, { id: "r" }));
  await lab.clock.advance(1_000);
  await lab.crash(first);
  await lab.clock.advance(30_000);
  const second = analysis("1.1", [migrateV10ToV11]);
  const engine = lab.engine([second]);
  const { runs } = await lab.drive(engine.migrations.check("r"));
  expect(runs).toMatchObject([
    {
      outcome: "migrates",
      changes: [{ name: "subtask_progress", after: { fundamentals: 1, filings: 1 } }],
      at: ["peers"],
    },
  ]);
  await lab.drive(engine.recover());
  expect(await lab.drive(engine.result("r"))).toEqual({
    fundamentals: 1,
    filings: 1,
    peers: 1,
    valuation: 1,
  });
  await lab.crash(engine);
});
