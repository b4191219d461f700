import assert from "node:assert/strict";
import type { DueQuery } from "../../core/store/contract.ts";
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

    "may be asked for without parts of queues, which a store honours or ignores": async ({ store }) => {
      const inQueue = (id: string, key: string | null, labels = {}) => ({ queue: "q", key, labels, id });
      const runs = [
        inQueue("ada-1", "ada"),
        inQueue("ada-2", "ada", { team: "blue" }),
        inQueue("bob", "bob"),
        inQueue("keyless", null, { team: "red" }),
        { id: "other", queue: "r", key: "ada" },
        { id: "free", queue: null },
      ];
      await store.append([
        ...runs.map(({ id, ...more }, at) => waiting(id, at, more)),
        creation({ run: { ...inQueue("dead", "ada"), wakeAt: 9 }, claim: takeBriefly("ada") }),
      ]);
      const all = [...runs.map(({ id }) => id), "dead"];
      const check = async (without: DueQuery["without"] & {}, expected: readonly string[]) => {
        const found = (await store.due({ workflows: ["orders"], limit: 10, without })).map(({ id }) => id);
        assert.deepEqual(found, found.length === all.length ? all : expected);
        if (found.length === all.length) return;
        const [first] = await store.due({ workflows: ["orders"], limit: 1, without });
        assert.equal(first?.id, expected[0]);
      };
      await check([], all);
      await check([{ queue: "q" }], ["other", "free", "dead"]);
      await check([{ queue: "q", key: "ada" }], ["bob", "keyless", "other", "free", "dead"]);
      await check(
        [
          { queue: "q", key: "" },
          { queue: "q", key: "bob" },
        ],
        ["ada-1", "ada-2", "other", "free", "dead"],
      );
      await check(
        [{ queue: "q", label: ["team", "blue"] }, { queue: "r" }],
        ["ada-1", "bob", "keyless", "free", "dead"],
      );
      await check([{ queue: "q", label: ["team", ""] }], ["ada-2", "keyless", "other", "free", "dead"]);
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
