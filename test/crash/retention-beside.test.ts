import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import { parseEntry } from "../../src/core/journal/journal.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { createEngine, type RetentionPolicy, workflow } from "../../src/index.ts";
import { openAddress, type StoreAddress, withStoreAt } from "../../src/testing/store-address.ts";
import { fileKind, type StoreKind, sqliteKind } from "../../src/testing/store-kinds.ts";
import { createLab } from "../support/lab.ts";
import { journal, verify } from "../support/retention.ts";
import { programs } from "../support/retention-program.ts";
import { complete, labStage, pruneAndCompare, realStage } from "../support/retention-stage.ts";
import type { PruneConfig } from "./retention-child.ts";
import { type Servers, startServers } from "./servers.ts";

const servers = (await startServers()) as Servers;
const folder = mkdtempSync(path.join(tmpdir(), "holdfast-beside-"));
afterAll(async () => {
  await servers?.close();
  rmSync(folder, { recursive: true, force: true });
});

const place = (kind: StoreKind) => kind.place(mkdtempSync(path.join(folder, `${kind.name}-`)));

describe("a run that loses values while it lives", () => {
  const kinds = [sqliteKind, fileKind, ...(servers ? [servers.kinds.postgres, servers.kinds.redis] : [])];

  it.each(kinds.map((kind) => [kind.name, kind] as const))(
    "has the same state and comes to the same result on %s",
    async (_, kind) => {
      const round = fc.record({
        policy: fc.constantFrom(
          { keepLast: 1 },
          { keepLast: 3, maxAge: 0 },
          { keepPerPhase: 1, keepLast: 2 },
        ),
        batch: fc.constantFrom(7, 500),
        breakAfter: fc.constantFrom(null, 2),
      });
      const property = fc.asyncProperty(
        programs(["gate", "crash", "doubt", "child"]),
        round,
        async (program, how) => {
          const expected = await complete(labStage(createLab()), program, async () => undefined);
          const { address, clear } = place(kind);
          const store = await openAddress(address);
          const seen = new Map<number, unknown>();
          const found = await complete(realStage(store), program, (stage, engine) =>
            pruneAndCompare(stage, engine, how, seen),
          );
          expect(found).toEqual(expected);
          await store.close();
          await clear();
        },
      );
      await fc.assert(property, { numRuns: 2, seed: 3, endOnFailure: true });
    },
  );
});

const TURNS = 120;
const BATCH = 25;
const POLICY: RetentionPolicy = { keepLast: 2, maxAge: 0 };

const flow = workflow("flow", async (ctx, mark: string) => {
  const { total } = await ctx.loop("turn", { total: 0, last: "" }, async (draft, turn) => {
    draft.last = await ctx.step("work", () => `${turn.index}${mark.repeat(900)}`);
    draft.total += (await ctx.step("again", () => `${turn.index % 7}${"r".repeat(1_500)}`)).length;
    ctx.memory.set("last", { turn: turn.index, text: draft.last });
    return turn.index === TURNS - 1 ? turn.done() : undefined;
  });
  return { total, last: ctx.memory.get("last") };
});

function pruner(address: StoreAddress): { readonly child: ChildProcess; readonly said: Promise<string> } {
  const script = childScript("test/crash/retention-child");
  const told: PruneConfig = { store: address, policy: POLICY, batch: BATCH, again: true };
  const args = [script, JSON.stringify(told)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  return { child, said: text(child.stdout) };
}

/** The amount that each write of retention dropped. */
async function drops(store: Store, ids: readonly string[]): Promise<number[]> {
  const found: number[] = [];
  for (const id of ids)
    for (const entry of await journal(store, id))
      for (const event of parseEntry(id, entry).events)
        if (event.kind === "values_dropped") found.push(event.meta.entries + event.meta.blobs);
  return found;
}

async function besideWorkers(address: StoreAddress): Promise<void> {
  const ids = Array.from({ length: 6 }, (_, n) => `run-${n}`);
  await withStoreAt(address, async (store) => {
    await store.identity();
    const pruners = [pruner(address), pruner(address)];
    const problems: unknown[] = [];
    const note = (message: string, fields?: object) => void problems.push([message, fields]);
    const logger = { debug: () => undefined, info: () => undefined, warn: note, error: note };
    const engine = createEngine({ store, workflows: [flow], retention: "forever", logger, claimMs: 60_000 });
    const results = await Promise.all(
      ids.map(async (id, n) => {
        await engine.start(flow, String(n), { id });
        return engine.settled(id);
      }),
    );
    expect(results.map(({ status }) => status)).toEqual(ids.map(() => "completed"));
    for (const { child } of pruners) child.stdin?.end();
    const done = (await Promise.all(pruners.map(({ said }) => said))).map(
      (one) => JSON.parse(one) as { writes: number },
    );
    expect(done.every(({ writes }) => writes > 0)).toBe(true);
    await engine.retention.prune(POLICY, { batch: BATCH });
    for (const id of ids) {
      await verify(store, id);
      expect((await store.read(id))?.prunedAt, id).not.toBeNull();
      expect((await store.read(id))?.turns, id).toBe(TURNS);
    }
    const sizes = await drops(store, ids);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(BATCH);
    expect(sizes.length).toBeGreaterThan(2 * ids.length);
    expect(problems).toEqual([]);
    await engine.close();
  });
}

describe("two processes that drop values over and over", () => {
  it("cost no run its way, beside a worker on SQLite", () => besideWorkers(place(sqliteKind).address));

  it.skipIf(!servers)("cost no run its way, beside a worker on PostgreSQL", () =>
    besideWorkers(place(servers.kinds.postgres).address),
  );
});
