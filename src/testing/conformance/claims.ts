import assert from "node:assert/strict";
import { defined } from "../../core/defined.ts";
import { accepted, creation, HOUR, outsideAct, refused, step, take, takeBriefly } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

export const claims: Behaviour = {
  name: "claims",
  cases: {
    "go to one of eight workers that ask at once": async ({ store }) => {
      const row = await accepted(store, creation({ claim: { kind: "release" } }));
      const owners = Array.from({ length: 8 }, (_, i) => `worker-${i}`);
      const results = await Promise.all(
        owners.map((owner) => store.append([outsideAct(row, { claim: take(owner) })])),
      );
      const won = owners.filter((_, i) => results[i]?.[0]?.ok);
      assert.equal(won.length, 1);
      const after = await store.read(row.id);
      assert.deepEqual([after?.claim.owner, after?.claim.epoch, after?.seq], [won[0], 1, 2]);
      const reasons = results.flatMap(([result]) => (result?.ok === false ? [result.reason] : []));
      assert.deepEqual(reasons, Array(7).fill("held"));
    },

    "are refused while another is live, before the position is looked at": async ({ store }) => {
      const row = await accepted(store, creation());
      await refused(store, outsideAct(row, { claim: take("bob") }), "held");
      await refused(store, outsideAct(row, { claim: take("bob"), expect: { seq: 99 } }), "held");
    },

    "are refused to the holder itself while its claim is live": async ({ store }) => {
      const row = await accepted(store, creation());
      await refused(store, step(row, { claim: take("ada") }), "held");
    },

    "can be had after the last one was released or has run out": async ({ store }) => {
      const free = await accepted(store, creation({ claim: { kind: "release" } }));
      const first = await accepted(store, outsideAct(free, { claim: takeBriefly("ada") }));
      const second = await accepted(store, outsideAct(first, { claim: take("bob") }));
      assert.deepEqual([first.claim.epoch, second.claim.epoch], [1, 2]);
      assert.equal(second.claim.owner, "bob");
    },

    "are refused when the run has moved on": async ({ store }) => {
      const free = await accepted(store, creation({ claim: { kind: "release" } }));
      await accepted(store, outsideAct(free));
      await refused(store, outsideAct(free, { claim: take("ada") }), "conflict");
    },

    "never go back to an earlier epoch": async ({ store }) => {
      let row = await accepted(store, creation());
      const epochs = [row.claim.epoch];
      for (const kind of ["release", "acquire", "revoke", "acquire", "release", "acquire"] as const) {
        const act = kind === "acquire" ? take("ada") : { kind };
        const append = row.claim.token === null ? outsideAct(row, { claim: act }) : step(row, { claim: act });
        row = await accepted(store, append);
        epochs.push(row.claim.epoch);
      }
      assert.deepEqual(epochs, [1, 1, 2, 3, 4, 4, 5]);
    },

    "are given up for an epoch that is never lower than before": async ({ store }) => {
      for (const [epoch, expected] of [
        [7, 7],
        [2, 3],
        [undefined, 3],
      ] as const) {
        let row = await accepted(store, creation({ run: { id: `run-${String(epoch)}` } }));
        for (const kind of ["revoke", "acquire"] as const)
          row = await accepted(
            store,
            outsideAct(row, { claim: kind === "acquire" ? take("bob") : { kind } }),
          );
        const claim = { kind: "release", ...defined({ epoch }) } as const;
        const [{ id }, other] = [row, creation({ run: { id: `other-${String(epoch)}` } })];
        // Once alone, and once in a batch.
        row = await accepted(store, step(row, { claim }));
        assert.deepEqual(row.claim, { epoch: expected, owner: null, token: null, until: 0 });
        assert.deepEqual(await store.append([other, outsideAct(row, { claim })]), [
          { ok: true },
          { ok: true },
        ]);
        assert.equal((await store.read(id))?.claim.epoch, expected);
      }
    },

    "are renewed one by one, each on its own merits": async ({ store }) => {
      const one = await accepted(store, creation({ run: { id: "one" }, claim: takeBriefly("ada") }));
      const two = await accepted(store, creation({ run: { id: "two" } }));
      const renewal = (runId: string, token: string) => ({ runId, epoch: 1, token, ttlMs: HOUR });
      const rows = await store.renew([
        renewal("none", "ada-token"),
        renewal("one", "ada-token"),
        renewal("two", "bob-token"),
      ]);
      assert.deepEqual(
        rows.map((row) => row?.id ?? null),
        [null, "one", null],
      );
      assert.ok((rows[1]?.claim.until ?? 0) > one.claim.until);
      assert.deepEqual(await store.read("one"), rows[1]);
      assert.deepEqual(await store.read("two"), two);
      assert.deepEqual(await store.renew([]), []);
    },

    "change nothing but their expiry when they are renewed": async ({ store }) => {
      const row = await accepted(store, creation({ claim: takeBriefly("ada") }));
      const [renewed] = await store.renew([{ runId: row.id, epoch: 1, token: "ada-token", ttlMs: HOUR }]);
      assert.ok(renewed);
      assert.deepEqual(renewed, { ...row, claim: { ...row.claim, until: renewed.claim.until } });
    },
  },
};
