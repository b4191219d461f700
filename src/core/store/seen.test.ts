import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../stores/memory.ts";
import { accepted, creation, outsideAct, step } from "../../testing/conformance/index.ts";
import { HoldfastError } from "../errors.ts";
import { SEALED_ROOT } from "../values/blind.ts";
import type { Store } from "./contract.ts";
import { SeenStore } from "./seen.ts";

/** A store with an older state of itself in hand: `goBack` puts that in its place. */
function setUp(change: Partial<Store> = {}) {
  let now = createMemoryStore();
  const older = createMemoryStore();
  const through: Store = {
    ...now,
    append: (batch) => now.append(batch),
    renew: (batch) => now.renew(batch),
    read: (runId) => now.read(runId),
    due: (query) => now.due(query),
    identity: () => now.identity(),
    ...change,
  };
  const told: HoldfastError[] = [];
  const store = new SeenStore(through, (error) => void told.push(error));
  const goBack = () => {
    now = older;
  };
  return { store, older, told, goBack };
}

const wentBack = { code: "HF-3020" };

describe("a store that has acknowledged something", () => {
  it("must know it when it is asked for the run", async () => {
    const { store, older, told, goBack } = setUp();
    const row = await accepted(store, creation());
    await accepted(older, creation());
    await accepted(store, step(row));
    goBack();
    await expect(store.read(row.id)).rejects.toMatchObject(wentBack);
    expect(told).toMatchObject([
      { message: `The store has lost writes: run ${row.id} was at #2 and is at #1 now.` },
    ]);
  });

  it("is not asked anything more after that", async () => {
    const { store, told, goBack } = setUp();
    const row = await accepted(store, creation());
    goBack();
    await expect(store.read(row.id)).rejects.toMatchObject(wentBack);
    for (const ask of [
      store.now(),
      store.identity(),
      store.append([step(row)]),
      store.renew([]),
      store.entries(row.id, { from: 1, limit: 1 }),
      store.blobs(row.id, []),
      store.list({ limit: 1 }),
      store.due({ workflows: [], limit: 1 }),
    ])
      await expect(ask).rejects.toMatchObject(wentBack);
    expect(told).toHaveLength(1);
  });

  it("is found out by a refused append, and by a create that should have been refused", async () => {
    for (const append of [step, () => creation()] as const) {
      const { store, goBack } = setUp();
      const row = await accepted(store, creation());
      goBack();
      await expect(store.append([append(row)])).rejects.toMatchObject(wentBack);
    }
  });

  it("is found out by a claim that is gone, and not where somebody has taken it", async () => {
    const first = setUp();
    const row = await accepted(first.store, creation());
    const renewal = { runId: row.id, epoch: row.claim.epoch, token: row.claim.token ?? "", ttlMs: 1 };
    await accepted(first.store, outsideAct(row, { claim: { kind: "revoke" } }));
    expect(await first.store.renew([renewal])).toEqual([null]);
    first.goBack();
    await expect(first.store.renew([renewal])).rejects.toMatchObject(wentBack);
  });

  it("is found out by another history at the same position", async () => {
    const { store, older, goBack } = setUp();
    const row = await accepted(store, creation());
    const other = await accepted(older, creation());
    await accepted(store, step(row));
    await accepted(older, { ...step(other), head: "another" });
    goBack();
    const problem = { ...wentBack, message: expect.stringContaining("was at #2 and is at #2 now") };
    await expect(store.read(row.id)).rejects.toMatchObject(problem);
  });

  it("is found out by another incarnation, and by what it says itself", async () => {
    const { store, goBack } = setUp();
    await store.identity();
    goBack();
    await expect(store.identity()).rejects.toMatchObject(wentBack);
    const gone = new HoldfastError("HF-3021", { place: "x", message: "y" });
    const lost = setUp({ now: () => Promise.reject(gone) });
    await expect(lost.store.now()).rejects.toMatchObject({ ...wentBack, cause: gone });
  });
});

describe("a store that is as it was", () => {
  it("may forget a run that has ended, and take another one of that id", async () => {
    const { store, goBack, told } = setUp();
    const row = await accepted(store, creation());
    await accepted(store, step(row, { run: { status: "completed", finishedAt: 1 } }));
    goBack();
    expect(await store.read(row.id)).toBeNull();
    expect(await store.append([creation()])).toEqual([{ ok: true }]);
    expect((await store.read(row.id))?.seq).toBe(1);
    expect(told).toEqual([]);
  });

  it("may be behind with its list of due runs: one that has moved on since is left to the next list", async () => {
    const memory = createMemoryStore();
    const row = await accepted(memory, creation({ run: { wakeAt: 0 } }));
    const stale = new SeenStore({ ...memory, due: async () => [row] }, () => expect.unreachable());
    await accepted(stale, step(row));
    expect(await stale.due({ workflows: [row.workflow], limit: 1 })).toEqual([]);
  });

  it("may answer a question after something was written that the answer does not know", async () => {
    const memory = createMemoryStore();
    let answer = (): void => undefined;
    const slow = new SeenStore(
      {
        ...memory,
        read: async (runId) => {
          const row = await memory.read(runId);
          // Whether the store is encrypted is looked at first, and answered at once.
          if (runId === SEALED_ROOT) return row;
          await new Promise<void>((resolve) => {
            answer = resolve;
          });
          return row;
        },
      },
      () => expect.unreachable(),
    );
    const row = await accepted(memory, creation());
    const asked = slow.read(row.id);
    await memory.read(row.id);
    expect(await slow.append([step(row)])).toEqual([{ ok: true }]);
    answer();
    expect(await asked).toEqual(row);
  });
});
