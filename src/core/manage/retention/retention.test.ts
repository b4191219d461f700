import { describe, expect, it } from "vitest";
import { createLab, hangs } from "../../../../test/support/lab.ts";
import {
  chat,
  codeOf,
  journal,
  namedBlobs,
  pin,
  rowOf,
  run,
  stateAt,
  storedBytes,
  verify,
  watchBlobs,
} from "../../../../test/support/retention.ts";
import { type RetentionPolicy, workflow } from "../../../index.ts";

const DAY = 86_400_000;
const AT_ONCE: RetentionPolicy = { preset: "seed0", onExpiry: "keep-record" };

/** One step with a value of its own. */
const greet = workflow("greet", (ctx, name: string) => ctx.step("say", () => `Hello ${name}`));
const fails = workflow("fails", async (ctx) => {
  await ctx.step("work", () => "done");
  await ctx.step("break", () => Promise.reject(new Error("no")), { retry: false });
});

describe("retention by age", () => {
  it("drops the values of completed runs so long after they ended, and keeps the record of what happened (S1-65)", async () => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    await run(lab, engine, greet, "a", "Ada");
    lab.clock.jump(7 * DAY - 10_000);
    expect((await lab.drive(engine.retention.prune("default"))).runs).toEqual([]);
    lab.clock.jump(10_000);
    const report = await lab.drive(engine.retention.prune("default"));
    expect(report.runs).toMatchObject([
      { runId: "a", workflow: "greet", why: ["maxAge"], blobs: 0, pruned: true },
    ]);
    expect(report).toMatchObject({ skipped: [], complete: true, entries: report.runs[0]?.entries });
    expect(report.bytes).toBeGreaterThan(0);
    const entries = await journal(lab.store, "a");
    expect(entries.map(({ data }) => data)).toEqual(entries.map(() => null));
    await verify(lab.store, "a");
    expect((await rowOf(lab.store, "a")).prunedAt).toBeLessThanOrEqual(lab.clock.now());
    const last = JSON.parse(entries.at(-1)?.head ?? "") as { a: string; v: unknown[] };
    expect(last.a).toBe("retention");
    expect(last.v).toEqual([["values_dropped", "", { entries: report.entries, blobs: 0, all: true }, 0]]);
  });

  it("goes by when a run ended, not by when it was started", async () => {
    const lab = createLab();
    const slow = workflow("slow", async (ctx) => {
      await ctx.sleep("long", 60 * DAY);
      return "done";
    });
    const engine = lab.engine([slow]);
    await run(lab, engine, slow, "a");
    lab.clock.jump(59 * DAY);
    expect((await lab.drive(engine.retention.prune({ maxAge: 0, failedMaxAge: 0 }))).runs).toEqual([]);
    lab.clock.jump(DAY);
    await lab.drive(engine.result("a"));
    expect((await lab.drive(engine.retention.prune("default"))).runs).toEqual([]);
    expect(await lab.drive(engine.result("a"))).toBe("done");
    lab.clock.jump(7 * DAY);
    expect((await lab.drive(engine.retention.prune("default"))).runs).toHaveLength(1);
  });

  it("leaves failed runs alone until their own time, and for ever without one (S0-39)", async () => {
    const lab = createLab();
    const engine = lab.engine([fails]);
    expect(await run(lab, engine, fails, "a")).toMatchObject({ status: "failed" });
    lab.clock.jump(29 * DAY);
    expect((await lab.drive(engine.retention.prune("default"))).runs).toEqual([]);
    lab.clock.jump(DAY);
    expect((await lab.drive(engine.retention.prune({ maxAge: "1d" }))).runs).toEqual([]);
    const report = await lab.drive(engine.retention.prune("default"));
    expect(report.runs).toMatchObject([{ runId: "a", why: ["failedMaxAge"], pruned: true }]);
  });

  it("counts a failed run that was resumed and failed again from its last end", async () => {
    const lab = createLab();
    const engine = lab.engine([fails]);
    await run(lab, engine, fails, "a");
    lab.clock.jump(29 * DAY);
    await lab.drive(engine.resume("a"));
    expect(await lab.drive(engine.settled("a"))).toMatchObject({ status: "failed" });
    lab.clock.jump(DAY);
    expect((await lab.drive(engine.retention.prune("default"))).runs).toEqual([]);
  });

  it("never touches runs that wait, are paused or are under way", async () => {
    const lab = createLab();
    const flow = chat(2, 10);
    const stuck = workflow("stuck", (ctx) => ctx.step("hang", hangs));
    const engine = lab.engine([flow, stuck]);
    expect(await run(lab, engine, flow, "waiting", "")).toMatchObject({ status: "waiting" });
    await run(lab, engine, flow, "paused", "");
    expect(await lab.drive(engine.pause("paused"))).toMatchObject({ status: "paused" });
    await lab.drive(engine.start(stuck, undefined, { id: "running" }));
    lab.clock.jump(365 * DAY);
    const report = await lab.drive(engine.retention.prune({ maxAge: 0, failedMaxAge: 0 }));
    expect(report).toMatchObject({ runs: [], skipped: [], entries: 0, blobs: 0, bytes: 0 });
    expect(await lab.drive(engine.answer("waiting", "ok", { choice: "yes" }))).toMatchObject({
      choice: "yes",
    });
    expect(await lab.drive(engine.result("waiting"))).toMatchObject({ choice: "yes", count: 2 });
  });

  it("drops blobs too, those that only snapshots name included", async () => {
    const lab = createLab();
    const flow = chat(60);
    const engine = lab.engine([flow]);
    const added = watchBlobs(lab.store);
    await run(lab, engine, flow, "a", "i".repeat(20_000));
    await lab.drive(engine.answer("a", "ok", { choice: "yes" }));
    await lab.drive(engine.result("a"));
    expect((await rowOf(lab.store, "a")).snapshotSeq).toBeGreaterThan(0);
    const named = new Set(await namedBlobs(lab.store, "a"));
    expect([...added].some((hash) => !named.has(hash))).toBe(true);
    const report = await lab.drive(engine.retention.prune(AT_ONCE, { batch: 7 }));
    expect(report.blobs).toBe(added.size);
    expect((await lab.store.blobs("a", [...added])).size).toBe(0);
    expect((await journal(lab.store, "a")).every(({ data }) => data === null)).toBe(true);
    await verify(lab.store, "a");
  });

  it("does not visit a run again that has lost its values", async () => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    await run(lab, engine, greet, "a", "Ada");
    await lab.drive(engine.retention.prune(AT_ONCE));
    const { seq } = await rowOf(lab.store, "a");
    expect(await lab.drive(engine.retention.prune(AT_ONCE))).toMatchObject({ runs: [], skipped: [] });
    expect((await rowOf(lab.store, "a")).seq).toBe(seq);
  });

  it("waits until the parent of a run has been given its result", async () => {
    const lab = createLab();
    const inner = workflow("inner", (ctx) => ctx.step("work", () => "value"));
    const engine = lab.engine([inner], { execute: false });
    const outer = workflow("outer", (ctx) => ctx.child("below", inner, undefined));
    const worker = lab.engine([outer]);
    await lab.drive(worker.start(outer, undefined, { id: "top" }));
    await lab.drive(worker.result("top"));
    const {
      runs: [child],
    } = await lab.store.list({ limit: 1, parent: "top" });
    const told = await rowOf(lab.store, child?.id ?? "");
    const untold = { ...told, wakeAt: 0 };
    const read = lab.store.read.bind(lab.store);
    Object.assign(lab.store, { read: async (id: string) => (id === told.id ? untold : read(id)) });
    const before = await lab.drive(engine.retention.prune(AT_ONCE));
    expect(before.skipped).toEqual([{ runId: told.id, workflow: "inner", why: "in use" }]);
    Object.assign(lab.store, { read });
    expect((await lab.drive(engine.retention.prune(AT_ONCE))).runs).toMatchObject([{ runId: told.id }]);
  });
});

