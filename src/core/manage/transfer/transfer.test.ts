import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedPostgres } from "../../../../test/support/services/postgres.ts";
import { createEngine, type Engine, type HoldfastError, workflow } from "../../../index.ts";
import { createMemoryStore } from "../../../stores/memory.ts";
import { openPgliteStore } from "../../../stores/pglite/index.ts";
import { openPostgresStore } from "../../../stores/postgres/index.ts";
import { openSqliteStore } from "../../../stores/sqlite/index.ts";
import { checkInvariants } from "../../../testing/invariants/invariants.ts";
import { digest as sha256 } from "../../hash.ts";
import { childId } from "../../ids.ts";
import type { Store } from "../../store/contract.ts";

const root = mkdtempSync(path.join(tmpdir(), "holdfast-transfer-"));
const server = await sharedPostgres();
const db = new PGlite();
beforeAll(() => db.waitReady, 120_000);
const opened: Store[] = [];
afterAll(async () => {
  for (const store of opened) await store.close();
  await db.close();
  rmSync(root, { recursive: true, force: true });
});

let count = 0;
const STORES: Readonly<Record<string, () => Promise<Store>>> = {
  memory: async () => createMemoryStore(),
  sqlite: () => openSqliteStore({ file: path.join(root, `${++count}.db`) }),
  pglite: () => openPgliteStore({ db, schema: `t${++count}` }),
  postgres: () =>
    openPostgresStore({ connectionString: String(server.url), schema: `transfer-${process.pid}-${++count}` }),
};

async function open(name: string): Promise<Store> {
  const store = await (STORES[name] as () => Promise<Store>)();
  opened.push(store);
  return store;
}

const LARGE = "🦊 large ".repeat(3_000);

/** What a run can hold and wait for; `broken` fails its last step. */
function programs() {
  const state = { broken: true, calls: [] as string[], seen: [] as string[] };
  const child = workflow("child", async (ctx, n: number) => {
    const kept = await ctx.step("keep", () => LARGE + n);
    const said = await ctx.gate("below", { show: n, choices: ["go"] });
    return [kept.length, said.choice];
  });
  const flow = workflow("flow", async (ctx, wait: string) => {
    state.seen.push(`${ctx.runId} ${ctx.random()} ${ctx.uuid()}`);
    ctx.memory.set("large", LARGE);
    const paid = await ctx.step("pay", () => (state.calls.push(`${ctx.runId} pay`), "paid"), {
      effect: "keyed",
    });
    const turns = await ctx.loop("turns", { log: [] as string[] }, async (draft, turn) => {
      const text = await ctx.step("think", () => `${turn.index} ${"thought ".repeat(110)}`);
      draft.log.push(text);
      ctx.usage({ tokens: 10, costUsd: 0.5 });
      return turn.index === 23 ? turn.done() : undefined;
    });
    if (wait === "gate") await ctx.gate("agree", { show: turns.log.length, choices: ["yes"] });
    if (wait === "timer") await ctx.sleep("rest", 5_000);
    if (wait === "signal") await ctx.signal("news");
    const below = wait === "child" ? await ctx.child("below", child, 7) : null;
    const last = await ctx.step("last", () => {
      state.calls.push(`${ctx.runId} last`);
      if (wait === "fail" && state.broken) throw Object.assign(new Error("broken"), { retryable: false });
      return turns.log.length;
    });
    return { paid, last, below };
  });
  return { state, flow, flows: [flow, child] };
}

/** Runs of every kind at rest in a store that nobody works on any more. */
async function filled(name: string) {
  const store = await open(name);
  const made = programs();
  const engine = createEngine({ store, workflows: made.flows, sweepMs: 50, holdMs: 0 });
  for (const wait of ["none", "gate", "timer", "signal", "child", "fail", "pause"])
    await engine.start(made.flow, wait === "pause" ? "gate" : wait, { id: wait });
  for (const id of ["none", "gate", "signal", "child", "fail", "pause"]) await engine.settled(id);
  const below = childId("child", "below");
  await engine.settled(below);
  await engine.pause("pause", { reason: "moving" });
  const [newest] = await engine.checkpoints.list("gate");
  await engine.fork(newest?.id ?? "", { id: "fork" });
  await engine.settled("fork");
  await engine.checkpoints.pin("none", { actor: "ada" });
  await engine.settled("timer");
  await engine.close();
  return {
    store,
    ...made,
    ids: ["none", "gate", "timer", "signal", "child", below, "fail", "pause", "fork"],
  };
}

