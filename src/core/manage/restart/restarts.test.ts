import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../../test/support/lab.ts";
import { type Context, type EngineOptions, workflow } from "../../../index.ts";
import type { Store } from "../../store/contract.ts";
import { freshId } from "./restarts.ts";

const FRESH: Partial<EngineOptions> = { recovery: { onUnrestorable: "fresh" } };

/** A payment that happened, a mail that may have, and a read; the last step hangs the first time. */
function paying(calls: string[], version = "1.0", hang = true) {
  return workflow("paying", { version }, async (ctx: Context, input: { amount: number }) => {
    await ctx.step("look", () => calls.push("look"));
    await ctx.step("pay", () => calls.push(`pay ${input.amount}`), { effect: "keyed" });
    await ctx.step(
      "mail",
      () => {
        calls.push("mail");
        return hang ? hangs() : "sent";
      },
      { effect: "once" },
    );
    return calls.length;
  });
}

/** Starts it and kills its worker during the mail. */
async function interrupted(lab: Lab, calls: string[]): Promise<void> {
  const flow = paying(calls);
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, { amount: 7 }, { id: "r", config: { model: "small" } }));
  await lab.clock.advance(200);
  await lab.crash(engine);
  await lab.clock.advance(20_000);
}

/** A store in which one entry of the run no longer matches its digest. */
const damagedAt = (store: Store, run: string, seq: number): Store => ({
  ...store,
  entries: async (id, range) =>
    (await store.entries(id, range)).map((entry) =>
      id === run && entry.seq === seq ? { ...entry, data: `${entry.data ?? ""}x` } : entry,
    ),
});

/** The position of an entry that has values, after the first one. */
async function someValue(store: Store, run: string): Promise<number> {
  const entries = await store.entries(run, { from: 2, limit: 100 });
  return entries.findLast(({ data }) => data !== null)?.seq ?? 0;
}

const EFFECTS = [
  expect.objectContaining({ run: "r", step: "pay", effect: "keyed", what: "happened" }),
  expect.objectContaining({ run: "r", step: "mail", effect: "once", what: "may have happened" }),
];

