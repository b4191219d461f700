import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { createEngine, type Engine, type RetentionPolicy, workflow } from "../../src/index.ts";
import { withStoreAt } from "../../src/testing/store-address.ts";
import { fileKind, sqliteKind } from "../../src/testing/store-kinds.ts";
import { isExhaustive } from "../support/exhaustive.ts";
import { stateAt } from "../support/retention.ts";
import type { PruneConfig } from "./retention-child.ts";
import { held, inFolders, inSchemas, type Template } from "./retention-places.ts";
import { type Servers, startServers } from "./servers.ts";

const servers = (await startServers()) as Servers;
const folder = mkdtempSync(path.join(tmpdir(), "holdfast-deletion-"));
afterAll(async () => {
  await servers?.close();
  rmSync(folder, { recursive: true, force: true });
});

const POLICY: RetentionPolicy = { keepLast: 2, maxAge: 0, failedMaxAge: 0, onExpiry: "delete" };
const LONG = "x".repeat(20_000);

const waits = workflow("waits", async (ctx) => {
  for (let n = 0; n < 6; n++) await ctx.step(`s${n}`, () => `${n} ${LONG}`);
  return (await ctx.gate("ok", { choices: ["yes"] })).choice;
});
const short = workflow("short", (ctx, input: string) => ctx.step("work", () => `${input} ${LONG}`));
const family = workflow("family", async (ctx) => (await ctx.child("below", short, "child")).length);

const engineOn = (store: Store): Engine =>
  createEngine({ store, workflows: [waits, short, family], quietMs: 5, retention: "forever" });

async function fill(store: Store): Promise<void> {
  const engine = engineOn(store);
  await engine.start(waits, undefined, { id: "waiting" });
  await engine.start(short, "one", { id: "completed" });
  await engine.start(family, undefined, { id: "parent" });
  await engine.start(waits, undefined, { id: "cancelled" });
  for (const id of ["waiting", "completed", "parent", "cancelled"]) await engine.settled(id);
  await engine.cancel("cancelled");
  await engine.result("parent");
  await engine.close();
}

/** Deletes in another process; returns how many writes it took, or `null` when it was killed. */
function prune(config: Omit<PruneConfig, "policy" | "batch">): number | null {
  const told = JSON.stringify({ policy: POLICY, batch: 100, ...config } satisfies PruneConfig);
  const child = spawnSync(process.execPath, [childScript("test/crash/retention-child"), told]);
  if (child.signal === "SIGKILL") return null;
  if (child.status !== 0) throw new Error(String(child.stderr));
  return (JSON.parse(String(child.stdout)) as { writes: number }).writes;
}

/** Whatever is left is whole: every run validates, and every listed checkpoint can be restored. */
async function checkWhole(store: Store, waiting: unknown, at: string): Promise<readonly string[]> {
  const engine = createEngine({ store, execute: false });
  const { runs } = await engine.list();
  for (const { id } of runs) {
    expect((await engine.checkpoints.validate(id)).problems, `${at}: ${id}`).toEqual([]);
    for (const one of await engine.checkpoints.list(id, { all: true }))
      await engine.checkpoints.digest(one.id);
  }
  expect(await stateAt(store, "waiting"), at).toEqual(waiting);
  await engine.close();
  return runs.map(({ id }) => id);
}

/** Kills on both sides of every write; of every so many in a sample. */
async function killedAtWrites(template: Template, few: number): Promise<number> {
  const whole = await template.copy();
  const writes = prune({ store: whole.place.address }) ?? 0;
  await whole.remove();
  for (let write = isExhaustive ? 1 : 2; write <= writes; write += isExhaustive ? 1 : few)
    for (const side of ["before", "after"] as const) {
      const at = `killed ${side} write ${write}`;
      const one = await template.copy();
      await withStoreAt(one.place.address, async (store) => {
        const waiting = await stateAt(store, "waiting");
        expect(prune({ store: one.place.address, kill: { write, side } }), at).toBeNull();
        await checkWhole(store, waiting, at);
        const engine = engineOn(store);
        await engine.retention.prune(POLICY);
        expect(await checkWhole(store, waiting, at), at).toEqual(["waiting"]);
        const blobs = (await held(store, ["waiting"])).reduce((sum, [, , found]) => sum + found.length, 0);
        expect(await one.place.blobs(), at).toBe(template.counts === "runs" ? 1 : blobs);
        await engine.answer("waiting", "ok", { choice: "yes" });
        expect(await engine.result("waiting"), at).toBe("yes");
        await engine.close();
      });
      await one.remove();
    }
  return writes;
}

describe("a process that deletes runs", () => {
  it("may be killed at any of its writes to SQLite: a run is whole or gone (S1-49)", async () => {
    expect(await killedAtWrites(await inFolders(sqliteKind, folder, fill), 3)).toBeGreaterThan(4);
  });

  it("may be killed at its writes to files", async () => {
    // One process at a time may use a folder.
    const template = await inFolders(fileKind, folder, fill);
    const one = await template.copy();
    expect(prune({ store: one.place.address, kill: { write: 4, side: "after" } })).toBeNull();
    await withStoreAt(one.place.address, async (store) => {
      const waiting = await stateAt(store, "waiting");
      await checkWhole(store, waiting, "files");
      const engine = engineOn(store);
      await engine.retention.prune(POLICY);
      expect(await checkWhole(store, waiting, "files")).toEqual(["waiting"]);
      await engine.close();
    });
  });

  it.skipIf(!servers)("may be killed at its writes to PostgreSQL", async () => {
    const template = await inSchemas(servers.kinds.postgres, servers.postgres.url, fill);
    expect(await killedAtWrites(template, 5)).toBeGreaterThan(4);
  });
});