describe("what retention leaves alone", () => {
  it("does not age a pinned run, nor the runs below it", async () => {
    const lab = createLab();
    const inner = workflow("inner", (ctx) => ctx.step("work", () => "value"));
    const outer = workflow("outer", (ctx) => ctx.child("below", inner, undefined));
    const engine = lab.engine([outer]);
    await run(lab, engine, outer, "top");
    const [child] = (await lab.store.list({ limit: 1, parent: "top" })).runs;
    await pin(lab.store, "top", 1, 1);
    const report = await lab.drive(engine.retention.prune(AT_ONCE));
    expect(report.runs).toEqual([]);
    expect(report.skipped.map(({ runId, why }) => `${runId} ${why}`).sort()).toEqual(
      [`top pinned`, `${child?.id} pinned`].sort(),
    );
    await pin(lab.store, "top", 1, 0);
    expect((await lab.drive(engine.retention.prune(AT_ONCE))).runs).toHaveLength(2);
  });

  it("keeps the completed runs of each workflow that ended last (S3-14)", async () => {
    const lab = createLab();
    const other = workflow("other", async () => 1);
    const engine = lab.engine([greet, other, fails]);
    await run(lab, engine, other, "o1");
    for (const id of ["g1", "g2", "g3", "g4"]) await run(lab, engine, greet, id, id);
    await run(lab, engine, fails, "f1");
    lab.clock.jump(DAY);
    const report = await lab.drive(engine.retention.prune({ maxAge: 0, failedMaxAge: 0, keepSuccessful: 2 }));
    expect(report.runs.map(({ runId }) => runId).sort()).toEqual(["f1", "g1", "g2"]);
    expect(report.skipped.map(({ runId, why }) => `${runId} ${why}`).sort()).toEqual([
      "g3 keepSuccessful",
      "g4 keepSuccessful",
      "o1 keepSuccessful",
    ]);
    const rest = await lab.drive(engine.retention.prune({ maxAge: 0, keepSuccessful: true }));
    expect(rest.runs.map(({ runId }) => runId)).toEqual(["g3"]);
  });

  it("goes by each workflow's own rules, and only by the workflow that is asked for", async () => {
    const lab = createLab();
    const other = workflow("other", async () => 1);
    const engine = lab.engine([greet, other]);
    await run(lab, engine, greet, "g", "");
    await run(lab, engine, other, "o");
    const policy: RetentionPolicy = { maxAge: 0, workflows: { greet: "forever" } };
    expect((await lab.drive(engine.retention.prune(policy, { workflow: "greet" }))).runs).toEqual([]);
    expect((await lab.drive(engine.retention.prune(policy))).runs).toMatchObject([{ runId: "o" }]);
    expect((await lab.drive(engine.retention.prune(AT_ONCE, { workflow: "other" }))).runs).toEqual([]);
    expect((await lab.drive(engine.retention.prune(AT_ONCE, { workflow: "greet" }))).runs).toHaveLength(1);
  });

  it("leaves a run with a damaged journal as it is, and goes on with the others", async () => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    await run(lab, engine, greet, "a", "");
    await run(lab, engine, greet, "b", "");
    const entries = lab.store.entries.bind(lab.store);
    Object.assign(lab.store, {
      entries: async (id: string, range: Parameters<typeof entries>[1]) =>
        (await entries(id, range)).map((entry) =>
          id === "a" ? { ...entry, data: entry.data && `${entry.data} ` } : entry,
        ),
    });
    const report = await lab.drive(engine.retention.prune(AT_ONCE));
    expect(report.runs).toMatchObject([{ runId: "b" }]);
    expect(report.skipped).toMatchObject([{ runId: "a", why: "unreadable" }]);
  });

  it("refuses options that it does not know or cannot take", async () => {
    const { retention } = createLab().engine([]);
    const bad = [{ workflows: "x" }, { limit: 0 }, { batch: 0 }, { batch: 1.5 }, { signals: 1 }] as object[];
    for (const options of bad) expect(await codeOf(retention.prune("default", options))).toBe("HF-1003");
    expect(await codeOf(retention.preview({ maxAgee: 1 } as RetentionPolicy))).toBe("HF-1003");
  });
});

