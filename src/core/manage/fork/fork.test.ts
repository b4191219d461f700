import { describe, expect, it } from "vitest";
import {
  checkpointsOf,
  digestAt,
  eventsOf,
  family,
  settle,
  valuesOf,
} from "../../../../test/support/family.ts";
import { createLab, hangs, type Lab } from "../../../../test/support/lab.ts";
import { type HoldfastError, workflow } from "../../../index.ts";
import { checkInvariants } from "../../../testing/invariants/invariants.ts";
import { childId } from "../../ids.ts";
import { loadRun } from "../../journal/load.ts";
import type { Append, Store } from "../../store/contract.ts";
import type { RunRow } from "../../types.ts";

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "none",
    (error: HoldfastError) => error.code ?? String(error),
  );

/** The family of three levels, run to its end. */
async function finished() {
  const lab = createLab();
  const made = family(lab);
  const engine = lab.engine(made.flows);
  await lab.drive(engine.start(made.root, { start: 5 }, { id: "r" }));
  expect((await settle(lab, engine, "r")).status).toBe("completed");
  const result = await lab.drive(engine.result("r"));
  return { lab, engine, ...made, result, called: made.calls.length };
}

const rows = async (lab: Lab) => (await lab.store.list({ limit: 1_000 })).runs;

describe("a fork of a run of three levels", () => {
  it("has at every checkpoint the state of its source, and ends like it without calling anything twice (S4-01)", async () => {
    const { lab, engine, calls, called, result } = await finished();
    const stored = await rows(lab);
    expect(stored).toHaveLength(5);
    expect((await lab.store.read("r"))?.snapshotSeq).toBeGreaterThan(0);
    const positions = await checkpointsOf(lab.store, "r");
    expect(positions.length).toBeGreaterThan(25);
    for (const seq of positions) {
      const id = `fork-${seq}`;
      const fork = await lab.drive(engine.fork(`r@${seq}`, { id }));
      expect(fork).toMatchObject({ id, lineage: id, parent: null, origin: { runId: "r", seq } });
      expect(await digestAt(lab.store, id, seq), `at ${seq}`).toBe(await digestAt(lab.store, "r", seq));
      expect((await settle(lab, engine, id)).status, `at ${seq}`).toBe("completed");
      expect(await lab.drive(engine.result(id)), `at ${seq}`).toEqual(result);
      expect(calls.slice(called), `at ${seq}`).toEqual([]);
    }
    // Children that were under way were gone on with; nothing of the source or its children was written to.
    const origins = (await rows(lab)).flatMap(({ parent, origin }) => (parent && origin ? [origin.seq] : []));
    expect(origins.some((seq) => seq > 1)).toBe(true);
    expect(origins.some((seq) => seq === 1)).toBe(true);
    for (const row of stored) expect(await lab.store.read(row.id)).toEqual(row);
    expect(await checkInvariants(lab.store, { calls: [] })).toEqual([]);
  }, 60_000);

  it("is foreseen: which calls would be taken over, and which runs forked along", async () => {
    const { lab, engine, calls } = await finished();
    const stored = await rows(lab);
    const [first = 0] = await checkpointsOf(lab.store, "r");
    const preview = await lab.drive(engine.previewFork(`r@${first}`));
    expect(preview).toMatchObject({ from: { runId: "r", seq: first }, effects: "reuse", edits: [] });
    expect(preview.calls).toHaveLength(calls.length);
    expect(preview.calls.every(({ becomes }) => becomes === "reused")).toBe(true);
    expect(preview.children.map(({ step, seq }) => [step, seq])).toEqual([
      ["both[0]/one", 1],
      ["below", 1],
      ["both[1]/two", 1],
      ["below", 1],
    ]);
    const told = (await eventsOf(lab.store, "r")).find(({ kind }) => kind === "child_finished")?.seq;
    const late = await lab.drive(engine.previewFork(`r@${told}`, { effects: "allow" }));
    // The other child had ended by then and not told so.
    expect(late.children).toMatchObject([{ step: "both[1]/two", kept: true }]);
    expect(late.children[0]?.seq).toBeGreaterThan(1);
    expect(late.calls.map(({ step, becomes }) => [step, becomes])).toEqual([["finish", "called again"]]);
    expect(await rows(lab)).toEqual(stored);
    const end = await lab.drive(engine.previewFork("r"));
    expect([end.calls, end.children]).toEqual([[], []]);
  });

  it("can be made of the children too", async () => {
    const { lab, engine, calls, called } = await finished();
    const child = childId("r", "both[0]/one");
    for (const runId of [child, childId(child, "below")]) {
      const result = await lab.drive(engine.result(runId));
      for (const seq of await checkpointsOf(lab.store, runId)) {
        const { id, parent } = await lab.drive(engine.fork(`${runId}@${seq}`));
        expect(parent).toBeNull();
        expect(await digestAt(lab.store, id, seq)).toBe(await digestAt(lab.store, runId, seq));
        expect(await lab.drive(engine.result(id))).toEqual(result);
      }
    }
    expect(calls.slice(called)).toEqual([]);
    expect(await checkInvariants(lab.store, { calls: [] })).toEqual([]);
  });

  it("loses nothing and calls nothing twice when its process dies at any moment", async () => {
    const { lab, engine, calls, called, flows, result } = await finished();
    await lab.crash(engine);
    const answered = (await eventsOf(lab.store, "r")).find(({ kind }) => kind === "gate_answered")?.seq;
    for (let ms = 0; ms < 60; ms += 4) {
      const id = `fork-${ms}`;
      const first = lab.engine(flows);
      const forking = first.fork(`r@${answered}`, { id }).catch(() => undefined);
      await lab.clock.advance(ms);
      await forking;
      const { engine: second } = await lab.afterCrash(first, flows, id);
      expect((await settle(lab, second, id)).status, `after ${ms}`).toBe("completed");
      expect(await lab.drive(second.result(id)), `after ${ms}`).toEqual(result);
      await lab.crash(second);
    }
    expect(calls.slice(called)).toEqual([]);
    expect(await checkInvariants(lab.store, { calls: [] })).toEqual([]);
  }, 60_000);

  it("forks its children also when its process died after it had announced them", async () => {
    const { lab, engine, calls, called, flows, result } = await finished();
    await lab.crash(engine);
    const started = (await eventsOf(lab.store, "r"))
      .filter(({ kind }) => kind === "loop_advanced")
      .at(-1)?.seq;
    // The write that makes the first child hangs, and with it the process.
    const store: Store = {
      ...lab.store,
      append: (batch) =>
        batch.some(({ run, expect: no }) => no === null && run.parent) ? hangs() : lab.store.append(batch),
    };
    const first = lab.engine(flows, { store });
    await lab.drive(first.fork(`r@${started}`, { id: "f" }));
    await lab.clock.advance(1_000);
    const open = (await eventsOf(lab.store, "f")).filter(
      (one) => one.kind === "step_started" && one.meta.child,
    );
    expect(open.length).toBeGreaterThan(0);
    expect(await lab.store.read(childId("f", "both[0]/one"))).toBeNull();
    const { engine: second } = await lab.afterCrash(first, flows, "f");
    await settle(lab, second, "f");
    expect(await lab.drive(second.result("f"))).toEqual(result);
    expect(calls.slice(called)).toEqual([]);
  });

  it("goes on in a fork of a fork, and where that was not, in the source of both", async () => {
    const { lab, engine, calls, called, result } = await finished();
    const [early = 0] = await checkpointsOf(lab.store, "r");
    await lab.drive(engine.fork(`r@${early}`, { id: "one" }));
    await lab.drive(engine.settled("one"));
    // It waits at the gate: nothing that comes after is known in it.
    const second = await lab.drive(engine.fork("one", { id: "two" }));
    expect(second.origin?.runId).toBe("one");
    expect((await settle(lab, engine, "two")).status).toBe("completed");
    expect(await lab.drive(engine.result("two"))).toEqual(result);
    expect(calls.slice(called)).toEqual([]);
  });
});

