import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { checkpointsOf, eventsOf } from "../../../test/support/family.ts";
import { createLab, hangs } from "../../../test/support/lab.ts";
import { type StepOptions, workflow } from "../../index.ts";
import type { EffectPolicy } from "../../manage.ts";
import { openSqliteStore } from "../../stores/sqlite/index.ts";

/** A source with a step of each kind after the checkpoint `first`, which is where it is forked. */
async function setup(options: Partial<StepOptions> & { other?: boolean } = {}) {
  const { other, ...given } = options;
  const lab = createLab();
  const calls: string[] = [];
  const keys: string[] = [];
  let broken = true;
  let amount = 1;
  const flow = workflow("flow", async (ctx) => {
    await ctx.step("first", () => 0);
    const input = { amount };
    const pay = (step: string) => (call: { key: string }) => {
      calls.push(step);
      keys.push(call.key);
      return { step, paid: amount };
    };
    const paid = await ctx.step("pay", pay("pay"), { effect: "keyed", input, ...given } as object);
    const sent = await ctx.step("send", pay("send"), { effect: "once", ...given } as object);
    const read = await ctx.step("read", pay("read"));
    const last = await ctx.step(
      "last",
      () => {
        calls.push("last");
        if (broken) throw Object.assign(new Error("broken"), { fatal: true });
        return "made";
      },
      { effect: "once", retry: false, ...given } as object,
    );
    if (other) await ctx.step("new", pay("new"), { effect: "once" });
    return { paid, sent, read, last };
  });
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.drive(engine.settled("r"));
  const [first = 0] = await checkpointsOf(lab.store, "r");
  const source = calls.splice(0);
  expect(source).toEqual(["pay", "send", "read", "last"]);
  broken = false;
  const fork = async (effects: EffectPolicy, id = "f") => {
    await lab.drive(engine.fork(`r@${first}`, { id, effects }));
    return lab.drive(engine.settled(id));
  };
  const answer = async (gate: string, choice: string, id = "f") => {
    await lab.drive(engine.answer(id, `approve:${gate}#fork`, { choice, actor: "ada" }));
    return lab.drive(engine.settled(id));
  };
  const raise = () => {
    amount = 2;
  };
  return { lab, engine, flow, calls, keys, first, fork, answer, raise };
}

const instead = async (lab: ReturnType<typeof createLab>, step: string) =>
  (await eventsOf(lab.store, "f")).flatMap((event) =>
    event.kind === "step_completed" && event.step === step ? [event.meta.instead] : [],
  );

