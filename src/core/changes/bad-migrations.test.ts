import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../test/support/lab.ts";
import { type Context, type Engine, type Migration, type Workflow, workflow } from "../../index.ts";
import type { RunRow } from "../types.ts";

const gateOf = (ctx: Context, name = "ok") => ctx.gate(name, { choices: ["yes"] });
const version = (of: string, migrations: readonly Migration[], body: (ctx: Context) => unknown) =>
  workflow("flow", { version: of, migrations }, body) as Workflow;
const keyed = { effect: "keyed" } as const;
const once = { effect: "once" } as const;

const row = async (lab: Lab): Promise<RunRow> => (await lab.store.read("r")) as RunRow;

const everything = async (lab: Lab) => lab.store.entries("r", { from: 1, limit: 1_000 });

const first = version("1", [], async (ctx) => {
  ctx.memory.set("seen", new Set([1]));
  ctx.memory.set("by", new Map([["a", { n: 1 }]]));
  ctx.memory.set("when", new Date(0));
  ctx.memory.set("bytes", new Uint8Array([1, 2]));
  await ctx.step("pay", () => ({ sum: 1 }), keyed);
  await gateOf(ctx);
});

async function begun(lab: Lab, flow: Workflow): Promise<void> {
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.drive(engine.settled("r"));
  await lab.drive(engine.close());
}

/** Deploys the migration, has the run go on, and sees the run wait with its journal as it was. */
async function refused(lab: Lab, migration: Partial<Migration>): Promise<{ engine: Engine; detail: string }> {
  const code = version("2", [{ from: "1", to: "2", ...migration }], () => expect.unreachable());
  const engine = lab.engine([code]);
  const checked = await lab.drive(engine.migrations.check("r"));
  const applied = await lab.drive(engine.migrations.apply("r"));
  expect(applied.runs).toMatchObject([{ outcome: "parks", applied: false }]);
  const before = await everything(lab);
  await lab.drive(engine.pause("r"));
  await lab.drive(engine.resume("r"));
  await lab.drive(engine.settled("r"));
  const { status, waiting, version: of } = await row(lab);
  const [wait] = waiting;
  expect({ status, kind: wait?.kind, of }).toEqual({ status: "waiting", kind: "migration", of: "1" });
  expect(checked.runs).toMatchObject([{ outcome: "parks", problem: wait?.detail }]);
  expect((await everything(lab)).slice(0, before.length)).toEqual(before);
  return { engine, detail: wait?.detail ?? "" };
}

class Sums {
  readonly memory = {};
}

describe("a migration whose function", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;

  it.each<[string, (state: Parameters<NonNullable<Migration["state"]>>[0]) => unknown, string]>([
    ["gives back a map", () => new Map([["memory", {}]]), "not a record of changes"],
    ["gives back a date", () => new Date(), "not a record of changes"],
    ["gives back an error", () => new Error("no"), "not a record of changes"],
    ["gives back a text", () => "done", "not a record of changes"],
    ["gives back true", () => true, "not a record of changes"],
    ["gives back an instance of a class", () => new Sums(), "not a record of changes"],
    ["gives back memory as a map", () => ({ memory: new Map([["a", 1]]) }), "memory that is not a record"],
    ["gives back config as a class", () => ({ config: new Sums() }), "config that is not a record"],
    ["gives back a function as memory", () => ({ memory: { a: () => 1 } }), "can't be saved"],
    ["gives back an instance inside memory", () => ({ memory: { a: new Sums() } }), "can't be saved"],
    ["gives back a symbol as input", () => ({ input: Symbol("a") }), "can't be saved"],
    ["gives back data with a cycle", () => ({ memory: { a: cycle } }), "can't be saved"],
    ["throws nothing", () => Promise.reject(), "undefined"],
    ["throws what has no text", () => Promise.reject(Object.create(null)), "thrown: object"],
    ["throws at once", () => expect.unreachable("at once"), "at once"],
    [
      "adds to a set it was given",
      ({ memory }) => void (memory["seen"] as Set<number>).add(2),
      "changed what",
    ],
    [
      "changes a map it was given",
      ({ memory }) => (memory["by"] as Map<string, object>).clear(),
      "changed what",
    ],
    [
      "changes a record in a map it was given",
      ({ memory }) => void ((memory["by"] as Map<string, { n: number }>).get("a") as { n: number }).n++,
      "changed what",
    ],
    ["moves a date it was given", ({ memory }) => void (memory["when"] as Date).setTime(5), "changed what"],
    [
      "writes into bytes it was given",
      ({ memory }) => void ((memory["bytes"] as Uint8Array)[0] = 9),
      "changed what",
    ],
    [
      "changes a result it was given",
      ({ steps }) => void ((steps["pay"] as { sum: number }).sum = 2),
      "read only",
    ],
    ["takes away what it was given", (state) => void delete (state as { memory?: unknown }).memory, "delete"],
  ])("%s lets the run wait, and changes nothing", async (_, state, text) => {
    const lab = createLab();
    await begun(lab, first);
    const { engine, detail } = await refused(lab, { state: state as Migration["state"] & object });
    expect(detail).toMatch(/^HF-2115 The migration of run r from 1 to 2 failed: /);
    expect(detail).toContain(text);
    await lab.crash(engine);
  });

  it("never answers lets the run wait, within the claim", async () => {
    const lab = createLab();
    await begun(lab, first);
    const { engine, detail } = await refused(lab, { state: hangs });
    expect(detail).toContain("its state function did not answer in time");
    expect((await row(lab)).recoveries).toBe(0);
    await lab.crash(engine);
  });

  it("throws a text without end says as much of it as can be read", async () => {
    const lab = createLab();
    await begun(lab, first);
    const { engine, detail } = await refused(lab, {
      state: () => Promise.reject(new Error("x".repeat(1e6))),
    });
    expect(detail.length).toBeLessThan(1_000);
    await lab.crash(engine);
  });
});

