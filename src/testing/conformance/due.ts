import assert from "node:assert/strict";
import type { RunIdentity, RunProjection } from "../../core/types.ts";
import { accepted, creation, HOUR, outsideAct, step, take, takeBriefly } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

const waiting = (id: string, wakeAt: number | null, more: Partial<RunIdentity & RunProjection> = {}) =>
  creation({ run: { id, status: "queued", wakeAt, ...more }, claim: { kind: "release" } });

export const due: Behaviour = {
  name: "due runs",
  cases: {
    "are those whose wake time has come, longest due first": async ({ store }) => {
      const now = await store.now();
      await store.append([
        waiting("second", now - 2),
        waiting("later", now + HOUR),
        waiting("third", now - 1),
        waiting("first", 0),
        waiting("never", null),
      ]);
      const runs = await store.due({ workflows: ["orders"], limit: 10 });
      assert.deepEqual(
        runs.map(({ id }) => id),
        ["first", "second", "third"],
      );
      assert.deepEqual(runs[0], await store.read("first"));
    },

    "are not claimed": async ({ store }) => {
      await store.append([
        creation({ run: { id: "held" }, claim: take("ada") }),
        creation({ run: { id: "expired" }, claim: takeBriefly("ada") }),
        waiting("free", 1),
      ]);
      const runs = await store.due({ workflows: ["orders"], limit: 10 });
      assert.deepEqual(
        runs.map(({ id }) => id),
        ["expired", "free"],
      );
    },

    "are of the workflows asked for": async ({ store }) => {
      await store.append([
        waiting("one", 1, { workflow: "a" }),
        waiting("two", 2, { workflow: "b" }),
        waiting("three", 3, { workflow: "A" }),
        waiting("four", 4, { workflow: 'quote\'d "name"' }),
      ]);
      const idsOf = async (...workflows: string[]) =>
        (await store.due({ workflows, limit: 10 })).map(({ id }) => id);
      assert.deepEqual(await idsOf("a"), ["one"]);
      assert.deepEqual(await idsOf("b", "a", "c"), ["one", "two"]);
      assert.deepEqual(await idsOf('quote\'d "name"'), ["four"]);
      assert.deepEqual(await idsOf("c"), []);
      assert.deepEqual(await idsOf(), []);
    },

    "are no more than the limit": async ({ store }) => {
      await store.append(Array.from({ length: 5 }, (_, i) => waiting(`run-${i}`, i)));
      const runs = await store.due({ workflows: ["orders"], limit: 2 });
      assert.deepEqual(
        runs.map(({ id }) => id),
        ["run-0", "run-1"],
      );
      for (const limit of [0, -1, 1.5]) {
        await assert.rejects(store.due({ workflows: ["orders"], limit }), { code: "HF-1003" });
      }
    },

    "are due no more once they are taken, and again once they are given back": async ({ store }) => {
      const free = await accepted(store, waiting("run-1", 1));
      const dueIds = async () => (await store.due({ workflows: ["orders"], limit: 10 })).map(({ id }) => id);
      assert.deepEqual(await dueIds(), ["run-1"]);
      const taken = await accepted(store, outsideAct(free, { claim: take("ada") }));
      assert.deepEqual(await dueIds(), []);
      const back = await accepted(store, step(taken, { claim: { kind: "release" } }));
      assert.deepEqual(await dueIds(), ["run-1"]);
      await accepted(store, outsideAct(back, { run: { wakeAt: null } }));
      assert.deepEqual(await dueIds(), []);
    },
  },
};
