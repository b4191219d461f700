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
import { createFaultyStore } from "../../testing/faulty-store.ts";
import type { JournalEvent } from "../journal/events.ts";
import { parseEntry } from "../journal/journal.ts";
import { loadRun } from "../journal/load.ts";
import { viewState } from "../journal/state-view.ts";
import { Values } from "../journal/values.ts";
import { silentLogger } from "../logger.ts";
import type { RunRow } from "../types.ts";

const gateOf = (ctx: Context, name = "ok") => ctx.gate(name, { choices: ["yes"] });

/** Starts a run with one version of the code and stops that engine once the run is at rest. */
async function begun(lab: Lab, flow: Workflow<never, unknown>, input?: unknown): Promise<void> {
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow as Workflow, input, { id: "r" }));
  await lab.drive(engine.settled("r"));
  await lab.drive(engine.close());
}

async function answered(lab: Lab, engine: Engine, gate = "ok"): Promise<RunRow> {
  await lab.drive(engine.answer("r", gate, { choice: "yes" }));
  await lab.drive(engine.settled("r"));
  return (await lab.store.read("r")) as RunRow;
}

async function journal(lab: Lab): Promise<JournalEvent[]> {
  const entries = await lab.store.entries("r", { from: 1, limit: 1_000 });
  return entries.flatMap((entry) => parseEntry("r", entry).events);
}

const kinds = (events: readonly JournalEvent[]): string[] => events.map(({ kind }) => kind);

const version = (
  of: string,
  migrations: readonly Migration[],
  body: (ctx: Context) => unknown,
  options: WorkflowOptions = {},
) => workflow("flow", { version: of, migrations, ...options }, body);

