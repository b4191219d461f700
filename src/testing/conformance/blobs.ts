import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { accepted, creation, refused, step } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

export const blobs: Behaviour = {
  name: "blobs",
  cases: {
    "are written with their append and read by hash": async ({ store }) => {
      const one = { hash: "h1", data: "first" };
      const two = { hash: "h2", data: "second" };
      await accepted(store, creation({ blobs: [one, two] }));
      assert.deepEqual(
        await store.blobs("run-1", ["h2", "h1"]),
        new Map([
          ["h1", "first"],
          ["h2", "second"],
        ]),
      );
    },

    "are stored once however often they are sent": async ({ store }) => {
      const blob = { hash: "h1", data: "first" };
      const row = await accepted(store, creation({ blobs: [blob, blob] }));
      await accepted(store, step(row, { blobs: [blob] }));
      assert.deepEqual(await store.blobs("run-1", ["h1", "h1"]), new Map([["h1", "first"]]));
    },

    "are told from their beginning, if the store can": async ({ store }) => {
      const data = `${"é".repeat(50)}${"x".repeat(5_000)}`;
      await accepted(store, creation({ blobs: [{ hash: "h1", data }] }));
      if (!store.peek) return;
      assert.deepEqual(await store.peek("run-1", "h1", 60), { start: data.slice(0, 60), length: 5_050 });
      assert.deepEqual(await store.peek("run-1", "h1", 9_999), { start: data, length: 5_050 });
      assert.equal(await store.peek("run-1", "nowhere", 9), null);
      assert.equal(await store.peek("other", "h1", 9), null);
    },

    "that are not stored are absent from the answer": async ({ store }) => {
      await accepted(store, creation({ blobs: [{ hash: "h1", data: "first" }] }));
      assert.deepEqual(await store.blobs("run-1", ["h1", "nowhere"]), new Map([["h1", "first"]]));
      assert.deepEqual(await store.blobs("run-1", ["nowhere"]), new Map());
      assert.deepEqual(await store.blobs("run-1", []), new Map());
    },

    "belong to one run, also when two store the same text": async ({ store }) => {
      const blob = { hash: "h1", data: "first" };
      await accepted(store, creation({ blobs: [blob, { hash: "h2", data: "second" }] }));
      await accepted(store, creation({ run: { id: "other" }, blobs: [blob] }));
      assert.deepEqual(await store.blobs("other", ["h1", "h2"]), new Map([["h1", "first"]]));
      assert.equal((await store.blobs("run-1", ["h1", "h2"])).size, 2);
      assert.deepEqual(await store.blobs("nobody", ["h1", "h2"]), new Map());
    },

    "of a refused append are not stored": async ({ store }) => {
      const row = await accepted(store, creation());
      const blobs = [{ hash: "h1", data: "first" }];
      await refused(store, step(row, { expect: { seq: 9 }, blobs }), "conflict");
      await refused(store, creation({ blobs }), "exists");
      assert.deepEqual(await store.blobs("run-1", ["h1"]), new Map());
    },

    "are in the size that the store tells, if it can (S4-26)": async ({ store }) => {
      if (!store.size) return;
      const before = await store.size();
      const row = await accepted(store, creation());
      // Random, because some stores compress what they keep.
      const data = (): string => randomBytes(75_000).toString("base64");
      const many = Array.from({ length: 40 }, (_, i) => ({ hash: `h${i}`, data: data() }));
      await accepted(store, step(row, { blobs: many }));
      const grown = (await store.size()) - before;
      assert.ok(
        grown >= 4_000_000 && grown <= 12_000_000,
        `4 MB were written, and it grew by ${grown} bytes`,
      );
    },

    "can be asked for by the thousand": async ({ store }) => {
      const many = Array.from({ length: 1500 }, (_, i) => ({ hash: `h${i}`, data: `${i}` }));
      await accepted(store, creation({ blobs: many }));
      const found = await store.blobs(
        "run-1",
        many.map(({ hash }) => hash),
      );
      assert.equal(found.size, 1500);
      assert.equal(found.get("h1499"), "1499");
    },
  },
};
