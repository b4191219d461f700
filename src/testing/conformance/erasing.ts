import assert from "node:assert/strict";
import type { Append, Store } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { accepted, anEntry, creation, everythingOf, idsOf, outsideAct, refused, step } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

const LONG = "🦊".repeat(20_000);
const HASHES = ["h1", "h2"];

/** A due run with entries at 1, 2–4 and 5, and two blobs. */
function aWholeRun(store: Store, id = "run-1"): Promise<RunRow> {
  const entries = [anEntry(1), anEntry(2, { count: 3, data: `"${LONG}"` }), anEntry(5)];
  const blobs = HASHES.map((hash) => ({ hash, data: `${hash} ${LONG}` }));
  return accepted(store, creation({ run: { id }, claim: { kind: "release" }, entries, blobs }));
}

/** Erases `row` from outside, unless overridden. */
const erasure = (row: RunRow, parts: Parameters<typeof outsideAct>[1] = {}): Append => ({
  ...outsideAct(row, { claim: { kind: "erase" }, ...parts, entries: [] }),
  head: "",
});

async function erased(store: Store, append: Append): Promise<void> {
  assert.deepEqual(await store.append([append]), [{ ok: true }]);
}

async function assertGone(store: Store, id = "run-1"): Promise<void> {
  assert.deepEqual(await everythingOf(store, id), { row: null, entries: [] });
  assert.equal((await store.blobs(id, HASHES)).size, 0);
  assert.deepEqual(
    (await store.due({ workflows: ["orders"], limit: 10 })).filter((row) => row.id === id),
    [],
  );
  for (const query of [{}, { workflow: "orders" }, { status: ["running"] as const }, { pruned: false }])
    assert.ok(!(await idsOf(store, { ...query, limit: 10 })).includes(id), JSON.stringify(query));
}

export const erasing: Behaviour = {
  name: "erasing a run",
  cases: {
    "leaves nothing of it in any answer": async ({ store }) => {
      const row = await aWholeRun(store);
      await erased(store, erasure(row));
      await assertGone(store);
    },

    "is refused when the run has moved or the claim is another's": async ({ store }) => {
      const row = await accepted(store, creation({ blobs: [{ hash: "h1", data: LONG }] }));
      await refused(store, erasure(row, { expect: { seq: 9 } }), "conflict");
      await refused(
        store,
        { ...step(row, { claim: { kind: "erase" }, expect: { token: "stolen" }, entries: [] }), head: "" },
        "fenced",
      );
      assert.equal((await store.blobs("run-1", ["h1"])).size, 1);
      await erased(store, { ...step(row, { claim: { kind: "erase" }, entries: [] }), head: "" });
      await assertGone(store);
    },

    "is refused as missing the second time": async ({ store }) => {
      const row = await aWholeRun(store);
      await erased(store, erasure(row));
      await refused(store, erasure(row), "missing");
      await refused(store, step(row), "missing");
      assert.deepEqual(await store.renew([{ runId: "run-1", epoch: 1, token: "ada-token", ttlMs: 1 }]), [
        null,
      ]);
    },

    "touches no other run, not even its children": async ({ store }) => {
      const row = await aWholeRun(store);
      const parent = { runId: "run-1", step: "s" };
      await accepted(store, creation({ run: { id: "child", parent } }));
      await aWholeRun(store, "other");
      const before = [await everythingOf(store, "other"), await everythingOf(store, "child")];
      await erased(store, erasure(row));
      assert.deepEqual([await everythingOf(store, "other"), await everythingOf(store, "child")], before);
      assert.equal((await store.blobs("other", HASHES)).size, 2);
      assert.deepEqual(await idsOf(store, { parent: "run-1", limit: 10 }), ["child"]);
    },

    "takes a child off its parent's list": async ({ store }) => {
      const parent = { runId: "parent", step: "s" };
      const child = await accepted(store, creation({ run: { id: "run-1", parent } }));
      await erased(store, erasure(child));
      assert.deepEqual(await idsOf(store, { parent: "parent", limit: 10 }), []);
    },

    "frees the id for another run, which has nothing of the first": async ({ store }) => {
      const row = await aWholeRun(store);
      await erased(store, erasure(row));
      const again = await accepted(store, creation({ run: { createdAt: 1_800_000_000_000 } }));
      assert.equal(again.seq, 1);
      const { entries } = await everythingOf(store, "run-1");
      assert.deepEqual(entries, [anEntry(1)]);
      assert.equal((await store.blobs("run-1", HASHES)).size, 0);
      await refused(store, outsideAct(row), "conflict");
      assert.equal((await accepted(store, step(again))).seq, 2);
    },

    "works for thousands of entries and values": async ({ store }) => {
      const entries = Array.from({ length: 1500 }, (_, i) => anEntry(i + 1));
      const blobs = Array.from({ length: 300 }, (_, i) => ({ hash: `b${i}`, data: "x" }));
      const row = await accepted(store, creation({ entries, blobs }));
      await erased(store, erasure(row));
      await assertGone(store);
      assert.equal((await store.blobs("run-1", ["b0", "b299"])).size, 0);
    },

    "happens in a batch beside other appends, in order": async ({ store }) => {
      const one = await aWholeRun(store, "one");
      const two = await aWholeRun(store, "two");
      const results = await store.append([
        outsideAct(two, { run: { stepsDone: 7 } }),
        erasure(one),
        creation({ run: { id: "three" } }),
        outsideAct(one),
        creation({ run: { id: "one", createdAt: 1_800_000_000_000 } }),
      ]);
      assert.deepEqual(
        results.map((result) => (result.ok ? "ok" : result.reason)),
        ["ok", "ok", "ok", "missing", "ok"],
      );
      assert.equal((await store.read("two"))?.stepsDone, 7);
      assert.equal((await store.read("one"))?.seq, 1);
    },
  },
};
