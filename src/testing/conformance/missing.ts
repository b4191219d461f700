import assert from "node:assert/strict";
import { accepted, creation, HOUR, outsideAct, refused, step, take } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

export const missing: Behaviour = {
  name: "missing runs",
  cases: {
    "are read as null and have neither entries nor blobs": async ({ store }) => {
      await accepted(store, creation({ blobs: [{ hash: "h1", data: "first" }] }));
      for (const id of ["nobody", "", "RUN-1", "run-1 ", "run-%"]) {
        assert.equal(await store.read(id), null);
        assert.deepEqual(await store.entries(id, { from: 1, limit: 10 }), []);
        assert.deepEqual(await store.blobs(id, ["h1"]), new Map());
      }
    },

    "refuse appends of every kind as missing": async ({ store }) => {
      const row = { ...(await accepted(store, creation())), id: "nobody" };
      await refused(store, step(row), "missing");
      await refused(store, step(row, { claim: { kind: "release" } }), "missing");
      await refused(store, outsideAct(row), "missing");
      await refused(store, outsideAct(row, { claim: { kind: "revoke" } }), "missing");
      await refused(store, outsideAct(row, { claim: take("ada") }), "missing");
      assert.equal((await store.list({ limit: 10 })).runs.length, 1);
    },

    "cannot be renewed": async ({ store }) => {
      assert.deepEqual(await store.renew([{ runId: "nobody", epoch: 1, token: "t", ttlMs: HOUR }]), [null]);
    },
  },
};