async function everything(store: Store, ids: readonly string[]) {
  const all = [];
  for (const id of ids) {
    const entries = await store.entries(id, { from: 1, limit: 100_000 });
    const hashes = entries.flatMap(({ head, data }) => `${head}${data ?? ""}`.match(/[\w-]{43}/g) ?? []);
    const blobs = await store.blobs(id, hashes);
    all.push({ row: await store.read(id), entries, blobs });
  }
  return all;
}

const reader = (store: Store): Engine => createEngine({ store, execute: false });

async function textOf(lines: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const line of lines) text += line;
  return text;
}

async function* pieces(text: string, size = 1_000): AsyncGenerator<string> {
  for (let from = 0; from < text.length; from += size) yield text.slice(from, from + size);
}

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "none",
    (error: HoldfastError) => error.code ?? error.message,
  );

const pairs = [
  ["memory", "sqlite"],
  ["sqlite", "pglite"],
  ["pglite", "memory"],
  ...(server.url === undefined ? [] : [["sqlite", "postgres"] as const, ["postgres", "pglite"] as const]),
] as const;

describe.each(pairs)("runs that are carried from %s to %s", (from, to) => {
  it("are the same there, go on there, and stay here as they were (S3-05, S3-34)", async () => {
    const { store, ids, flows, state } = await filled(from);
    const before = await everything(store, ids);
    const [source, target] = [reader(store), await open(to)];
    const arrived = reader(target);
    const imported: string[] = [];
    for (const id of ["none", "gate", "timer", "signal", "child", "fail", "pause", "fork"]) {
      const bundle = source.transfer.exportRun(id, { children: true });
      const report = await arrived.transfer.importRuns(bundle, {
        onConflict: "skip",
        accept: { actor: "ops" },
      });
      imported.push(...report.imported);
      expect(report.skipped).toEqual(id === "fork" ? ["gate"] : []);
    }
    expect(imported.sort()).toEqual([...ids].sort());
    const after = await everything(target, ids);
    for (const [index, run] of after.entries()) {
      const { claim, ...row } = run.row ?? expect.fail("a run is missing");
      const { claim: claimed, ...there } = before[index]?.row ?? expect.fail("a run is missing");
      // One entry more says where it came from, and who answers for it.
      const { seq, head, updatedAt } = row;
      expect(row).toEqual({ ...there, seq, head, updatedAt });
      expect(seq).toBe(there.seq + 2);
      expect(claim).toEqual({ epoch: claimed.epoch, owner: null, token: null, until: 0 });
      expect(run.entries.slice(0, -1)).toEqual(before[index]?.entries);
      expect(run.blobs).toEqual(before[index]?.blobs);
      expect(await arrived.checkpoints.digest(row.id)).toBe(await source.checkpoints.digest(row.id));
      expect(await arrived.checkpoints.validate(row.id)).toMatchObject({ ok: true });
    }
    expect(after.filter(({ row }) => row?.status === "waiting")).toHaveLength(6);
    expect(after.every(({ blobs }) => blobs.size > 0)).toBe(true);
    expect(after.some(({ row }) => (row?.snapshotSeq ?? 0) > 0)).toBe(true);

    state.broken = false;
    state.calls.length = 0;
    const seen = new Set(state.seen.splice(0));
    const engine = createEngine({ store: target, workflows: flows, sweepMs: 50 });
    await engine.work();
    await engine.answer("gate", "agree", { choice: "yes" });
    await engine.answer("fork", "agree", { choice: "yes" });
    await engine.answer(childId("child", "below"), "below", { choice: "go" });
    await engine.signal("signal", "news", "came");
    await engine.resume("fail", { retryFailed: true });
    await engine.resume("pause");
    await engine.settled("pause");
    await engine.answer("pause", "agree", { choice: "yes" });
    for (const id of ["none", "gate", "timer", "signal", "child", "fail", "pause", "fork"]) {
      const below = id === "child" ? [LARGE.length + 1, "go"] : null;
      expect(await engine.result(id), id).toEqual({ paid: "paid", last: 24, below });
    }
    const again = ["child", "fail", "fork", "gate", "pause", "signal", "timer"].map((id) => `${id} last`);
    expect([...state.calls].sort()).toEqual(again);
    // What is drawn by chance is the same in another store.
    expect(state.seen.filter((one) => !seen.has(one))).toEqual([]);
    expect(await engine.get("gate")).toMatchObject({ lineage: "gate", usage: { tokens: 240 } });
    await engine.close();
    expect(await checkInvariants(target, { calls: [] })).toEqual([]);
    expect(await everything(store, ids)).toEqual(before);
    expect(await codeOf(arrived.transfer.importRuns(source.transfer.exportRun("none")))).toBe("HF-4333");
  }, 120_000);
});

