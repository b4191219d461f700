import assert from "node:assert/strict";
import type { Store } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { accepted, creation, HOUR, outsideAct, refused, step, take, takeBriefly } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

/** Checks that everything the holder of this claim sends is refused: every kind of append, and renewal. */
async function isFenced(store: Store, stale: RunRow): Promise<void> {
  const { epoch, token } = stale.claim;
  const now = await store.read(stale.id);
  for (const seq of [stale.seq, now?.seq ?? 0]) {
    await refused(store, step(stale, { expect: { seq } }), "fenced");
    await refused(store, step(stale, { expect: { seq }, claim: { kind: "release" } }), "fenced");
    await refused(store, step(stale, { expect: { seq }, claim: { kind: "keep" } }), "fenced");
    await refused(store, step(stale, { expect: { seq }, claim: take("ada") }), "fenced");
  }
  assert.deepEqual(await store.renew([{ runId: stale.id, epoch, token: token ?? "", ttlMs: HOUR }]), [null]);
  assert.deepEqual(await store.read(stale.id), now, "a refused renewal changes nothing");
}

export const fencing: Behaviour = {
  name: "fencing",
  cases: {
    "refuses a worker after another has taken over": async ({ store }) => {
      const first = await accepted(store, creation({ claim: takeBriefly("ada") }));
      const second = await accepted(store, outsideAct(first, { claim: take("bob") }));
      await isFenced(store, first);
      await accepted(store, step(second));
    },

    "refuses a worker after its own claim was taken over by itself": async ({ store }) => {
      const first = await accepted(store, creation({ claim: takeBriefly("ada") }));
      const again = { kind: "acquire", owner: "ada", token: "new-token", ttlMs: HOUR } as const;
      await accepted(store, outsideAct(first, { claim: again }));
      await isFenced(store, first);
    },

    "refuses the old epoch even with the token of the new one": async ({ store }) => {
      const first = await accepted(store, creation({ claim: takeBriefly("ada") }));
      const second = await accepted(store, outsideAct(first, { claim: take("bob") }));
      await isFenced(store, { ...second, claim: { ...second.claim, epoch: first.claim.epoch } });
      await isFenced(store, { ...second, claim: { ...second.claim, epoch: second.claim.epoch + 1 } });
    },

    "refuses a wrong token at the right epoch": async ({ store }) => {
      const row = await accepted(store, creation());
      for (const token of ["bob-token", "", "ADA-TOKEN", "ada-token "]) {
        await isFenced(store, { ...row, claim: { ...row.claim, token } });
      }
    },

    "refuses a worker that has released its claim": async ({ store }) => {
      const held = await accepted(store, creation());
      const released = await accepted(store, step(held, { claim: { kind: "release" } }));
      assert.deepEqual(released.claim, { epoch: 1, owner: null, token: null, until: 0 });
      await isFenced(store, held);
    },

    "refuses a worker whose claim was revoked": async ({ store }) => {
      const held = await accepted(store, creation());
      const revoked = await accepted(store, outsideAct(held, { claim: { kind: "revoke" } }));
      assert.deepEqual(revoked.claim, { epoch: 2, owner: null, token: null, until: 0 });
      await isFenced(store, held);
    },

    "lets a worker whose claim has run out go on while nobody took over": async ({ store }) => {
      const row = await accepted(store, creation({ claim: takeBriefly("ada") }));
      const { epoch, token } = row.claim;
      const [renewed] = await store.renew([{ runId: row.id, epoch, token: token ?? "", ttlMs: HOUR }]);
      assert.ok(renewed && renewed.claim.until > row.claim.until);
      await accepted(store, step(row));
    },

    "comes before a conflict": async ({ store }) => {
      const held = await accepted(store, creation());
      await accepted(store, step(held, { claim: { kind: "release" } }));
      await refused(store, step(held, { expect: { seq: 99 } }), "fenced");
    },
  },
};