describe("a run that can't be restored", () => {
  it("is parked, and never started afresh unless that is asked for (S1-44, S1-45)", async () => {
    const lab = createLab();
    const calls: string[] = [];
    await interrupted(lab, calls);
    const store = damagedAt(lab.store, "r", await someValue(lab.store, "r"));
    const engine = lab.engine([paying(calls, "1.0", false)], { store });
    await lab.drive(engine.recover());
    expect(await lab.drive(engine.settled("r"))).toMatchObject({ waiting: [{ kind: "review" }] });
    expect((await engine.list()).runs).toHaveLength(1);
    expect(calls).toEqual(["look", "pay 7", "mail"]);
  });

  it("is started afresh with an audit of possible duplicates where that is configured (S1-45)", async () => {
    const lab = createLab();
    const calls: string[] = [];
    await interrupted(lab, calls);
    const store = damagedAt(lab.store, "r", await someValue(lab.store, "r"));
    const warnings: object[] = [];
    const logger = {
      debug: () => undefined,
      info: () => undefined,
      warn: (message: string, fields?: object) => void warnings.push({ message, ...fields }),
      error: () => undefined,
    };
    const engine = lab.engine([paying(calls, "1.0", false)], { ...FRESH, store, logger });
    await lab.drive(engine.recover());
    const old = await lab.drive(engine.settled("r"));
    expect(old).toMatchObject({ waiting: [{ kind: "review" }] });
    expect(await lab.drive(engine.result("r-fresh"))).toBe(6);
    expect(calls.slice(3)).toEqual(["look", "pay 7", "mail"]);
    const { config } = await engine.checkpoints.show("r-fresh");
    expect(config).toMatchObject({
      model: "small",
      $restart: {
        of: "r",
        version: "1.0",
        actor: "worker",
        reason: expect.stringContaining("HF-3010"),
        effects: EFFECTS,
      },
    });
    expect(warnings).toContainEqual(
      expect.objectContaining({ effects: "pay happened, mail may have happened" }),
    );
    // Looked at again and again, it starts nothing more.
    await lab.clock.advance(60_000);
    expect((await engine.list()).runs.map(({ id }) => id).sort()).toEqual(["r", "r-fresh"]);
  });

  it("is started afresh on a major version mismatch where that is configured (S1-44)", async () => {
    const lab = createLab();
    const calls: string[] = [];
    await interrupted(lab, calls);
    const engine = lab.engine([paying(calls, "2.0", false)], FRESH);
    await lab.drive(engine.recover());
    await lab.clock.advance(60_000);
    expect(await lab.drive(engine.result("r-fresh"))).toBe(6);
    expect(await engine.get("r-fresh")).toMatchObject({ version: "2.0", status: "completed" });
    expect((await engine.get("r"))?.waiting).toEqual([
      expect.objectContaining({
        kind: "review",
        code: "HF-4363",
        detail: expect.stringContaining("r-fresh"),
      }),
    ]);
  });

  it("waits for a migration on a minor version mismatch, whatever is configured (S1-44)", async () => {
    const lab = createLab();
    const calls: string[] = [];
    await interrupted(lab, calls);
    const engine = lab.engine([paying(calls, "1.1", false)], FRESH);
    await lab.drive(engine.recover());
    await lab.clock.advance(60_000);
    expect((await engine.get("r"))?.waiting).toEqual([expect.objectContaining({ kind: "migration" })]);
    expect((await engine.list()).runs).toHaveLength(1);
  });

  it("can be started afresh by a person, who sees first what could happen twice (S1-45)", async () => {
    const lab = createLab();
    const calls: string[] = [];
    await interrupted(lab, calls);
    const store = damagedAt(lab.store, "r", await someValue(lab.store, "r"));
    const engine = lab.engine([paying(calls, "1.0", false)], { store });
    expect(await engine.restarts.audit("r")).toMatchObject({
      run: "r",
      workflow: "paying",
      effects: EFFECTS,
    });
    const { run, audit } = await lab.drive(
      engine.restarts.start("r", { id: "again", input: { amount: 8 }, actor: "ada", reason: "disk" }),
    );
    expect([run.id, audit.effects]).toEqual(["again", EFFECTS]);
    await lab.drive(engine.result("again"));
    expect(calls.slice(3)).toEqual(["look", "pay 8", "mail"]);
    expect((await engine.checkpoints.show("again")).config["$restart"]).toMatchObject({
      actor: "ada",
      reason: "disk",
    });
  });

  it("is audited together with the runs it started", async () => {
    const lab = createLab();
    const below = workflow("below", (ctx) => ctx.step("order", () => 1, { effect: "once" }));
    const above = workflow("above", (ctx) => ctx.child("below", below, undefined));
    const engine = lab.engine([above, below]);
    await lab.drive(engine.start(above, undefined, { id: "a" }));
    await lab.drive(engine.result("a"));
    const { effects, complete } = await engine.restarts.audit("a");
    expect([complete, effects]).toEqual([
      true,
      [expect.objectContaining({ step: "order", effect: "once", what: "happened" })],
    ]);
  });

  it("is refused a fresh start without an input that can be read, or without its code", async () => {
    const lab = createLab();
    await interrupted(lab, []);
    const engine = lab.engine([paying([], "1.0", false)], {
      store: damagedAt(lab.store, "r", 1),
      execute: false,
    });
    await expect(engine.restarts.start("r")).rejects.toMatchObject({ code: "HF-4364" });
    expect((await engine.restarts.audit("r")).effects).toEqual(EFFECTS);
    const other = lab.engine([], { execute: false });
    await expect(other.restarts.start("r")).rejects.toMatchObject({ code: "HF-1026" });
    expect(() => lab.engine([], { recovery: { onUnrestorable: "maybe" as "park" } })).toThrow(
      "onUnrestorable",
    );
  });

  it("gives its fresh runs ids that follow from its own", () => {
    expect(["a", "a-fresh", "a-fresh2", "a-fresh9"].map(freshId)).toEqual([
      "a-fresh",
      "a-fresh2",
      "a-fresh3",
      "a-fresh10",
    ]);
    expect(freshId("x".repeat(64))).toHaveLength(64);
  });
});