/** One small run, and its text. */
async function small() {
  const store = createMemoryStore();
  const flow = workflow("small", async (ctx) => ctx.step("one", () => "x".repeat(9_000)));
  const engine = createEngine({ store, workflows: [flow] });
  await engine.start(flow, undefined, { id: "small" });
  await engine.result("small");
  await engine.close();
  const source = reader(store);
  return { store, source, text: await textOf(source.transfer.exportRun("small")) };
}

/** The text with the digest that belongs to it. */
function resealed(lines: readonly string[]): string {
  const body = lines.slice(0, -1).map((line) => `${line}\n`);
  const end = JSON.parse(lines.at(-1) ?? "{}") as object;
  return `${body.join("")}${JSON.stringify({ ...end, digest: sha256(body.join("")) })}\n`;
}

describe("a bundle", () => {
  it("is JSON Lines with a header, the parts of each run, and an end", async () => {
    const { store, text } = await small();
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const { incarnation, secret } = await store.identity();
    expect(lines[0]).toEqual({
      format: "holdfast-bundle",
      version: 2,
      runs: ["small"],
      createdAt: expect.any(Number),
      incarnation,
    });
    expect(lines.slice(1).map((line) => Object.keys(line)[0])).toEqual([
      "run",
      ...lines.slice(2, -2).map(() => "entry"),
      "blob",
      "end",
    ]);
    expect(lines.at(-1)).toMatchObject({ end: { runs: 1, entries: lines.length - 4, blobs: 1 } });
    expect(text).not.toContain(secret);
    expect(JSON.stringify(lines[1])).not.toContain('token"');
  });

  it("is refused when any of its bytes is another one, and nothing is imported", async () => {
    const { text } = await small();
    const target = createMemoryStore();
    const { transfer } = reader(target);
    const bytes = Buffer.from(text);
    const step = Math.ceil(bytes.length / 1_500);
    const last = bytes.length - text.trimEnd().split("\n").at(-1)!.length - 2;
    for (let at = 0; at < bytes.length; at += at < last ? step : 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 1;
      const result = await codeOf(transfer.importRuns(pieces(changed.toString("utf8"), 8_000)));
      expect(result, `byte ${at}`).toBe("HF-3017");
    }
    expect((await target.list({ limit: 10 })).runs).toEqual([]);
  }, 60_000);

  it("is refused when it is cut short at any place, or goes on", async () => {
    const { text } = await small();
    const { transfer } = reader(createMemoryStore());
    for (let end = 0; end < text.length; end += end < text.length - 300 ? 97 : 1)
      expect(await codeOf(transfer.importRuns(pieces(text.slice(0, end), 8_000))), `at ${end}`).toBe(
        "HF-3017",
      );
    for (const more of ["\n", "{}\n", text])
      expect(await codeOf(transfer.importRuns(pieces(text + more)))).toBe("HF-3017");
  });

  it("is refused when its parts were changed by somebody who can make a digest", async () => {
    const { text } = await small();
    const lines = text.trimEnd().split("\n");
    const { transfer } = reader(createMemoryStore());
    const edited = (at: number, change: (line: string) => string) =>
      resealed(lines.map((line, index) => (index === at ? change(line) : line)));
    const forged: Record<string, string> = {
      "another status": edited(1, (line) => line.replace('"completed"', '"failed"')),
      "another id": resealed(lines.map((line) => line.replaceAll('"small"', '"other"'))),
      "another workflow": edited(1, (line) => line.replace('"workflow":"small"', '"workflow":"big"')),
      "a field more": edited(1, (line) => line.replace('{"run":{', '{"run":{"claim":null,')),
      "another time": edited(2, (line) => line.replace(/\\"t\\":\d/, '\\"t\\":9')),
      "an epoch that falls": edited(lines.length - 3, (line) => line.replace(/\\"e\\":\d+/, '\\"e\\":0')),
      "another value": edited(2, (line) => line.replace(/"data":"[^"]*/, (data) => `${data} `)),
      "another blob": edited(lines.length - 2, (line) => line.replace("xx", "xy")),
      "no blob": resealed(lines.filter((_, index) => index !== lines.length - 2)),
      "two blobs": resealed(
        lines.flatMap((line, index) => (index === lines.length - 2 ? [line, line] : [line])),
      ),
      "an entry less": resealed(lines.filter((_, index) => index !== 3)),
      "entries in another order": resealed(
        lines.map((line, index) => (index === 2 ? lines[3] : index === 3 ? lines[2] : line) as string),
      ),
      "a newer version": edited(0, (line) => line.replace('"version":2', '"version":3')),
      "no events": edited(2, (line) => line.replace(/\\"v\\":\[.*?\]\]/, '\\"v\\":[[]]')),
      "a line of something else": resealed([...lines.slice(0, 2), '{"hello":1}', ...lines.slice(2)]),
      "an entry before its run": resealed([lines[0], lines[2], lines[1], ...lines.slice(3)] as string[]),
    };
    expect(await codeOf(transfer.importRuns(pieces(resealed(lines))))).toBe("none");
    const fresh = reader(createMemoryStore()).transfer;
    for (const [name, changed] of Object.entries(forged)) {
      expect(changed, name).not.toBe(text);
      expect(await codeOf(fresh.importRuns(pieces(changed))), name).toBe("HF-3017");
    }
  });

  it("is refused when it is longer than allowed", async () => {
    const { text } = await small();
    const { transfer } = reader(createMemoryStore());
    expect(await codeOf(transfer.importRuns(pieces(text), { maxLength: text.length - 1 }))).toBe("HF-3017");
    expect(await codeOf(transfer.importRuns(pieces(text), { maxLength: text.length }))).toBe("none");
  });

  it("is taken only with the right signature where one is asked for", async () => {
    const { source, text } = await small();
    const sign = (secret: string) => (digest: string) =>
      createHmac("sha256", secret).update(digest).digest("hex");
    const verify = (digest: string, signature: string) => sign("ours")(digest) === signature;
    const { transfer } = reader(createMemoryStore());
    const theirs = source.transfer.exportRun("small", { sign: sign("theirs") });
    expect(await codeOf(transfer.importRuns(pieces(text), { verify }))).toBe("HF-3017");
    expect(await codeOf(transfer.importRuns(theirs, { verify }))).toBe("HF-3017");
    const failing = () => Promise.reject(new Error("no key"));
    const ours = () => source.transfer.exportRun("small", { sign: sign("ours") });
    expect(await codeOf(transfer.importRuns(ours(), { verify: failing }))).toBe("HF-3017");
    expect(await transfer.importRuns(ours(), { verify })).toEqual({
      imported: ["small"],
      skipped: [],
      review: [],
    });
  });

  it("of a run that is here already is refused, or passed over when told so", async () => {
    const { text } = await small();
    const other = await small();
    const target = reader(createMemoryStore());
    await target.transfer.importRuns(pieces(text));
    const skip = { onConflict: "skip" } as const;
    expect(await codeOf(target.transfer.importRuns(pieces(text)))).toBe("HF-4333");
    expect(await target.transfer.importRuns(pieces(text), skip)).toEqual({
      imported: [],
      skipped: ["small"],
      review: [],
    });
    // Another run of the same name is not the same.
    expect(await codeOf(target.transfer.importRuns(pieces(other.text), skip))).toBe("HF-4334");
    expect(await codeOf(target.transfer.importRuns(pieces(text), { onConflict: "x" as "skip" }))).toBe(
      "HF-1003",
    );
  });
});
