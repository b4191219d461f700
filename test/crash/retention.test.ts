import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { createEngine, type Engine, type RetentionPolicy, workflow } from "../../src/index.ts";
import { spread } from "../../src/testing/spread.ts";
import { withStoreAt } from "../../src/testing/store-address.ts";
import { fileKind, sqliteKind } from "../../src/testing/store-kinds.ts";
import { isExhaustive, sampled } from "../support/exhaustive.ts";
import { chat, checkpointsOf, codeOf, stateAt, storedBytes, verify } from "../support/retention.ts";
import type { PruneConfig } from "./retention-child.ts";
import { type Filled, filledAnew, held, inFolders, inSchemas, type Template } from "./retention-places.ts";
import { type Servers, startServers } from "./servers.ts";

const servers = (await startServers()) as Servers;
const folder = mkdtempSync(path.join(tmpdir(), "holdfast-retention-"));
afterAll(async () => {
  await servers?.close();
  rmSync(folder, { recursive: true, force: true });
});

const KEPT = 3;
const POLICY: RetentionPolicy = { keepLast: KEPT, maxAge: 0, failedMaxAge: 0 };
const LIVING = ["waiting", "paused", "parent"];
const OVER = ["cancelled", "completed", "failed"];

const flow = chat(70);
const short = workflow("short", (ctx, input: string) => ctx.step("work", () => input.repeat(2)));
const broken = workflow("broken", (ctx) =>
  ctx.step("work", () => Promise.reject(new Error("no")), { retry: false }),
);
const family = workflow("family", async (ctx) => {
  const got = await ctx.child("below", short, "x".repeat(20_000));
  await ctx.gate("ok", { choices: ["yes"] });
  return got.length;
});

const engineOn = (store: Store): Engine =>
  createEngine({ store, workflows: [flow, short, broken, family], quietMs: 5 });

async function fill(store: Store): Promise<void> {
  const engine = engineOn(store);
  for (const id of ["waiting", "paused", "cancelled"]) {
    await engine.start(flow, id.repeat(2_000), { id });
    await engine.settled(id);
  }
  await engine.pause("paused");
  await engine.cancel("cancelled");
  await engine.start(short, "x".repeat(20_000), { id: "completed" });
  await engine.start(broken, undefined, { id: "failed" });
  await engine.start(family, undefined, { id: "parent" });
  for (const id of ["completed", "failed", "parent"]) await engine.settled(id);
  // Waits until the child has told its parent and recorded that.
  while ((await store.list({ parent: "parent", limit: 1 })).runs[0]?.wakeAt !== null) await turn();
  // It may have settled while waiting for its child: wait until it is at its gate.
  while ((await store.read("parent"))?.waiting[0]?.kind !== "gate") await turn();
  await engine.close();
}

interface Done {
  readonly signal: string | null;
  readonly writes: number;
  readonly changes: number;
}

function prune(config: Omit<PruneConfig, "policy">): Done {
  const script = childScript("test/crash/retention-child");
  const told = JSON.stringify({ policy: POLICY, ...config } satisfies PruneConfig);
  const child = spawnSync(process.execPath, [script, told]);
  if (child.signal === "SIGKILL") return { signal: "SIGKILL", writes: 0, changes: 0 };
  if (child.status !== 0) throw new Error(String(child.stderr));
  return { signal: null, ...(JSON.parse(String(child.stdout)) as Omit<Done, "signal">) };
}

/** By run, then by position: everything known about it; 0 is its newest state. */
type Known = Map<string, Map<number, unknown>>;

async function known(store: Store): Promise<Known> {
  const all: Known = new Map();
  for (const id of LIVING) {
    const states = new Map<number, unknown>([[0, await stateAt(store, id)]]);
    for (const seq of (await checkpointsOf(store, id)).slice(-KEPT))
      states.set(seq, await stateAt(store, id, seq));
    all.set(id, states);
  }
  return all;
}

const idsOf = async (store: Store): Promise<string[]> =>
  (await store.list({ limit: 100 })).runs.map(({ id }) => id);

async function checkPromises(store: Store, before: Known, at: string): Promise<void> {
  const engine = createEngine({ store, execute: false });
  for (const id of await idsOf(store)) {
    await verify(store, id);
    expect((await engine.checkpoints.validate(id)).problems, `${at}: ${id}`).toEqual([]);
  }
  for (const id of LIVING)
    for (const [seq, state] of before.get(id) ?? [])
      expect(await stateAt(store, id, seq === 0 ? undefined : seq), `${at}: ${id}@${seq}`).toEqual(state);
  await engine.close();
}

/** Checks that every stored blob is named by a run. */
async function checkBlobs(
  counts: Template["counts"],
  { place }: Filled,
  store: Store,
  at: string,
): Promise<unknown> {
  const found = await held(store, await idsOf(store));
  const having = found.filter(([, , blobs]) => blobs.length > 0);
  const all = counts === "runs" ? having.length : having.reduce((sum, [, , blobs]) => sum + blobs.length, 0);
  expect(await place.blobs(), `${at}: blobs`).toBe(all);
  return found;
}