describe("the archive", () => {
  const policy = (archive: NonNullable<Exclude<RetentionPolicy, string>["archive"]>): RetentionPolicy => ({
    maxAge: 0,
    archive,
  });

  it("is given the whole run before anything of it is dropped", async () => {
    const lab = createLab();
    const flow = chat(60);
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "a", "i".repeat(20_000));
    await lab.drive(engine.answer("a", "ok", { choice: "yes" }));
    await lab.drive(engine.result("a"));
    const before = await journal(lab.store, "a");
    const blobs = await lab.store.blobs("a", await namedBlobs(lab.store, "a"));
    const archived: string[] = [];
    const archive = policy(async (bundle) => {
      expect(bundle.run).toEqual(await lab.store.read("a"));
      for (let time = 0; time < 2; time++) {
        const entries = [];
        for await (const entry of bundle.entries) entries.push(entry);
        expect(entries).toEqual(before);
        const found = new Map<string, string>();
        for await (const { hash, data } of bundle.blobs) found.set(hash, data);
        expect([...blobs].every(([hash, data]) => found.get(hash) === data)).toBe(true);
        expect(found.size).toBeGreaterThan(blobs.size);
      }
      archived.push(bundle.run.id);
    });
    await lab.drive(engine.retention.preview(archive));
    expect(archived).toEqual([]);
    await lab.drive(engine.retention.prune(archive));
    expect(archived).toEqual(["a"]);
  });

  it("is given what is left of a run whose older checkpoints were let go before", async () => {
    const lab = createLab();
    const flow = chat(80);
    const engine = lab.engine([flow]);
    for (const input of ["i", "i".repeat(20_000)]) {
      const id = `r${input.length}`;
      await run(lab, engine, flow, id, input);
      await lab.drive(engine.cancel(id));
      expect((await lab.drive(engine.retention.prune({ keepLast: 1 }))).runs).toHaveLength(1);
      const archived: string[] = [];
      await lab.drive(engine.retention.prune(policy(async (bundle) => void archived.push(bundle.run.id))));
      expect(archived).toEqual([id]);
    }
  });

  it("keeps everything of a run that it did not take, and is asked again", async () => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    await run(lab, engine, greet, "a", "");
    await run(lab, engine, greet, "b", "");
    const before = await journal(lab.store, "a");
    let works = false;
    const archive = policy(async ({ run: { id } }) => {
      if (id === "a" && !works) throw new Error("bucket is full");
    });
    const report = await lab.drive(engine.retention.prune(archive));
    expect(report.runs).toMatchObject([{ runId: "b" }]);
    expect(report.skipped).toEqual([
      { runId: "a", workflow: "greet", why: "archive failed", detail: "bucket is full" },
    ]);
    expect(await journal(lab.store, "a")).toEqual(before);
    works = true;
    expect((await lab.drive(engine.retention.prune(archive))).runs).toMatchObject([{ runId: "a" }]);
  });

  it("is not given a run again of which something is gone already", async () => {
    const lab = createLab();
    const flow = chat(3, 9_000);
    const engine = lab.engine([flow]);
    for (const [id, input] of [
      ["inline", "i"],
      ["blob", "i".repeat(20_000)],
    ] as const) {
      await run(lab, engine, flow, id, input);
      await lab.drive(engine.cancel(id));
      const archived: string[] = [];
      const stop = new AbortController();
      const off = engine.on("values_dropped", () => stop.abort());
      const archive = policy(async ({ run: { id: runId } }) => void archived.push(runId));
      const part = await lab.drive(engine.retention.prune(archive, { batch: 1, signal: stop.signal }));
      off();
      expect(part).toMatchObject({ complete: false, runs: [{ runId: id, pruned: false }] });
      expect((await lab.drive(engine.retention.prune(archive, { batch: 1 }))).runs).toMatchObject([
        { pruned: true },
      ]);
      expect(archived).toEqual([id]);
    }
  });
});