describe("a run of an older version", () => {
  it("goes through every migration on the way, in one write, before any code runs", async () => {
    const lab = createLab();
    const calls: string[] = [];
    await begun(
      lab,
      version("1.0", [], async (ctx) => {
        await ctx.step("pay", () => calls.push("pay"), { effect: "keyed" });
        ctx.memory.set("sum", 4);
        await gateOf(ctx);
      }),
    );
    const migrations: Migration[] = [
      {
        from: "1.1",
        to: "2.0",
        rename: { charge: "settle" },
        state: ({ memory }) => ({ memory: { total: Number(memory["sum"]) + 1, sum: undefined } }),
      },
      {
        from: "1.0",
        to: "1.1",
        rename: { pay: "charge" },
        state: ({ memory }) => ({ memory: { sum: Number(memory["sum"]) * 10 } }),
      },
    ];
    const next = version(
      "2.0",
      migrations,
      async (ctx) => {
        const paid = await ctx.step("settle", () => calls.push("settle"), { effect: "keyed" });
        await gateOf(ctx);
        return { paid, total: ctx.memory.get("total"), keys: ctx.memory.keys() };
      },
      { schema: 2 },
    );
    const engine = lab.engine([next]);
    expect(await answered(lab, engine)).toMatchObject({ status: "completed", version: "2.0", schema: 2 });
    expect(await lab.drive(engine.result("r"))).toEqual({ paid: 1, total: 41, keys: ["total"] });
    expect(calls).toEqual(["pay"]);
    const events = await journal(lab);
    const hops = events.filter(({ kind }) => kind === "run_migrated");
    expect(hops.map(({ meta }) => meta)).toEqual([
      { from: "1.0", to: "1.1", schema: 1, renamed: { pay: "charge" } },
      { from: "1.1", to: "2.0", schema: 2, renamed: { charge: "settle" } },
    ]);
    const last = (await lab.store.entries("r", { from: hops[0]?.seq ?? 0, limit: 1 }))[0];
    expect(kinds(parseEntry("r", last as NonNullable<typeof last>).events)).toEqual([
      "run_migrated",
      "run_migrated",
      "memory_written",
      "memory_written",
    ]);
  });

  it("has other results, input and config afterwards, and its journal still says what they were", async () => {
    const lab = createLab();
    const first = workflow("flow", async (ctx, input: { name: string }) => {
      await ctx.step("read", () => ({ words: ["a", "b"], long: "x".repeat(20_000) }));
      await gateOf(ctx);
      return input;
    });
    const engine = lab.engine([first]);
    await lab.drive(engine.start(first, { name: "Ada" }, { id: "r", config: { model: "m1", seed: 1 } }));
    const before = (await lab.drive(engine.settled("r"))) as RunRow;
    await lab.drive(engine.close());
    const migration: Migration = {
      from: "1",
      to: "2",
      rename: { read: "load" },
      state: ({ steps, input, config }) => ({
        steps: { load: { ...(steps["load"] as object), count: 2 } },
        input: { person: input },
        config: { model: `${String(config["model"])}-new` },
      }),
    };
    const second = workflow("flow", { version: "2", migrations: [migration] }, async (ctx, input) => {
      const load = await ctx.step("load", (): { count: number; long: string } => expect.unreachable());
      await gateOf(ctx);
      return { count: load.count, long: load.long.length, input, config: ctx.config };
    });
    const next = lab.engine([second]);
    await answered(lab, next);
    expect(await lab.drive(next.result("r"))).toEqual({
      count: 2,
      long: 20_000,
      input: { person: { name: "Ada" } },
      config: { model: "m1-new", seed: 1 },
    });
    const values = new Values(lab.store, { valueBytes: 1e9, warnBytes: 1e9 }, silentLogger);
    const row = (await lab.store.read("r")) as RunRow;
    const old = await viewState(values, "r", await loadRun(lab.store, values, row, before.seq));
    expect(old.input).toEqual({ name: "Ada" });
    expect(old.config).toEqual({ model: "m1", seed: 1 });
    expect(Object.keys(old.steps)).toEqual(["read"]);
    expect(Object.keys(old.steps["read"] as object)).toEqual(["words", "long"]);
  });

  it("has its new memory whatever else the migration changed, and wherever it was written", async () => {
    const lab = createLab();
    const body = async (ctx: Context) => {
      ctx.memory.set("early", 1);
      await ctx.step("read", () => 1);
      ctx.memory.set("k", "old");
      await ctx.step("write", () => ctx.memory.set("inner", "old"));
      await gateOf(ctx);
      return Object.fromEntries(ctx.memory.keys().map((key) => [key, ctx.memory.get(key)]));
    };
    await begun(lab, version("1", [], body));
    const migration: Migration = {
      from: "1",
      to: "2",
      rename: { write: "note" },
      state: () => ({ steps: { read: 2 }, memory: { k: "new", inner: "new", early: undefined, added: 1 } }),
    };
    const renamed = async (ctx: Context) => {
      ctx.memory.set("early", 1);
      await ctx.step("read", () => 1);
      ctx.memory.set("k", "old");
      await ctx.step("note", () => ctx.memory.set("inner", "old"));
      await gateOf(ctx);
      return Object.fromEntries(ctx.memory.keys().map((key) => [key, ctx.memory.get(key)]));
    };
    const engine = lab.engine([version("2", [migration], renamed)]);
    await answered(lab, engine);
    expect(await lab.drive(engine.result("r"))).toEqual({ k: "new", inner: "new", added: 1 });
  });

  it("keeps what a renamed step wrote to memory", async () => {
    const lab = createLab();
    const write = (name: string) => async (ctx: Context) => {
      await ctx.step(name, () => ctx.memory.set("k", "kept"));
      await gateOf(ctx);
      return ctx.memory.get("k");
    };
    await begun(lab, version("1", [], write("plan")));
    const engine = lab.engine([
      version("2", [{ from: "1", to: "2", rename: { plan: "outline" } }], write("outline")),
    ]);
    await answered(lab, engine);
    expect(await lab.drive(engine.result("r"))).toBe("kept");
  });

  it.each([4, 60])(
    "in a loop goes on with the new shape of its state after %i iterations, through another crash",
    async (turns) => {
      const lab = createLab();
      const calls: string[] = [];
      const text = "y".repeat(900);
      await begun(
        lab,
        version("1", [], (ctx) =>
          ctx.loop("turn", { list: [] as string[] }, async (state, { index }) => {
            state.list.push(await ctx.step("ask", () => (calls.push(`ask ${index}`), `${index}${text}`)));
            if (index === turns) await gateOf(ctx);
          }),
        ),
      );
      const snapshots = ((await lab.store.read("r")) as RunRow).snapshotSeq;
      expect(snapshots > 0).toBe(turns > 50);
      const migration: Migration = {
        from: "1",
        to: "2",
        rename: { turn: "round", "turn/ask": "question" },
        state: ({ loops }) => ({
          loops: { round: { items: (loops["round"] as { list: string[] }).list, version: 2 } },
        }),
      };
      const second = version("2", [migration], (ctx) =>
        ctx.loop("round", { items: [] as string[], version: 0 }, async (state, { index, done }) => {
          state.items.push(
            await ctx.step("question", ({ attempt }) => {
              calls.push(`question ${index}`);
              return index === turns + 3 && attempt === 1 ? hangs() : `${index}`;
            }),
          );
          if (index === turns) await gateOf(ctx);
          return index === turns + 5 ? done() : undefined;
        }),
      );
      const engine = lab.engine([second]);
      await lab.drive(engine.answer("r", `turn[${turns}]/ok`, { choice: "yes" }));
      await lab.clock.advance(2_000);
      const { engine: last } = await lab.afterCrash(engine, [second], "r");
      const result = (await lab.drive(last.result("r"))) as { items: string[]; version: number };
      expect(result.version).toBe(2);
      expect(result.items.map((item) => parseInt(item, 10))).toEqual(
        Array.from({ length: turns + 6 }, (_, i) => i),
      );
      const asked = Array.from({ length: turns + 1 }, (_, i) => `ask ${i}`);
      const more = [1, 2, 3, 3, 4, 5].map((i) => `question ${turns + i}`);
      expect(calls).toEqual([...asked, ...more]);
      expect(kinds(await journal(lab)).filter((kind) => kind === "run_migrated")).toHaveLength(1);
    },
  );

  it("keeps the idempotency key of a call that was under way when its step was renamed", async () => {
    const lab = createLab();
    const keys: string[] = [];
    const first = version("1", [], (ctx) =>
      ctx.step("turn", () => ctx.step("pay", ({ key }) => (keys.push(key), hangs()), { effect: "keyed" })),
    );
    const engine = lab.engine([first]);
    await lab.drive(engine.start(first, undefined, { id: "r" }));
    await lab.clock.advance(100);
    const second = version(
      "2",
      [{ from: "1", to: "2", rename: { turn: "round", "turn/pay": "charge" } }],
      async (ctx) => {
        await ctx.step("round", () => ctx.step("charge", ({ key }) => keys.push(key), { effect: "keyed" }));
        await ctx.step("pay", ({ key }) => keys.push(key), { effect: "keyed" });
        await ctx.step("turn", () => ctx.step("pay", ({ key }) => keys.push(key), { effect: "keyed" }));
      },
    );
    const { run } = await lab.afterCrash(engine, [second], "r");
    expect(run.status).toBe("completed");
    expect(keys[1]).toBe(keys[0]);
    expect(new Set(keys).size).toBe(3);
  });

  it("hears of a child whose step was renamed, and does not start it again", async () => {
    const lab = createLab();
    let begins = 0;
    const child = workflow("child", async (ctx) => {
      await ctx.step("begin", () => ++begins);
      await gateOf(ctx);
      return "shipped";
    });
    const first = version("1", [], (ctx) => ctx.child("fulfil", child, undefined));
    const engine = lab.engine([first, child]);
    await lab.drive(engine.start(first, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.close());
    const second = version("2", [{ from: "1", to: "2", rename: { fulfil: "ship" } }], (ctx) =>
      ctx.child("ship", child, undefined),
    );
    const next = lab.engine([second, child]);
    await lab.drive(next.migrations.apply("r"));
    const { runs } = await next.list({ parent: "r", limit: 10 });
    await lab.drive(next.answer(runs[0]?.id ?? "", "ok", { choice: "yes" }));
    expect(await lab.drive(next.result("r"))).toBe("shipped");
    expect([begins, runs.length]).toEqual([1, 1]);
  });

  it("takes a late result under the step's new name", async () => {
    const lab = createLab();
    const call = signalled<string>();
    const first = version("1", [], (ctx) => ctx.step("send", () => call.promise, { effect: "once" }));
    const engine = lab.engine([first]);
    await lab.drive(engine.start(first, undefined, { id: "r" }));
    await lab.clock.advance(100);
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const second = version("2", [{ from: "1", to: "2", rename: { send: "mail" } }], (ctx) =>
      ctx.step("mail", () => "again", { effect: "once" }),
    );
    const next = lab.engine([second]);
    await lab.drive(next.recover());
    expect((await lab.drive(next.settled("r"))).waiting).toMatchObject([{ kind: "decision", step: "mail" }]);
    call.resolve("sent");
    expect(await lab.drive(next.result("r"))).toBe("sent");
  });

  it("that failed is migrated when it is resumed, and tries the renamed step afresh", async () => {
    const lab = createLab();
    const failing = version("1", [], (ctx) =>
      ctx.step("pay", () => Promise.reject(Object.assign(new Error("no"), { fatal: true })), {
        effect: "keyed",
        retry: false,
      }),
    );
    await begun(lab, failing);
    const mended = version("2", [{ from: "1", to: "2", rename: { pay: "charge" } }], (ctx) =>
      ctx.step("charge", () => "paid", { effect: "keyed" }),
    );
    const engine = lab.engine([mended]);
    await lab.drive(engine.migrations.apply("r"));
    expect(await lab.store.read("r")).toMatchObject({ status: "failed", version: "2" });
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe("paid");
  });
});

describe("a migration", () => {
  const waitsAtGate = version("1", [], async (ctx) => {
    ctx.memory.set("a", 1);
    await ctx.step("pay", () => 1, { effect: "keyed" });
    await ctx.loop(
      "turn",
      { n: 0 },
      async (state, { done }) => (state.n++, state.n === 2 ? done() : undefined),
    );
    await gateOf(ctx);
  });

  it.each<[string, Migration["state"], string]>([
    ["throws", () => Promise.reject(new Error("no such table")), "no such table"],
    ["throws something odd", () => Promise.reject("odd"), "odd"],
    ["gives back a list", () => [] as never, "not a record"],
    ["gives back null", () => null as never, "not a record"],
    ["gives back a part there is not", () => ({ memories: {} }) as never, "memories"],
    ["gives back memory that is no record", () => ({ memory: 5 }) as never, "memory"],
    ["gives back what cannot be saved", () => ({ memory: { a: () => 1 } }), "can't be saved"],
    ["edits a step that is not there", () => ({ steps: { other: 1 } }), "other"],
    ["edits a loop that is not there", () => ({ loops: { other: {} } }), "other"],
    ["makes a loop's state a number", () => ({ loops: { turn: 1 as never } }), "can't be edited"],
    ["changes what it is given", (state) => void ((state.memory as { a: number }).a = 2), "read only"],
  ])("that %s lets the run wait, unchanged", async (_, state, text) => {
    const lab = createLab();
    await begun(lab, waitsAtGate);
    const second = version("2", [{ from: "1", to: "2", ...(state ? { state } : {}) }], () =>
      expect.unreachable(),
    );
    const engine = lab.engine([second]);
    const checked = await lab.drive(engine.migrations.check("r"));
    expect(checked.runs).toMatchObject([
      { outcome: "parks", problem: expect.stringContaining(text) as string },
    ]);
    const row = await answered(lab, engine);
    expect(row).toMatchObject({ status: "waiting", version: "1", wakeAt: null });
    expect(row.waiting).toMatchObject([
      { kind: "migration", detail: expect.stringContaining(text) as string },
    ]);
    expect(row.waiting[0]?.detail).toMatch(/^HF-2115 The migration of run r from 1 to 2 failed: /);
    expect(kinds(await journal(lab)).slice(-3)).toEqual(["gate_answered", "run_claimed", "run_waiting"]);
    // The same code does not try again, however long it looks.
    await lab.clock.advance(300_000);
    expect(((await lab.store.read("r")) as RunRow).seq).toBe(row.seq);
  });

  it("that would give two recorded steps one name lets the run wait", async () => {
    const lab = createLab();
    await begun(
      lab,
      version(
        "1",
        [],
        async (ctx) => (await ctx.step("a", () => 1), await ctx.step("b", () => 2), await gateOf(ctx)),
      ),
    );
    const engine = lab.engine([
      version("2", [{ from: "1", to: "2", rename: { a: "b" } }], () => expect.unreachable()),
    ]);
    expect((await answered(lab, engine)).waiting[0]?.detail).toContain("two recorded steps would become b");
  });

  it("that is mended is taken up by the next process", async () => {
    const lab = createLab();
    await begun(lab, waitsAtGate);
    const migration: Migration = { from: "1", to: "2", state: () => Promise.reject(new Error("no")) };
    const broken = lab.engine([version("2", [migration], () => 1)]);
    await answered(lab, broken);
    await lab.drive(broken.close());
    const mended = lab.engine([version("2", [{ from: "1", to: "2" }], () => "done")]);
    await lab.drive(mended.recover());
    expect(await lab.drive(mended.result("r"))).toBe("done");
    expect((await journal(lab)).find(({ kind }) => kind === "run_resumed")).toMatchObject({
      actor: "worker",
      meta: { reason: "migration available" },
    });
  });

  it("is done whole or not at all, whatever becomes of its write", async () => {
    for (const fault of ["fail", "fail-after", "stall"] as const) {
      const inner = createLab();
      await begun(inner, waitsAtGate);
      let armed = true;
      const isMigration = (batch: readonly { entries: readonly { head: string }[] }[]) =>
        batch.some(({ entries }) => entries.some(({ head }) => head.includes("run_migrated")));
      const faulty = createFaultyStore(inner.store, { choose: () => undefined });
      const store = {
        ...faulty,
        append: async (batch: Parameters<typeof faulty.append>[0]) => {
          if (!armed || !isMigration(batch)) return inner.store.append(batch);
          armed = false;
          if (fault === "stall") return hangs();
          const result = fault === "fail-after" ? await inner.store.append(batch) : undefined;
          throw new Error(`lost, ${result ? "after" : "before"} it was written`);
        },
      };
      const second = version("2", [{ from: "1", to: "2", rename: { pay: "charge" } }], async (ctx) => {
        await ctx.step("charge", () => expect.unreachable(), { effect: "keyed" });
        return "done";
      });
      const engine = inner.engine([second], { store });
      await inner.drive(engine.answer("r", "ok", { choice: "yes" }));
      await inner.clock.advance(1_000);
      const { engine: last } = await inner.afterCrash(engine, [second], "r");
      expect(await inner.drive(last.result("r"))).toBe("done");
      expect(kinds(await journal(inner)).filter((kind) => kind === "run_migrated")).toHaveLength(1);
    }
  });

  it("of a run that is paused meanwhile waits until it is resumed", async () => {
    const lab = createLab();
    await begun(lab, waitsAtGate);
    const inside = signalled();
    const state = () => inside.promise.then(() => undefined);
    const engine = lab.engine([version("2", [{ from: "1", to: "2", state }], () => "done")]);
    await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
    await lab.clock.advance(100);
    await lab.drive(engine.pause("r"));
    inside.resolve();
    expect(await lab.drive(engine.settled("r"))).toMatchObject({ status: "paused", version: "1" });
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe("done");
  });

  it("that takes longer than a claim leaves the run to whoever has it now", async () => {
    const lab = createLab();
    await begun(lab, waitsAtGate);
    const inside = signalled();
    let calls = 0;
    const state = async () => (++calls === 1 ? await inside.promise : undefined, undefined);
    const second = version("2", [{ from: "1", to: "2", state }], () => "done");
    const slow = lab.engine([second]);
    await lab.drive(slow.answer("r", "ok", { choice: "yes" }));
    await lab.clock.advance(100);
    await lab.clock.advance(20_000);
    const other = lab.engine([second]);
    await lab.drive(other.recover());
    expect(await lab.drive(other.result("r"))).toBe("done");
    inside.resolve();
    await lab.clock.advance(1_000);
    expect(kinds(await journal(lab)).filter((kind) => kind === "run_migrated")).toHaveLength(1);
  });
});

describe("a run that no migration leads on", () => {
  it("waits, with what it has recorded and what is known", async () => {
    const lab = createLab();
    await begun(
      lab,
      version("1.0", [], async (ctx) => {
        await ctx.step("pay", () => 1, { effect: "keyed" });
        await ctx.each("mail", [1, 2], () => ctx.step("send", () => 1));
        await gateOf(ctx);
      }),
    );
    const known: Migration[] = [{ from: "1.1", to: "2.0", rename: { pay: "charge" } }];
    const engine = lab.engine([version("2.0", known, () => expect.unreachable(), { schema: 3 })]);
    const row = await answered(lab, engine);
    expect(row).toMatchObject({
      status: "waiting",
      version: "1.0",
      schema: 1,
      wakeAt: null,
      claim: { owner: null },
    });
    expect(row.waiting).toEqual([
      expect.objectContaining({
        kind: "migration",
        step: "",
        detail:
          "HF-2114 Run r belongs to version 1.0 of flow; this process has 2.0. No migration leads there: none leads on from 1.0 " +
          "(registered: 1.1 → 2.0). None of them knows that version: it may be of newer code. Its state is of schema 1, " +
          "the code's of 3. It has recorded: pay (keyed), mail (repeatable, 2 times), ok (gate), " +
          "mail/send (repeatable, 2 times).",
      }),
    ]);
    expect(await lab.drive(engine.migrations.check("r"))).toMatchObject({
      totals: { parks: 1 },
      runs: [{ problem: row.waiting[0]?.detail, from: "1.0", to: "2.0" }],
    });
  });

  it("waits where only the schema is another one", async () => {
    const lab = createLab();
    await begun(lab, version("1", [], gateOf));
    const engine = lab.engine([version("1", [], () => expect.unreachable(), { schema: 2 })]);
    const row = await answered(lab, engine);
    expect(row.waiting[0]?.detail).toContain("The version is the same, but the schema of its state is not.");
  });

  it("is left to others for three sweeps, then waits for good, whatever the claim (R6)", async () => {
    const lab = createLab();
    await begun(lab, version("2", [], gateOf));
    const old = lab.engine([version("1", [], () => expect.unreachable())], { claimMs: 600_000 });
    await lab.drive(old.answer("r", "ok", { choice: "yes" }));
    await lab.clock.advance(2_000);
    expect(await lab.store.read("r")).toMatchObject({ status: "queued" });
    await lab.clock.advance(2_000);
    const row = (await lab.store.read("r")) as RunRow;
    expect(row).toMatchObject({ status: "waiting", waiting: [{ kind: "migration" }] });
    expect((await lab.drive(old.status("r"))).can).toContain("migrate");
    await lab.clock.advance(600_000);
    expect(((await lab.store.read("r")) as RunRow).seq).toBe(row.seq);
  });

  it("is paused and cancelled like any other", async () => {
    const lab = createLab();
    await begun(lab, version("2", [], gateOf));
    const old = lab.engine([version("1", [], () => expect.unreachable())]);
    await answered(lab, old);
    expect(await lab.drive(old.pause("r"))).toMatchObject({ status: "paused" });
    await lab.drive(old.resume("r"));
    expect(await lab.drive(old.settled("r"))).toMatchObject({ waiting: [{ kind: "migration" }] });
    expect(await lab.drive(old.cancel("r"))).toMatchObject({ status: "cancelled" });
  });
});
