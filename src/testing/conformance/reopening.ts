import assert from "node:assert/strict";
import { accepted, creation, everythingOf, refused, step, take } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

export const reopening: Behaviour = {
  name: "reopening",
  needs: "reopen",
  cases: {
    "finds every run, entry and blob as it was": async ({ store, reopen }) => {
      const blob = { hash: "h1", data: "🦊" };
      const first = await accepted(store, creation({ blobs: [blob] }));
      await accepted(store, step(first, { entry: { count: 3, data: null } }));
      await accepted(store, creation({ run: { id: "run-2" }, claim: { kind: "release" } }));
      const before = [await everythingOf(store, "run-1"), await everythingOf(store, "run-2")];
      const page = await store.list({ limit: 10 });
      const again = await reopen();
      assert.deepEqual([await everythingOf(again, "run-1"), await everythingOf(again, "run-2")], before);
      assert.deepEqual(await again.list({ limit: 10 }), page);
      assert.deepEqual(await again.blobs("run-1", ["h1"]), new Map([["h1", "🦊"]]));
    },

    "keeps who the store is": async ({ store, reopen }) => {
      const identity = await store.identity();
      assert.ok(identity.incarnation.length >= 32 && identity.secret.length >= 32);
      assert.notEqual(identity.incarnation, identity.secret);
      assert.deepEqual(await store.identity(), identity);
      assert.deepEqual(await (await reopen()).identity(), identity);
    },

    "keeps claims: the holder goes on, others stay out": async ({ store, reopen }) => {
      const row = await accepted(store, creation());
      const again = await reopen();
      await refused(again, step(row, { claim: take("bob"), expect: { token: null } }), "held");
      await accepted(again, step(row));
    },

    "goes on with a list where the cursor points": async ({ store, reopen }) => {
      await store.append(["a", "b", "c"].map((id) => creation({ run: { id } })));
      const { cursor } = await store.list({ limit: 1 });
      const again = await reopen();
      const { runs } = await again.list({ limit: 10, cursor: cursor ?? "" });
      assert.deepEqual(
        runs.map(({ id }) => id),
        ["b", "a"],
      );
    },
  },
};
