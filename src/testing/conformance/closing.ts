import assert from "node:assert/strict";
import { accepted, creation, HOUR, step } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

const CLOSED = { code: "HF-3012" };

export const closing: Behaviour = {
  name: "closing",
  cases: {
    "makes every later call fail in the same way": async ({ store }) => {
      const row = await accepted(store, creation());
      await store.close();
      await assert.rejects(store.identity(), CLOSED);
      await assert.rejects(store.now(), CLOSED);
      await assert.rejects(store.append([step(row)]), CLOSED);
      await assert.rejects(store.append([]), CLOSED);
      await assert.rejects(store.renew([{ runId: row.id, epoch: 1, token: "t", ttlMs: HOUR }]), CLOSED);
      await assert.rejects(store.read(row.id), CLOSED);
      await assert.rejects(store.entries(row.id, { from: 1, limit: 1 }), CLOSED);
      await assert.rejects(store.blobs(row.id, ["h1"]), CLOSED);
      await assert.rejects(store.list({ limit: 1 }), CLOSED);
      await assert.rejects(store.due({ workflows: ["orders"], limit: 1 }), CLOSED);
      if (store.transaction) {
        const work = (): never => assert.fail("the work of a closed store is not called");
        await assert.rejects(
          store.transaction(work, () => step(row)),
          CLOSED,
        );
      }
    },

    "can be done twice": async ({ store }) => {
      await store.close();
      await store.close();
    },
  },
};