describe("a fork with other values", () => {
  const setup = async () => {
    const lab = createLab();
    let broken = true;
    const flow = workflow("flow", async (ctx, input: { n: number }) => {
      ctx.memory.set("note", "old");
      const a = await ctx.step("a", () => input.n * 2);
      const state = await ctx.loop("turns", { sum: 0 }, async (draft, turn) => {
        draft.sum += await ctx.step("add", () => a + turn.index);
        return turn.index === 3 ? turn.done() : undefined;
      });
      await ctx.gate("ok", { choices: ["yes"] });
      const { model = "small" } = ctx.config;
      const last = await ctx.step(
        "last",
        () => {
          if (broken) throw Object.assign(new Error("broken"), { fatal: true });
          return "made";
        },
        { retry: false, effect: "once" },
      );
      return { n: input.n, a, sum: state.sum, note: ctx.memory.get("note"), model, last };
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, { n: 1 }, { id: "r", config: { depth: 1 } }));
    await settle(lab, engine, "r");
    const mend = () => {
      broken = false;
    };
    const loops = (await eventsOf(lab.store, "r")).filter(({ kind }) => kind === "loop_advanced");
    return { lab, engine, flow, mend, loops };
  };

  it("sees edited memory, step results, loop states, input and config; the source keeps its own", async () => {
    const { lab, engine, mend, loops } = await setup();
    const before = await lab.store.read("r");
    mend();
    const set = {
      memory: { note: "new" },
      steps: { a: 100 },
      loops: { turns: { sum: 1_000 } },
      input: { n: 7 },
      config: { model: "large" },
    };
    const seq = loops[1]?.seq ?? 0;
    const preview = await lab.drive(engine.previewFork(`r@${seq}`, { set }));
    expect(preview.edits.map(({ what }) => what)).toEqual(["memory", "step", "loop", "input", "config"]);
    await lab.drive(engine.fork(`r@${seq}`, { id: "f", set, actor: "ada", reason: "what if" }));
    await lab.drive(engine.settled("f"));
    await lab.drive(engine.answer("f", "ok", { choice: "yes" }));
    await lab.drive(engine.settled("f"));
    await lab.drive(engine.answer("f", "approve:last#fork", { choice: "call" }));
    expect(await lab.drive(engine.result("f"))).toEqual({
      n: 7,
      a: 100,
      sum: 1_000 + 102 + 103,
      note: "new",
      model: "large",
      last: "made",
    });
    expect(await lab.store.read("r")).toEqual(before);
    const forked = (await eventsOf(lab.store, "f")).find(({ kind }) => kind === "run_forked");
    expect(forked).toMatchObject({ actor: "ada", meta: { reason: "what if", effects: "reuse" } });
  });

  it("takes over a failed run and goes on where it failed", async () => {
    const { lab, engine, mend } = await setup();
    expect((await engine.get("r"))?.status).toBe("failed");
    mend();
    const fork = await lab.drive(engine.fork("r", { id: "f" }));
    expect(fork).toMatchObject({ status: "queued", error: null, finishedAt: null });
    const waiting = await lab.drive(engine.settled("f"));
    // What the failed call did is not known, so a person is asked.
    expect(waiting.waiting[0]).toMatchObject({ kind: "gate", step: "approve:last#fork" });
    await lab.drive(engine.answer("f", "approve:last#fork", { choice: "call" }));
    expect(await lab.drive(engine.result("f"))).toMatchObject({ last: "made", sum: 14 });
  });

  it("can be given the result that the source failed to get", async () => {
    const { lab, engine } = await setup();
    await lab.drive(engine.fork("r", { id: "f", set: { steps: { last: "given" } } }));
    expect(await lab.drive(engine.result("f"))).toMatchObject({ last: "given" });
  });

  it("refuses what cannot be edited, and makes nothing", async () => {
    const { lab, engine, loops } = await setup();
    const fork = (set: object) => codeOf(lab.drive(engine.fork(`r@${loops[0]?.seq}`, { id: "f", set })));
    expect(await fork({ steps: { none: 1 } })).toBe("HF-1010");
    expect(await fork({ loops: { turns: 5 } })).toBe("HF-1024");
    expect(await fork({ nonsense: {} })).toBe("HF-1003");
    expect(await engine.get("f")).toBeNull();
  });
});

