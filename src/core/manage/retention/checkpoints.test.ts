import { describe, expect, it } from "vitest";
import { createLab } from "../../../../test/support/lab.ts";
import {
  chat,
  checkpointsOf,
  codeOf,
  edit,
  journal,
  pin,
  rowOf,
  run,
  stateAt,
  storedBytes,
  verify,
  withoutNewestSnapshot,
} from "../../../../test/support/retention.ts";
import { workflow } from "../../../index.ts";
import { HoldfastError } from "../../errors.ts";

describe("retention between checkpoints", () => {
  it("keeps the newest checkpoints and the newest state, and drops what only older ones need", async () => {
    const lab = createLab();
    const flow = chat(120);
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "a", "i".repeat(20_000));
    const all = await checkpointsOf(lab.store, "a");
    const before = await Promise.all(all.map((seq) => stateAt(lab.store, "a", seq)));
    const head = await stateAt(lab.store, "a");
    const bytes = await storedBytes(lab.store, "a");
    const report = await lab.drive(engine.retention.prune({ keepLast: 5 }));
    expect(report.runs).toMatchObject([{ runId: "a", why: ["keepLast"], pruned: false }]);
    expect(await storedBytes(lab.store, "a")).toBeLessThan(bytes / 2);
    await verify(lab.store, "a");
    expect(await stateAt(lab.store, "a")).toEqual(head);
    const after = await Promise.all(
      all.map(async (seq) => ({
        seq,
        state: await stateAt(lab.store, "a", seq).catch((error: unknown) => error),
      })),
    );
    const gone = after.filter(({ state }) => HoldfastError.is(state, "HF-1023"));
    expect(gone.length).toBeGreaterThan(all.length / 2);
    for (const [index, { state }] of after.entries())
      if (!HoldfastError.is(state, "HF-1023")) expect(state, `checkpoint ${index}`).toEqual(before[index]);
    expect(after.slice(-5).every(({ state }) => !HoldfastError.is(state))).toBe(true);
    expect((await lab.drive(engine.answer("a", "ok", { choice: "no" }))).choice).toBe("no");
    expect(await lab.drive(engine.result("a"))).toMatchObject({ choice: "no", count: 5 });
  });

  it("finds nothing more to drop the second time, and writes nothing", async () => {
    const lab = createLab();
    const flow = chat(80);
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "a", "");
    await lab.drive(engine.retention.prune("dag"));
    const { seq } = await rowOf(lab.store, "a");
    expect(await lab.drive(engine.retention.prune("dag"))).toMatchObject({ runs: [], bytes: 0 });
    expect((await rowOf(lab.store, "a")).seq).toBe(seq);
  });

  it("leaves as many checkpoints as asked for of a run without a loop, and all values that it needs (S2-22)", async () => {
    const lab = createLab();
    const flow = workflow("steps", async (ctx) => {
      for (let n = 0; n < 50; n++) await ctx.step(`s${n}`, () => "x".repeat(5_000));
      await ctx.gate("ok", { choices: ["yes"] });
    });
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "a");
    const head = await stateAt(lab.store, "a");
    const all = await lab.drive(engine.checkpoints.list("a"));
    const report = await lab.drive(engine.retention.prune({ keepLast: 5 }));
    expect(report.runs).toMatchObject([{ runId: "a", checkpoints: 45, entries: 0, blobs: 0 }]);
    expect(await lab.drive(engine.checkpoints.list("a"))).toEqual(all.slice(0, 5));
    for (const { id } of all.slice(0, 5)) await lab.drive(engine.checkpoints.show(id));
    for (const { id } of all.slice(5)) {
      expect(await codeOf(lab.drive(engine.checkpoints.show(id)))).toBe("HF-1023");
      expect(await codeOf(lab.drive(engine.fork(id)))).toBe("HF-1023");
      expect(await codeOf(lab.drive(engine.checkpoints.pin(id)))).toBe("HF-1023");
    }
    expect(await lab.drive(engine.checkpoints.validate("a"))).toMatchObject({ ok: true, checkpoints: 5 });
    expect(await stateAt(lab.store, "a")).toEqual(head);
    expect(await lab.drive(engine.retention.prune({ keepLast: 5 }))).toMatchObject({ runs: [] });
    await lab.drive(engine.answer("a", "ok", { choice: "yes" }));
    await lab.drive(engine.result("a"));
  });

  it("keeps the newest checkpoints of each phase (S4-07)", async () => {
    const lab = createLab();
    const phases = workflow("phases", (ctx) =>
      ctx.loop("turn", { n: 0 }, async (draft, turn) => {
        if (turn.index % 40 === 0) await ctx.checkpoint(`phase ${turn.index / 40}`, "phase_started");
        draft.n += (await ctx.step("work", () => `${turn.index}${"x".repeat(900)}`)).length;
        if (turn.index === 119) await ctx.gate("ok", { choices: ["yes"] });
        return turn.index === 119 ? turn.done() : undefined;
      }),
    );
    const engine = lab.engine([phases]);
    await run(lab, engine, phases, "a");
    const marks: number[] = [];
    for (const entry of await journal(lab.store, "a"))
      if (entry.head.includes("checkpoint_marked")) marks.push(entry.seq);
    const all = await checkpointsOf(lab.store, "a");
    const kept = [
      ...all.filter((seq) => seq < (marks[1] ?? 0)).slice(-2),
      ...all.filter((seq) => seq < (marks[2] ?? 0)).slice(-2),
      ...all.slice(-2),
    ];
    const before = await Promise.all(kept.map((seq) => stateAt(lab.store, "a", seq)));
    const report = await lab.drive(engine.retention.prune({ keepPerPhase: 2 }));
    expect(report.runs).toMatchObject([{ why: ["keepPerPhase"] }]);
    expect(await Promise.all(kept.map((seq) => stateAt(lab.store, "a", seq)))).toEqual(before);
    expect(await codeOf(stateAt(lab.store, "a", all[3]))).toBe("HF-1023");
    expect(await codeOf(stateAt(lab.store, "a", all[Math.floor(all.length / 2) - 21]))).toBe("HF-1023");
  });

  it("drops the rows of checkpoints that made room for others while the run went on (S4-07)", async () => {
    const lab = createLab();
    const analysis_id = "550e8400-e29b-41d4-a716-446655440000";
    const agent = workflow("agent", async (ctx) => {
      for (const progress_pct of [25, 50, 75, 100]) {
        await ctx.step(`to ${progress_pct}`, () => progress_pct);
        const row = { stock_ticker: "AAPL", agent_type: "x", analysis_id, progress_pct };
        await ctx.checkpoint(`at ${progress_pct}`, { record: { table: "agent_checkpoints", row } });
      }
    });
    const engine = lab.engine([agent], { retention: { keepLast: 4 } });
    await run(lab, engine, agent, "a");
    await lab.drive(engine.retention.prune({ keepLast: 4 }));
    const rows = (await lab.store.records?.("a")) ?? [];
    const kept = new Set(await checkpointsOf(lab.store, "a"));
    expect(rows.map(({ row }) => row["progress_pct"])).toEqual([75, 100]);
    expect(rows.filter(({ seq }) => !kept.has(seq))).toEqual([]);
    const again = await lab.drive(engine.retention.prune({ keepLast: 4 }));
    expect(again.runs).toEqual([]);
    await verify(lab.store, "a");
  });

  it("keeps what a pinned checkpoint needs until it is let go", async () => {
    const lab = createLab();
    const flow = chat(120);
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "a", "");
    const all = await checkpointsOf(lab.store, "a");
    const pinned = all[100] as number;
    const before = await stateAt(lab.store, "a", pinned);
    await pin(lab.store, "a", pinned, 1);
    expect((await rowOf(lab.store, "a")).pinned).toBe(true);
    await lab.drive(engine.retention.prune({ keepLast: 1 }));
    expect(await stateAt(lab.store, "a", pinned)).toEqual(before);
    expect(await codeOf(stateAt(lab.store, "a", all[50]))).toBe("HF-1023");
    await pin(lab.store, "a", pinned, 0);
    expect((await lab.drive(engine.retention.prune({ keepLast: 1 }))).runs).toHaveLength(1);
    expect(await codeOf(stateAt(lab.store, "a", pinned))).toBe("HF-1023");
    await verify(lab.store, "a");
  });

  it("has a second way to the newest state: the newest snapshot may turn out to be damaged", async () => {
    const lab = createLab();
    const flow = chat(120);
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "a", "");
    const before = await stateAt(lab.store, "a");
    await lab.drive(engine.retention.prune({ keepLast: 1 }));
    expect(await stateAt(await withoutNewestSnapshot(lab.store, "a"), "a")).toEqual(before);
  });

  it("keeps what the newest state refers to, however long ago it was recorded", async () => {
    const big = (mark: string) => `${mark}${"b".repeat(9_000)}`;
    let attempts = 0;
    const flow = workflow("long", async (ctx, input: string) => {
      const seen: unknown[] = [input];
      seen.push((await ctx.signal<string>("first")).payload, await ctx.inbox("second"));
      ctx.memory.set("old", big("memory"));
      ctx.memory.set("short", "memory");
      ctx.agent("planner", { status: "ready", state: big("agent") });
      ctx.decide({ description: big("decision") });
      const flaky = () => (++attempts === 1 ? Promise.reject(new Error(big("failure"))) : big("value"));
      seen.push(await ctx.step("flaky", flaky, { retry: 2 }), await ctx.gate("before", { choices: ["yes"] }));
      const { n } = await ctx.loop("turn", { n: 0 }, async (draft, turn) => {
        draft.n += (await ctx.step("ask", () => `${turn.index}${"x".repeat(900)}`)).length;
        if (turn.index === 0) ctx.memory.set("early", big("early"));
        if (turn.index === 0) ctx.agent("critic", { status: "idle", state: big("critic") });
        if (turn.index === 150) await ctx.gate("within", { show: big("gate"), choices: ["yes"] });
        return turn.index === 151 ? turn.done() : undefined;
      });
      return { seen, n, memory: ctx.memory.keys().map((key) => ctx.memory.get(key)) };
    });
    const results = [];
    for (const prunes of [false, true]) {
      attempts = 0;
      const lab = createLab();
      const engine = lab.engine([flow]);
      const id = `r${String(prunes)}`;
      await lab.drive(engine.start(flow, big("input"), { id }));
      await lab.drive(engine.signal(id, "second", big("two")));
      await lab.drive(engine.signal(id, "first", big("one")));
      await lab.drive(engine.signal(id, "never taken", big("three")));
      await lab.drive(engine.settled(id));
      await edit(lab.store, id, "config", { model: big("model") });
      await edit(lab.store, id, "input", big("other"));
      await lab.drive(engine.answer(id, "before", { choice: "yes", actor: "Ada" }));
      await lab.drive(engine.settled(id));
      const before = await stateAt(lab.store, id);
      if (prunes) {
        const report = await lab.drive(engine.retention.prune({ keepLast: 1 }));
        expect(report.runs).toMatchObject([{ runId: id }]);
      }
      expect(await stateAt(lab.store, id)).toEqual(before);
      await lab.crash(engine);
      await lab.clock.advance(20_000);
      const next = lab.engine([flow]);
      expect((await lab.drive(next.gates(id)))[0]?.show).toBe(big("gate"));
      await lab.drive(next.answer(id, "turn[150]/within", { choice: "yes" }));
      results.push(await lab.drive(next.result(id)));
      await lab.crash(next);
    }
    const [kept, pruned] = results.map((one) => JSON.stringify(one).replaceAll(/"at":\d+/g, ""));
    expect(pruned).toBe(kept);
    expect(kept).toContain("other");
  });

  it("trims completed runs to their last state, and a failed one so that it can go on", async () => {
    const lab = createLab();
    let broken = true;
    const flow = workflow("chat", async (ctx) => {
      const { n } = await ctx.loop("turn", { n: 0 }, async (draft, turn) => {
        draft.n += (await ctx.step("ask", () => `${turn.index}${"x".repeat(900)}`)).length;
        return turn.index === 159 ? turn.done() : undefined;
      });
      await ctx.step("end", () => (broken ? Promise.reject(new Error("no")) : 1), { retry: false });
      return n;
    });
    const engine = lab.engine([flow]);
    expect(await run(lab, engine, flow, "failed")).toMatchObject({ status: "failed" });
    broken = false;
    expect(await run(lab, engine, flow, "completed")).toMatchObject({ status: "completed" });
    const before = await stateAt(lab.store, "completed");
    expect((await lab.drive(engine.retention.prune({ keepLast: 1 }))).runs).toHaveLength(2);
    expect(await storedBytes(lab.store, "completed")).toBeLessThan(await storedBytes(lab.store, "failed"));
    expect(await stateAt(lab.store, "completed")).toEqual(before);
    await lab.drive(engine.resume("failed"));
    expect(await lab.drive(engine.result("failed"))).toBe(await lab.drive(engine.result("completed")));
  });

  it("goes by the pins and values of each run: a fork has its own", async () => {
    const lab = createLab();
    const flow = chat(120);
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "source", "i".repeat(20_000));
    const all = await checkpointsOf(lab.store, "source");
    const pinned = all[100] as number;
    await lab.drive(engine.checkpoints.pin(`source@${pinned}`));
    await lab.drive(engine.retention.prune({ keepLast: 25 }));
    const before = await stateAt(lab.store, "source", pinned);
    for (const seq of [pinned, all.at(-20) as number]) {
      const id = `fork-${seq}`;
      await lab.drive(engine.fork(`source@${seq}`, { id }));
      expect(await lab.drive(engine.settled(id))).toMatchObject({ status: "waiting", pinned: false });
      const head = await stateAt(lab.store, id);
      const { runs } = await lab.drive(engine.retention.prune({ keepLast: 1 }, { run: id }));
      expect(runs.map(({ runId }) => runId)).toContain(id);
      expect(await stateAt(lab.store, id)).toEqual(head);
      expect(await stateAt(lab.store, "source", pinned)).toEqual(before);
      await verify(lab.store, id);
      await lab.drive(engine.answer(id, "ok", { choice: "yes" }));
      expect(await lab.drive(engine.result(id))).toMatchObject({ choice: "yes", count: 5 });
    }
    expect(await codeOf(lab.drive(engine.fork(`source@${all[30]}`)))).toBe("HF-1023");
  });
});