describe("a prune", () => {
  it("does exactly what the preview says", async () => {
    const lab = createLab();
    const flow = chat(70);
    const engine = lab.engine([flow, greet, fails]);
    await run(lab, engine, flow, "loop", "");
    await run(lab, engine, greet, "short", "x");
    await run(lab, engine, fails, "failed");
    await run(lab, engine, greet, "pinned", "x");
    await pin(lab.store, "pinned", 1, 1);
    const policy: RetentionPolicy = { maxAge: 0, failedMaxAge: 0, keepLast: 3 };
    const rows = await lab.store.list({ limit: 10 });
    const preview = await lab.drive(engine.retention.preview(policy, { batch: 7 }));
    expect(await lab.store.list({ limit: 10 })).toEqual(rows);
    expect(preview.runs.map(({ runId }) => runId).sort()).toEqual(["failed", "loop", "short"]);
    expect(preview.skipped).toEqual([{ runId: "pinned", workflow: "greet", why: "pinned" }]);
    const before = (
      await Promise.all(["loop", "short", "failed"].map((id) => storedBytes(lab.store, id)))
    ).reduce((a, b) => a + b);
    expect(await lab.drive(engine.retention.prune(policy, { batch: 7 }))).toEqual(preview);
    const after = (
      await Promise.all(["loop", "short", "failed"].map((id) => storedBytes(lab.store, id)))
    ).reduce((a, b) => a + b);
    expect(preview.bytes).toBeGreaterThanOrEqual(before - after);
    expect(await lab.drive(engine.retention.preview(policy))).toMatchObject({ runs: [], bytes: 0 });
  });

  it("stops after as many runs as it is told to", async () => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    for (const id of ["a", "b", "c"]) await run(lab, engine, greet, id, "");
    const limited = () => lab.drive(engine.retention.prune(AT_ONCE, { limit: 2 }));
    expect(await limited()).toMatchObject({ complete: false, runs: [{}, {}] });
    expect(await limited()).toMatchObject({ complete: true, runs: [{}] });
  });

  it("says who did it and why", async () => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    await run(lab, engine, greet, "a", "");
    await lab.drive(engine.retention.prune(AT_ONCE, { actor: "Ada", reason: "disk space" }));
    const last = JSON.parse((await journal(lab.store, "a")).at(-1)?.head ?? "") as {
      a: string;
      v: unknown[][];
    };
    expect(last.a).toBe("Ada");
    expect(last.v[0]?.[2]).toMatchObject({ all: true, reason: "disk space" });
  });

  it("may be broken off after any write, and comes to the same end", async () => {
    const ended = async (breaks: boolean) => {
      const lab = createLab();
      const flow = chat(50);
      const engine = lab.engine([flow]);
      const added = watchBlobs(lab.store);
      await run(lab, engine, flow, "living", "");
      await run(lab, engine, flow, "over", "");
      await lab.drive(engine.cancel("over"));
      const head = await stateAt(lab.store, "living");
      const policy: RetentionPolicy = { maxAge: 0, keepLast: 2 };
      for (let complete = false; !complete; ) {
        const stop = new AbortController();
        const off = engine.on("values_dropped", () => breaks && stop.abort());
        complete = (await lab.drive(engine.retention.prune(policy, { batch: 4, signal: stop.signal })))
          .complete;
        off();
        expect(await stateAt(lab.store, "living")).toEqual(head);
        await verify(lab.store, "living");
        await verify(lab.store, "over");
      }
      const held = async (id: string) =>
        (await journal(lab.store, id)).filter(({ data }) => data !== null).map(({ seq }) => seq);
      const blobs = async (id: string) => [...(await lab.store.blobs(id, [...added])).keys()].sort();
      return [await held("living"), await blobs("living"), await held("over"), await blobs("over")];
    };
    const whole = await ended(false);
    expect(whole[0]).not.toEqual([]);
    expect(whole.slice(2)).toEqual([[], []]);
    expect(await ended(true)).toEqual(whole);
  });
});