describe("making a fork", () => {
  const flow = workflow("flow", async (ctx) => {
    await ctx.step("a", () => "x".repeat(10_000));
    await ctx.loop("turn", {}, (_, turn) => turn.done());
    ctx.usage({ tokens: 5 });
    await ctx.step("b", () => 2);
    return ctx.step("c", () => 3);
  });
  const other = workflow("other", (ctx) => ctx.step("a", () => 1));

  const setup = async (budget?: { tokens: number }) => {
    const lab = createLab();
    const engine = lab.engine([flow, other]);
    await lab.drive(engine.start(flow, undefined, { id: "r", ...(budget ? { budget } : {}) }));
    await lab.drive(engine.result("r"));
    return { lab, engine };
  };

  it("twice with the same id is one fork, also at the same time; from elsewhere it is refused", async () => {
    const { lab, engine } = await setup();
    const [first = 0, second = 0] = await checkpointsOf(lab.store, "r");
    const twice = await lab.drive(
      Promise.all([engine.fork(`r@${first}`, { id: "f" }), engine.fork(`r@${first}`, { id: "f" })]),
    );
    expect(twice.map(({ id }) => id)).toEqual(["f", "f"]);
    await lab.drive(engine.result("f"));
    expect((await lab.drive(engine.fork(`r@${first}`, { id: "f" }))).status).toBe("completed");
    expect(await codeOf(lab.drive(engine.fork(`r@${second}`, { id: "f" })))).toBe("HF-1002");
    expect(await codeOf(lab.drive(engine.fork(`r@${second}`, { id: "r" })))).toBe("HF-1002");
    expect(await rows(lab)).toHaveLength(2);
  });

  it("needs a checkpoint or the head, a known policy and a sound budget", async () => {
    const { lab, engine } = await setup();
    const fork = (address: string, options = {}) => codeOf(lab.drive(engine.fork(address, options)));
    expect(await fork("r@1")).toBe("HF-1022");
    expect(await fork("r@999")).toBe("HF-1022");
    expect(await fork("r@nothing")).toBe("HF-1022");
    expect(await fork("r@@")).toBe("HF-1022");
    expect(await fork("")).toBe("HF-1021");
    expect(await fork("none@3")).toBe("HF-1001");
    expect(await fork("r", { effects: "maybe" })).toBe("HF-1003");
    expect(await fork("r", { budget: { tokens: -1 } })).toBe("HF-1003");
    expect(await fork("r", { id: "not an id" })).toBe("HF-1004");
    expect(await rows(lab)).toHaveLength(1);
  });

  it("has what the limits of its source leave, and counts from zero (X12)", async () => {
    const { lab, engine } = await setup({ tokens: 50 });
    const same = await lab.drive(engine.fork("r", { id: "same" }));
    expect(same).toMatchObject({ budget: { tokens: 45 }, usage: { tokens: 0 }, activeMs: 0 });
    const [first = 0] = await checkpointsOf(lab.store, "r");
    const early = await lab.drive(engine.fork(`r@${first}`, { id: "early" }));
    expect(early.budget).toEqual({ tokens: 50 });
    const state = await loadRun(lab.store, valuesOf(lab.store), (await lab.store.read("same")) as RunRow);
    expect([state.facts.usage.tokens, state.facts.turns]).toEqual([0, 0]);
    const more = await lab.drive(engine.fork("r", { id: "more", budget: { tokens: 90, turns: 3 } }));
    expect(more.budget).toEqual({ tokens: 90, turns: 3 });
  });

  it("waits at once where its source has left nothing, until it is given more (X12)", async () => {
    const lab = createLab();
    const spends = workflow("spends", async (ctx) => {
      await ctx.step("a", () => ctx.usage({ tokens: 10 }));
      return ctx.step("b", () => 2);
    });
    const engine = lab.engine([spends]);
    await lab.drive(engine.start(spends, undefined, { id: "r", budget: { tokens: 10 } }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.fork("r", { id: "f" }));
    const held = await lab.drive(engine.settled("f"));
    expect([held.budget, held.waiting.map(({ kind }) => kind)]).toEqual([{ tokens: 0 }, ["budget"]]);
    await lab.drive(engine.resume("f", { budget: { tokens: 5 } }));
    expect(await lab.drive(engine.result("f"))).toBe(2);
  });

  it("asks open gates and begins open waits anew, keeps untaken signals, and is found by a checkpoint's name", async () => {
    const lab = createLab();
    const waits = workflow("waits", async (ctx) => {
      await ctx.step("a", () => 1);
      await ctx.checkpoint("ready");
      await ctx.gate("ok", { choices: ["yes"] });
      const { payload } = await ctx.signal<number>("go");
      const before = ctx.now();
      await ctx.sleep("nap", 60_000);
      return [payload, ctx.now() - before];
    });
    const engine = lab.engine([waits]);
    await lab.drive(engine.start(waits, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.signal("r", "go", 7));
    const named = await lab.drive(engine.fork("r@ready", { id: "named" }));
    expect((await lab.drive(engine.settled("named"))).waiting).toMatchObject([{ kind: "gate", step: "ok" }]);
    expect(named.waiting).toEqual([]);
    await lab.drive(engine.fork("r", { id: "f" }));
    for (const id of ["f", "r"]) {
      expect((await lab.drive(engine.settled(id))).waiting).toMatchObject([{ kind: "gate", step: "ok" }]);
      await lab.drive(engine.answer(id, "ok", { choice: "yes" }));
    }
    await lab.clock.advance(1_000);
    expect((await engine.get("f"))?.waiting).toMatchObject([{ kind: "timer" }]);
    await lab.clock.advance(20_000);
    // The nap of the source is a third over; that of its fork begins now.
    await lab.drive(engine.fork("f", { id: "late" }));
    expect(await lab.drive(engine.result("late"))).toEqual([7, expect.any(Number)]);
    const [, slept] = (await lab.drive(engine.result<number[]>("late"))) as [number, number];
    expect(slept).toBeGreaterThan(80_000);
  });

  it("copies nothing that lies after the checkpoint, inside an entry too", async () => {
    const { lab, engine } = await setup();
    const entries = await lab.store.entries("r", { from: 1, limit: 100 });
    const [first = 0] = await checkpointsOf(lab.store, "r");
    expect(entries.some(({ seq, count }) => seq <= first && first < seq + count - 1)).toBe(true);
    await lab.drive(engine.fork(`r@${first}`, { id: "f" }));
    const copied = (await eventsOf(lab.store, "f")).filter(({ seq }) => seq <= first);
    const source = (await eventsOf(lab.store, "r")).filter(({ seq }) => seq <= first);
    const plain = (events: typeof copied) =>
      events.map(({ kind, step, seq, at, data }) => ({ kind, step, seq, at, data }));
    expect(plain(copied)).toEqual(plain(source));
    expect(copied.every(({ epoch }) => epoch === 0)).toBe(true);
    expect(copied[0]?.meta).toMatchObject({ lineage: "f", origin: { runId: "r", seq: first } });
    expect(await lab.drive(engine.result("f"))).toBe(3);
  });

  it("is refused, and makes nothing, where values that the state needs were dropped", async () => {
    const { lab, engine } = await setup();
    const [first = 0] = await checkpointsOf(lab.store, "r");
    await lab.clock.advance(10_000);
    await lab.drive(engine.retention.prune({ maxAge: 1 }));
    expect((await engine.get("r"))?.prunedAt).not.toBeNull();
    expect(await codeOf(lab.drive(engine.fork(`r@${first}`, { id: "f" })))).toBe("HF-1023");
    expect(await codeOf(lab.drive(engine.previewFork(`r@${first}`)))).toBe("HF-1023");
    expect(await codeOf(lab.drive(engine.replay(`r@${first}`)))).toBe("HF-1023");
    expect(await engine.get("f")).toBeNull();
  });

  it("works from a snapshot where older values of a loop were dropped, and not from before it", async () => {
    const lab = createLab();
    const chat = workflow("chat", async (ctx) => {
      // Long enough to be a blob of the snapshot's own, and short enough to be none elsewhere.
      ctx.memory.set("note", "m".repeat(2_000));
      const state = await ctx.loop("turn", { messages: [] as string[] }, async (draft, turn) => {
        draft.messages.push(await ctx.step("ask", () => `${turn.index}:${"x".repeat(900)}`));
        return turn.index === 59 ? turn.done() : undefined;
      });
      await ctx.gate("ok", { choices: ["yes"] });
      return [state.messages.length, ctx.memory.get<string>("note")?.length];
    });
    const engine = lab.engine([chat]);
    await lab.drive(engine.start(chat, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const positions = await checkpointsOf(lab.store, "r");
    await lab.drive(engine.retention.prune({ keepLast: 1 }));
    expect(await codeOf(lab.drive(engine.fork(`r@${positions[0]}`)))).toBe("HF-1023");
    const { id } = await lab.drive(engine.fork(`r@${positions.at(-1)}`, { id: "f" }));
    expect(await digestAt(lab.store, id, positions.at(-1))).toBe(
      await digestAt(lab.store, "r", positions.at(-1)),
    );
    expect((await settle(lab, engine, "f")).status).toBe("completed");
    expect(await lab.drive(engine.result("f"))).toEqual([60, 2_000]);
    expect((await lab.drive(engine.checkpoints.validate("f"))).problems).toEqual([]);
  });
});

describe("the children of a fork", () => {
  const setup = async () => {
    const lab = createLab();
    let broken = true;
    const calls: string[] = [];
    const child = workflow("child", async (ctx, n: number) => {
      await ctx.step("pay", () => void calls.push(`pay ${n}`), { effect: "keyed" });
      return ctx.step(
        "work",
        () => {
          if (broken) throw Object.assign(new Error("broken"), { fatal: true });
          return n * 2;
        },
        { retry: false },
      );
    });
    const root = workflow("root", async (ctx) => {
      const n = await ctx.step("first", () => 5);
      return ctx.child("below", child, n);
    });
    const engine = lab.engine([root, child]);
    await lab.drive(engine.start(root, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const mend = () => {
      broken = false;
    };
    return { lab, engine, root, child, calls, mend };
  };

  it("are tried again from where they failed, when the source failed with them", async () => {
    const { lab, engine, calls, mend } = await setup();
    expect((await engine.get("r"))?.status).toBe("failed");
    mend();
    await lab.drive(engine.fork("r", { id: "f" }));
    expect(await lab.drive(engine.result("f"))).toBe(10);
    expect(calls).toEqual(["pay 5"]);
    expect((await engine.get(childId("r", "below")))?.status).toBe("failed");
    expect((await engine.get("r"))?.status).toBe("failed");
  });

  it("begin with the fork's own input where that is another one", async () => {
    const { lab, engine, calls, mend } = await setup();
    mend();
    const [first = 0] = await checkpointsOf(lab.store, "r");
    await lab.drive(engine.fork(`r@${first}`, { id: "f", set: { steps: { first: 8 } } }));
    expect(await lab.drive(engine.result("f"))).toBe(16);
    // The call declares no arguments, so what the source recorded counts.
    expect(calls).toEqual(["pay 5"]);
  });

  it("fail again as they had failed, when the source had not been told yet", async () => {
    const lab = createLab();
    let broken = true;
    const child = workflow("child", (ctx) =>
      ctx.step("work", () => (broken ? Promise.reject(new Error("broken")) : "mended"), { retry: false }),
    );
    const root = workflow("root", (ctx) => ctx.child("below", child, undefined).catch(() => "handled"));
    // The process dies while it tells the parent.
    const tells = ({ run, entries }: Append) =>
      run.id === "r" && entries.some(({ head }) => head.includes('"child_finished"'));
    const store: Store = {
      ...lab.store,
      append: (batch) => (batch.some(tells) ? hangs() : lab.store.append(batch)),
    };
    const first = lab.engine([root, child], { store });
    await lab.drive(first.start(root, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    expect((await lab.store.read(childId("r", "below")))?.status).toBe("failed");
    await lab.crash(first);
    const outside = lab.engine([], { execute: false });
    await lab.drive(outside.signal("r", "later"));
    await lab.drive(outside.fork("r", { id: "f" }));
    broken = false;
    await lab.clock.advance(20_000);
    const second = lab.engine([root, child]);
    await lab.drive(second.recover());
    expect(await lab.drive(second.result("f"))).toBe("handled");
    expect(await lab.drive(second.result("r"))).toBe("handled");
  });

  it("are not started afresh when the source's child has lost its values: the step fails and says why", async () => {
    const { lab, engine, mend } = await setup();
    mend();
    const [first = 0] = await checkpointsOf(lab.store, "r");
    await lab.drive(engine.resume("r"));
    await lab.drive(engine.result("r"));
    await lab.clock.advance(10_000);
    await lab.drive(engine.retention.prune({ maxAge: 1 }, { workflow: "child" }));
    await lab.drive(engine.fork(`r@${first}`, { id: "f" }));
    const failed = await lab.drive(engine.settled("f"));
    expect(failed.status).toBe("failed");
    expect(failed.error).toContain("are gone");
    expect(await engine.get(childId("f", "below"))).toBeNull();
    expect((await lab.drive(engine.previewFork(`r@${first}`))).children).toMatchObject([{ kept: false }]);
  });

  it("stay the source's own when a fork tries all failed steps again", async () => {
    const lab = createLab();
    let broken = true;
    const child = workflow("child", (ctx) =>
      ctx.step("work", () => (broken ? Promise.reject(new Error("broken")) : 1), { retry: false }),
    );
    const root = workflow("root", async (ctx) => {
      const value = await ctx.child("below", child, undefined).catch(() => 0);
      await ctx.step("then", () => 1);
      return (
        value +
        (await ctx.step("last", () => (broken ? Promise.reject(new Error("no")) : 1), { retry: false }))
      );
    });
    const engine = lab.engine([root, child]);
    await lab.drive(engine.start(root, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const source = await engine.get(childId("r", "below"));
    await lab.drive(engine.fork("r", { id: "f" }));
    expect((await lab.drive(engine.settled("f"))).status).toBe("failed");
    broken = false;
    await lab.drive(engine.resume("f", { retryFailed: true }));
    expect(await lab.drive(engine.result("f"))).toBe(2);
    expect(await engine.get(childId("r", "below"))).toEqual(source);
  });
});
