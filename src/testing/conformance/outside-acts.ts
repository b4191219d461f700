import assert from "node:assert/strict";
import { accepted, creation, outsideAct, refused, step } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

export const outsideActs: Behaviour = {
  name: "acts from outside",
  cases: {
    "leave the claim alone": async ({ store }) => {
      const row = await accepted(store, creation());
      const after = await accepted(store, outsideAct(row, { run: { control: "pausing" } }));
      assert.deepEqual(after.claim, row.claim);
      assert.deepEqual([after.seq, after.control], [2, "pausing"]);
    },

    "make the holder look again, and then it goes on": async ({ store }) => {
      const row = await accepted(store, creation());
      const after = await accepted(store, outsideAct(row));
      await refused(store, step(row), "conflict");
      await accepted(store, step(after));
    },

    "are refused when the run has moved on": async ({ store }) => {
      const row = await accepted(store, creation());
      await accepted(store, step(row));
      await refused(store, outsideAct(row), "conflict");
    },

    "are bound by position only, not by the epoch": async ({ store }) => {
      const row = await accepted(store, creation());
      await accepted(store, outsideAct(row, { expect: { epoch: 7 } }));
    },

    "work on a run that nobody holds": async ({ store }) => {
      const row = await accepted(store, creation({ claim: { kind: "release" } }));
      const after = await accepted(store, outsideAct(row));
      assert.deepEqual(after.claim, { epoch: 0, owner: null, token: null, until: 0 });
    },

    "can free a run and fence its holder": async ({ store }) => {
      const row = await accepted(store, creation());
      await accepted(store, outsideAct(row, { claim: { kind: "revoke" }, run: { status: "cancelled" } }));
      await refused(store, step(row), "fenced");
    },

    "let one of eight through for the same position": async ({ store }) => {
      const row = await accepted(store, creation());
      const results = await Promise.all(Array.from({ length: 8 }, () => store.append([outsideAct(row)])));
      const reasons = results.map(([result]) => (result?.ok === false ? result.reason : "taken"));
      assert.deepEqual(reasons.sort(), [...Array(7).fill("conflict"), "taken"]);
    },
  },
};
