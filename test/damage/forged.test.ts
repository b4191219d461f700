import path from "node:path";
import { describe, expect, it } from "vitest";
import { buildAct } from "../../src/core/journal/acts.ts";
import type { EventDraft } from "../../src/core/journal/events.ts";
import type { Store } from "../../src/core/store/contract.ts";
import type { RunRow } from "../../src/core/types.ts";
import { createEngine, workflow } from "../../src/index.ts";
import { sealStore } from "../../src/security/index.ts";
import { openFileStore } from "../../src/stores/file/index.ts";
import { openPostgresStore } from "../../src/stores/postgres/index.ts";
import { openRedisStore } from "../../src/stores/redis/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { useFolders } from "../support/folders.ts";
import { sealedBefore, testKeyring } from "../support/sealed.ts";
import { sharedPostgres } from "../support/services/postgres.ts";
import { sharedRedis } from "../support/services/redis.ts";

const newFolder = useFolders("forged");
const postgres = await sharedPostgres();
const redis = await sharedRedis();
const name = `forged_${process.pid}`;

const STORES: readonly (readonly [string, (id: string) => Promise<Store>])[] = [
  ["SQLite", () => openSqliteStore({ file: path.join(newFolder(), "runs.db") })],
  ["files", () => openFileStore({ folder: newFolder() })],
  ...(postgres.url === undefined
    ? []
    : [
        [
          "PostgreSQL",
          (id: string) =>
            openPostgresStore({ connectionString: postgres.url ?? "", schema: `${name}_${id}` }),
        ] as const,
      ]),
  ...(redis.url === undefined
    ? []
    : [
        ["Redis", (id: string) => openRedisStore({ url: redis.url ?? "", prefix: `${name}_${id}` })] as const,
      ]),
];

const flow = workflow("flow", async (ctx) => {
  await ctx.gate("ok", { choices: ["yes"] });
  return "done";
});

const FORGERIES: readonly EventDraft[] = [
  { kind: "step_resolved", step: "pay", meta: { action: "rerun" } },
  { kind: "gate_answered", step: "ok", meta: { digest: "of the gate", choice: "yes" } },
  { kind: "budget_set", step: "", meta: { costUsd: 1_000_000 } },
  { kind: "run_completed", step: "", meta: {} },
  { kind: "pause_requested", step: "", meta: {} },
  { kind: "run_resumed", step: "", meta: {} },
];

/** Writes as an attacker with access to the database, including chain and row, but without a key. */
async function forge(inner: Store, id: string, event: EventDraft): Promise<void> {
  const row = (await inner.read(id)) as RunRow;
  const at = { seq: row.seq, epoch: row.claim.epoch, token: null };
  const { append } = buildAct(row, { events: [event] }, at, { at: await inner.now() });
  expect(await inner.append([append])).toEqual([{ ok: true }]);
}

async function damagedIn(store: Store): Promise<readonly string[]> {
  const engine = createEngine({ store, workflows: [flow], execute: false });
  const { damaged } = await engine.reports.verify();
  await engine.close();
  return damaged.map(({ runId }) => runId).sort();
}

/** Creates runs that wait at their gates, through `store`. */
async function waiting(store: Store, ids: readonly string[]): Promise<void> {
  const engine = createEngine({ store, workflows: [flow], holdMs: 0 });
  for (const id of ids) await engine.start(flow, undefined, { id });
  for (const id of ids) await engine.settled(id);
  await engine.close();
}

describe.each(STORES)("an encrypted store on %s", (_, open) => {
  it("takes no event of somebody without the key (X5)", async () => {
    const inner = await open("new");
    const store = await sealStore(inner, { keyring: testKeyring("k1") });
    const ids = FORGERIES.map(({ kind }) => kind);
    await waiting(store, [...ids, "sound"]);
    expect(await damagedIn(store)).toEqual([]);
    for (const event of FORGERIES) await forge(inner, event.kind, event);
    expect(await damagedIn(store)).toEqual([...ids].sort());
    await inner.close();
  });

  it("of an older version takes none any more after a rotation, which vouches for what is there (X5)", async () => {
    const keyring = testKeyring("k1");
    const inner = await sealedBefore(await open("old"), keyring);
    const { blinding: _blinding, rotate: _rotate, ...unmarked } = await sealStore(inner, { keyring });
    await waiting(unmarked, ["a", "b"]);
    const store = await sealStore(inner, { keyring });
    expect(await store.rotate()).toMatchObject({ complete: true });
    const again = await sealStore(inner, { keyring });
    expect(await damagedIn(again)).toEqual([]);
    await forge(inner, "a", { kind: "run_resumed", step: "", meta: {} });
    expect(await damagedIn(again)).toEqual(["a"]);
    await inner.close();
  });
});