describe("a migration that drops what is under way", () => {
  const bodies: Record<string, (ctx: Context) => Promise<unknown>> = {
    "a call of unknown outcome": (ctx) => ctx.step("pay", hangs, once),
    "a call under a key": (ctx) => ctx.step("pay", hangs, keyed),
    "a call inside a group": (ctx) => ctx.all("pay", { a: () => ctx.step("b", hangs, once) }),
    "a call inside a turn": (ctx) => ctx.loop("pay", {}, async () => ctx.step("b", hangs, once)),
    "a child": (ctx) => ctx.child("pay", workflow("child", hangs), undefined),
  };

  it.each(Object.entries(bodies))("is refused, and the run waits: %s", async (_, body) => {
    const lab = createLab();
    const before = lab.engine([version("1", [], body)]);
    await lab.drive(before.start(version("1", [], body), undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    await lab.crash(before);
    await lab.clock.advance(60_000);
    const { engine, detail } = await refused(lab, { drop: ["pay"] });
    expect(detail).toMatch(/^HF-2161 The migration of run r from 1 to 2 drops steps that were started: pay/);
    expect(detail).toContain("Their outcome is unknown, and without them nobody would be asked about it.");
    await lab.crash(engine);
  });

  it("goes on once somebody has said what became of it", async () => {
    const lab = createLab();
    const pays = async (ctx: Context) => (await ctx.step("pay", hangs, once), "paid");
    const before = lab.engine([version("1", [], pays)]);
    await lab.drive(before.start(version("1", [], pays), undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    const { engine: old } = await lab.afterCrash(before, [version("1", [], pays)], "r");
    expect(await row(lab)).toMatchObject({ waiting: [{ kind: "decision", step: "pay" }] });
    await lab.drive(old.close());
    const second = version("2", [{ from: "1", to: "2", drop: ["pay"] }], () => "done");
    const engine = lab.engine([second]);
    expect((await lab.drive(engine.migrations.check("r"))).totals).toEqual({
      current: 0,
      migrates: 0,
      parks: 1,
    });
    await lab.drive(engine.resolve("r", "pay", { action: "done", value: 1, actor: "ada" }));
    expect(await lab.drive(engine.result("r"))).toBe("done");
    await lab.crash(engine);
  });
});

describe("a step in doubt that is renamed", () => {
  it("is decided under its new name, and called again under its old key", async () => {
    const lab = createLab();
    const keys: string[] = [];
    const pays = (name: string, work: (key: string) => unknown) => async (ctx: Context) =>
      ctx.step(name, ({ key }) => work(key), once);
    const hangsIn = (key: string) => (keys.push(key), hangs());
    const before = lab.engine([version("1", [], pays("pay", hangsIn))]);
    await lab.drive(before.start(version("1", [], pays("pay", hangsIn)), undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    const { engine: old } = await lab.afterCrash(before, [version("1", [], pays("pay", hangsIn))], "r");
    await lab.drive(old.close());
    const rename = { pay: "charge" };
    const second = version(
      "2",
      [{ from: "1", to: "2", rename }],
      pays("charge", (key) => keys.push(key)),
    );
    const engine = lab.engine([second]);
    await lab.drive(engine.migrations.apply("r", { actor: "ada" }));
    expect(await row(lab)).toMatchObject({ version: "2", waiting: [{ kind: "decision", step: "charge" }] });
    await expect(engine.resolve("r", "pay", { action: "rerun" })).rejects.toMatchObject({ code: "HF-1010" });
    await lab.clock.advance(600_000);
    await lab.drive(engine.resolve("r", "charge", { action: "rerun", actor: "ada" }));
    expect(await lab.drive(engine.result("r"))).toBe(2);
    expect(new Set(keys).size).toBe(1);
    await lab.crash(engine);
  });
});
