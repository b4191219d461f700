import assert from "node:assert/strict";
import { accepted, creation, outsideAct, refused, step, take } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

export const claimExpiry: Behaviour = {
  name: "claim expiry",
  needs: "clock",
  cases: {
    "is judged by the store's clock": async ({ store, clock }) => {
      assert.equal(await store.now(), clock.now());
      const row = await accepted(store, creation({ claim: take("ada", 1000) }));
      assert.equal(row.claim.until, clock.now() + 1000);
    },

    "keeps others out until the last millisecond": async ({ store, clock }) => {
      const row = await accepted(store, creation({ claim: take("ada", 1000) }));
      clock.advance(999);
      await refused(store, outsideAct(row, { claim: take("bob") }), "held");
      clock.advance(1);
      const taken = await accepted(store, outsideAct(row, { claim: take("bob") }));
      assert.deepEqual([taken.claim.owner, taken.claim.epoch], ["bob", 2]);
    },

    "moves with every append that holds, and with every renewal": async ({ store, clock }) => {
      const row = await accepted(store, creation({ claim: take("ada", 1000) }));
      clock.advance(900);
      const held = await accepted(store, step(row, { claim: { kind: "hold", ttlMs: 1000 } }));
      assert.equal(held.claim.until, clock.now() + 1000);
      clock.advance(900);
      const [renewed] = await store.renew([{ runId: row.id, epoch: 1, token: "ada-token", ttlMs: 2000 }]);
      assert.equal(renewed?.claim.until, clock.now() + 2000);
      clock.advance(1999);
      await refused(store, outsideAct(held, { claim: take("bob") }), "held");
    },

    "does not move with an act from outside": async ({ store, clock }) => {
      const row = await accepted(store, creation({ claim: take("ada", 1000) }));
      clock.advance(500);
      const after = await accepted(store, outsideAct(row));
      assert.deepEqual(after.claim, row.claim);
    },

    "makes a run due again": async ({ store, clock }) => {
      const row = await accepted(store, creation({ claim: take("ada", 1000) }));
      const due = () => store.due({ workflows: [row.workflow], limit: 10 });
      clock.advance(999);
      assert.deepEqual(await due(), []);
      clock.advance(1);
      assert.deepEqual(await due(), [row]);
    },

    "keeps its word when the clock goes back": async ({ store, clock }) => {
      const row = await accepted(store, creation({ claim: take("ada", 1000) }));
      clock.advance(-500_000);
      await refused(store, outsideAct(row, { claim: take("bob") }), "held");
      await accepted(store, step(row));
    },
  },
};