describe("a fork that reuses", () => {
  it("takes over finished calls, repeats what is repeatable, and asks about what failed", async () => {
    const { lab, engine, fork, answer, calls, first } = await setup();
    const preview = await lab.drive(engine.previewFork(`r@${first}`));
    expect(preview.calls.map(({ step, effect, status, becomes }) => [step, effect, status, becomes])).toEqual(
      [
        ["pay", "keyed", "completed", "reused"],
        ["send", "once", "completed", "reused"],
        ["last", "once", "failed", "asked"],
      ],
    );
    const waiting = await fork("reuse");
    expect(waiting.waiting).toMatchObject([{ kind: "gate", step: "approve:last#fork" }]);
    expect(calls).toEqual(["read"]);
    const [gate] = await lab.drive(engine.gates("f"));
    expect(gate).toMatchObject({
      choices: ["call", "done"],
      show: { step: "last", source: "r", outcome: "failed" },
    });
    await answer("last", "call");
    expect(await lab.drive(engine.result("f"))).toMatchObject({
      paid: { step: "pay", paid: 1 },
      last: "made",
    });
    expect(calls).toEqual(["read", "last"]);
    expect(await instead(lab, "pay")).toEqual(["reused"]);
    expect(await instead(lab, "last")).toEqual([undefined]);
  });

  it("believes a person who says that an unknown call was done", async () => {
    const { lab, engine, fork, answer, calls } = await setup();
    await fork("reuse");
    await answer("last", "done");
    expect(((await lab.drive(engine.result("f"))) as { last: unknown }).last).toBeUndefined();
    expect(calls).toEqual(["read"]);
  });

  it("asks when the arguments are others than the source's", async () => {
    const { lab, engine, fork, answer, calls, keys, raise } = await setup();
    raise();
    expect((await fork("reuse")).waiting).toMatchObject([{ step: "approve:pay#fork" }]);
    expect((await lab.drive(engine.gates("f")))[0]?.choices).toEqual(["call", "reuse"]);
    await answer("pay", "reuse");
    expect(calls).toEqual(["read"]);
    expect((await fork("reuse", "g")).waiting).toMatchObject([{ step: "approve:pay#fork" }]);
    await answer("pay", "call", "g");
    expect(calls).toEqual(["read", "pay", "read"]);
    // The fork has a key of its own.
    expect(new Set(keys.slice(0, 2)).size).toBe(2);
    expect(keys.filter((key) => key === keys[0])).toHaveLength(1);
  });

  it("asks about a call that the source had begun and not ended", async () => {
    const lab = createLab();
    let hang = true;
    let calls = 0;
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("first", () => 0);
      return ctx.step("pay", () => (calls++, hang ? hangs() : "paid"), { effect: "once" });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    hang = false;
    await lab.drive(engine.fork("r", { id: "f" }));
    expect((await lab.drive(engine.settled("f"))).waiting).toMatchObject([{ step: "approve:pay#fork" }]);
    await lab.drive(engine.answer("f", "approve:pay#fork", { choice: "call" }));
    expect(await lab.drive(engine.result("f"))).toBe("paid");
    expect(calls).toBe(2);
  });

  it("asks once for all attempts, and calls what its source never had", async () => {
    const lab = createLab();
    let tries = 0;
    let more = false;
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("first", () => 0);
      const refused = () => Object.assign(new Error("no"), { status: 429 });
      await ctx.step("pay", () => (++tries < 4 ? Promise.reject(refused()) : tries), {
        effect: "keyed",
        retry: { attempts: 2, baseMs: 1_000 },
      });
      if (more) await ctx.step("new", () => tries++, { effect: "once" });
      return tries;
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect((await lab.drive(engine.settled("r"))).status).toBe("failed");
    more = true;
    await lab.drive(engine.fork("r", { id: "f" }));
    await lab.drive(engine.settled("f"));
    await lab.drive(engine.answer("f", "approve:pay#fork", { choice: "call" }));
    // Two attempts in the source, two here, and the new step.
    expect(await lab.drive(engine.result("f"))).toBe(5);
  });

  it("asks when the source's result is not kept any more", async () => {
    const { lab, engine, fork, calls } = await setup();
    await lab.clock.advance(10_000);
    await lab.drive(engine.fork("r", { id: "keep", effects: "allow" }));
    await lab.drive(engine.result("keep"));
    calls.splice(0);
    await fork("block");
    await lab.drive(engine.retention.prune({ maxAge: 1, failedMaxAge: 1 }));
    expect((await engine.get("r"))?.prunedAt).not.toBeNull();
    await lab.drive(engine.answer("f", "approve:pay#fork", { choice: "reuse" }));
    expect((await lab.drive(engine.settled("f"))).waiting).toMatchObject([{ step: "approve:pay#fork" }]);
    expect((await lab.drive(engine.gates("f")))[0]?.choices).toEqual(["call", "done"]);
    expect(calls).toEqual([]);
  });

  it("asks for the undoing of its own calls only", async () => {
    const lab = createLab();
    const log: string[] = [];
    const flow = workflow("flow", async (ctx, input: { n: number }) => {
      await ctx.step("first", () => 0);
      const undo = { compensate: (value: unknown) => void log.push(`undo ${String(value)}`) };
      await ctx.step("pay", () => (log.push(`pay ${input.n}`), input.n), { effect: "keyed", input, ...undo });
      await ctx.gate("ok", { choices: ["yes"] });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, { n: 1 }, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const [first = 0] = await checkpointsOf(lab.store, "r");
    await lab.drive(engine.cancel("r", { compensate: true }));
    await lab.drive(engine.settled("r"));
    expect(log.splice(0)).toEqual(["pay 1", "undo 1"]);
    await lab.drive(engine.fork(`r@${first}`, { id: "reused" }));
    await lab.drive(engine.settled("reused"));
    await lab.drive(engine.cancel("reused", { compensate: true }));
    expect((await lab.drive(engine.settled("reused"))).status).toBe("cancelled");
    expect(log).toEqual([]);
    // From the cancelled end, with another input: what this fork does itself, it undoes itself.
    await lab.drive(engine.fork(`r@${first}`, { id: "called", set: { input: { n: 2 } } }));
    await lab.drive(engine.settled("called"));
    await lab.drive(engine.answer("called", "approve:pay#fork", { choice: "call" }));
    await lab.drive(engine.settled("called"));
    await lab.drive(engine.cancel("called", { compensate: true }));
    expect((await lab.drive(engine.settled("called"))).status).toBe("cancelled");
    expect(log).toEqual(["pay 2", "undo 2"]);
  });
});

describe("a fork that blocks", () => {
  it("waits before every call that its source has made, and offers what is recorded", async () => {
    const { lab, engine, fork, answer, calls, first } = await setup({ other: true });
    const preview = await lab.drive(engine.previewFork(`r@${first}`, { effects: "block" }));
    expect(preview.calls.map(({ becomes }) => becomes)).toEqual(["asked", "asked", "asked"]);
    expect((await fork("block")).waiting).toMatchObject([{ step: "approve:pay#fork" }]);
    expect((await lab.drive(engine.gates("f")))[0]?.choices).toEqual(["call", "reuse"]);
    expect((await answer("pay", "reuse")).waiting).toMatchObject([{ step: "approve:send#fork" }]);
    expect((await answer("send", "call")).waiting).toMatchObject([{ step: "approve:last#fork" }]);
    expect((await lab.drive(engine.gates("f"))).find(({ gate }) => gate.includes("last"))?.choices).toEqual([
      "call",
    ]);
    await answer("last", "call");
    // `new` is new: its source had not come to it.
    expect(calls).toEqual(["send", "read", "last", "new"]);
    await lab.drive(engine.result("f"));
  });
});

describe("a fork that simulates", () => {
  it("calls nothing with effects: it answers from the record, then from the hook, then asks", async () => {
    const { lab, engine, fork, calls, first } = await setup();
    const preview = await lab.drive(engine.previewFork(`r@${first}`, { effects: "simulate" }));
    expect(preview.calls.map(({ becomes }) => becomes)).toEqual(["simulated", "simulated", "asked"]);
    expect((await fork("simulate")).waiting).toMatchObject([{ step: "approve:last#fork" }]);
    expect((await lab.drive(engine.gates("f")))[0]?.choices).toEqual(["call"]);
    expect(calls).toEqual(["read"]);
    expect(await instead(lab, "pay")).toEqual(["simulated"]);
  });

  it("asks the hook also about steps that are new, and asks a person when the hook throws", async () => {
    const hooks = await setup({ other: true, simulate: ({ step }: { step: string }) => `${step} simulated` });
    expect((await hooks.fork("simulate")).waiting).toMatchObject([{ step: "approve:new#fork" }]);
    await hooks.answer("new", "call");
    expect(await hooks.lab.drive(hooks.engine.result("f"))).toMatchObject({ last: "last simulated" });
    expect(hooks.calls).toEqual(["read", "new"]);
    const failing = await setup({ simulate: () => Promise.reject(new Error("no")) });
    expect((await failing.fork("simulate")).waiting).toMatchObject([{ step: "approve:last#fork" }]);
  });

  it("simulates in children that its source never had, and in theirs", async () => {
    const lab = createLab();
    const calls: string[] = [];
    let more = false;
    const simulate = ({ step }: { step: string }) => `${step} simulated`;
    const leaf = workflow("leaf", (ctx) =>
      ctx.step("pay", () => void calls.push("leaf"), { effect: "once", simulate }),
    );
    const middle = workflow("middle", async (ctx) => [
      await ctx.step("pay", () => void calls.push("middle"), { effect: "keyed", simulate }),
      await ctx.child("leaf", leaf, undefined),
    ]);
    const root = workflow("root", async (ctx) => {
      await ctx.step("first", () => 0);
      return more ? ctx.child("middle", middle, undefined) : 0;
    });
    const engine = lab.engine([root, middle, leaf]);
    await lab.drive(engine.start(root, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    more = true;
    await lab.drive(engine.fork("r", { id: "f", effects: "simulate" }));
    expect(await lab.drive(engine.result("f"))).toEqual(["pay simulated", "pay simulated"]);
    expect(calls).toEqual([]);
    await lab.drive(engine.fork("r", { id: "g" }));
    await lab.drive(engine.result("g"));
    expect(calls).toEqual(["middle", "leaf"]);
  });

  it("is not taken for the real thing by a fork of it", async () => {
    const { lab, engine, fork, calls, first } = await setup({ simulate: () => "simulated" });
    await fork("simulate");
    expect(await lab.drive(engine.result("f"))).toMatchObject({ last: "simulated" });
    await lab.drive(engine.fork(`f@${first}`, { id: "g" }));
    // `pay` and `send` come from the source of both; `last` failed there.
    expect((await lab.drive(engine.settled("g"))).waiting).toMatchObject([{ step: "approve:last#fork" }]);
    expect(calls).toEqual(["read", "read"]);
  });
});

describe("a fork that is allowed everything", () => {
  it("calls again, with keys of its own", async () => {
    const { lab, engine, fork, calls, keys, first } = await setup();
    const preview = await lab.drive(engine.previewFork(`r@${first}`, { effects: "allow" }));
    expect(new Set(preview.calls.map(({ becomes }) => becomes))).toEqual(new Set(["called again"]));
    await fork("allow");
    await lab.drive(engine.result("f"));
    expect(calls).toEqual(["pay", "send", "read", "last"]);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe("a transaction in a fork", () => {
  it("is not made again when its source has made it", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "holdfast-fork-"));
    const { clock } = createLab();
    const lab = createLab(await openSqliteStore({ file: path.join(folder, "runs.db"), clock }));
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("first", () => 0);
      return ctx.transaction("book", (sql) => {
        sql.run("create table if not exists bookings (run text)");
        sql.run("insert into bookings values (?)", ctx.runId);
        return sql.all("select run from bookings");
      });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    const result = await lab.drive(engine.result("r"));
    const [first = 0] = await checkpointsOf(lab.store, "r");
    await lab.drive(engine.fork(`r@${first}`, { id: "f" }));
    expect(await lab.drive(engine.result("f"))).toEqual(result);
    expect(await instead(lab, "book")).toEqual(["reused"]);
    await lab.drive(engine.fork(`r@${first}`, { id: "g", effects: "allow" }));
    expect(await lab.drive(engine.result("g"))).toEqual([{ run: "r" }, { run: "g" }]);
    await lab.crash(engine);
    await lab.store.close();
    rmSync(folder, { recursive: true, force: true });
  });
});

describe("a stand-in", () => {
  it("is one write: a crash never leaves an intent that looks like a call", async () => {
    const { lab, fork } = await setup();
    await fork("reuse");
    const entries = await lab.store.entries("f", { from: 1, limit: 100 });
    const heads = entries.map(({ head }) => head).filter((head) => head.includes('"instead"'));
    expect(heads).toHaveLength(2);
    for (const head of heads) expect(head).toContain('"step_started"');
  });
});