async function goesOn(store: Store, before: Known, at: string): Promise<void> {
  const engine = engineOn(store);
  expect((await engine.retention.prune(POLICY)).complete, at).toBe(true);
  await checkPromises(store, before, `${at}, and pruned again`);
  expect(await engine.retention.prune(POLICY), at).toMatchObject({ runs: [], skipped: [] });
  await engine.answer("waiting", "ok", { choice: "yes" });
  expect(await engine.result("waiting"), at).toMatchObject({ choice: "yes", count: 5 });
  await engine.answer("parent", "ok", { choice: "yes" });
  expect(await engine.result("parent"), at).toBe(40_000);
  for (const id of OVER) expect(await codeOf(engine.fork(id)), `${at}: ${id}`).toBe("HF-1023");
  const again = await engine.start(short, "again", { id: "completed" });
  expect((await again.row())?.prunedAt, at).not.toBeNull();
  expect(await codeOf(engine.signal("failed", "late", "x")), at).toBe("HF-1023");
  await engine.close();
}

/** Kills a process at each of these places, each time with a new store. */
async function killedAt(
  template: Template,
  batch: number,
  kills: (whole: Done) => readonly Pick<PruneConfig, "kill" | "killAtChange">[],
): Promise<number> {
  const whole = await template.copy();
  const before = await withStoreAt(whole.place.address, known);
  const [first] = kills({ signal: null, writes: 1, changes: 1 });
  const counts = first?.killAtChange === undefined ? {} : { killAtChange: 0 };
  const done = prune({ store: whole.place.address, batch, ...counts });
  const end = await withStoreAt(whole.place.address, async (store) => {
    await checkPromises(store, before, "not killed");
    expect(await codeOf(stateAt(store, "waiting", 20))).toBe("HF-1023");
    return checkBlobs(template.counts, whole, store, "not killed");
  });
  await whole.remove();
  const places = kills(done);
  for (const kill of places) {
    const at = `killed at ${JSON.stringify(kill)}`;
    const one = await template.copy();
    const { address } = one.place;
    const kept = template.isExact ? before : await withStoreAt(address, known);
    expect(prune({ store: address, batch, ...kill }).signal, at).toBe("SIGKILL");
    await withStoreAt(address, async (store) => {
      await checkPromises(store, kept, at);
      const engine = createEngine({ store, execute: false });
      await engine.retention.prune(POLICY, { batch });
      await engine.close();
      const left = await checkBlobs(template.counts, one, store, at);
      if (template.isExact) expect(left, at).toEqual(end);
      await goesOn(store, kept, at);
    });
    await one.remove();
  }
  return places.length;
}

/** Both sides of every write; of every so many in a sample. */
const everyWrite =
  (few: number) =>
  ({ writes }: Done): Pick<PruneConfig, "kill">[] =>
    Array.from({ length: writes }, (_, index) => index + 1)
      .filter((write) => isExhaustive || write % few === 0)
      .flatMap((write) => (["before", "after"] as const).map((side) => ({ kill: { write, side } })));

describe("a process that drops values", () => {
  it("may be killed at any of its writes to SQLite: what must stay is there, and the next one comes to the same end", async () => {
    expect(await killedAt(await inFolders(sqliteKind, folder, fill), 120, everyWrite(3))).toBeGreaterThan(3);
  });

  it("may be killed at its writes to files", async () => {
    expect(await killedAt(await inFolders(fileKind, folder, fill), 150, everyWrite(4))).toBeGreaterThan(1);
  });

  it("may be killed at any change to the disk while it writes files", async () => {
    const changes = ({ changes: all }: Done) =>
      spread(
        Array.from({ length: all }, (_, index) => ({ killAtChange: 1 + index })),
        sampled(5),
      );
    expect(await killedAt(await inFolders(fileKind, folder, fill), 150, changes)).toBeGreaterThan(4);
  });

  describe.skipIf(!servers)("with a server", () => {
    it("may be killed at its writes to PostgreSQL", async () => {
      const template = await inSchemas(servers.kinds.postgres, servers.postgres.url, fill);
      expect(await killedAt(template, 150, everyWrite(3))).toBeGreaterThan(1);
    });

    it("may be killed at its writes to Redis, and to PostgreSQL with a cache", async () => {
      for (const kind of [servers.kinds.redis, servers.kinds.tiered])
        expect(await killedAt(filledAnew(kind, fill), 500, everyWrite(5))).toBeGreaterThan(1);
    });
  });

  it("gives the disk its room back", async () => {
    for (const kind of [sqliteKind, fileKind]) {
      const { copy } = await inFolders(kind, folder, fill);
      const one = await copy();
      const bytes = (store: Store) =>
        Promise.all([...LIVING, ...OVER].map((id) => storedBytes(store, id))).then((all) =>
          all.reduce((a, b) => a + b),
        );
      const values = await withStoreAt(one.place.address, bytes);
      const size = one.bytes?.() ?? 0;
      prune({ store: one.place.address, batch: 120 });
      const [left, shrunk] = [await withStoreAt(one.place.address, bytes), one.bytes?.() ?? 0];
      expect(left, kind.name).toBeLessThan(values / 2);
      expect(shrunk, kind.name).toBeLessThan(size * 0.85);
      await withStoreAt(one.place.address, async (store) => {
        const engine = engineOn(store);
        await engine.start(flow, "again", { id: "again" });
        await engine.settled("again");
        await engine.close();
      });
      expect(one.bytes?.(), kind.name).toBeLessThan(size);
    }
  });
});
