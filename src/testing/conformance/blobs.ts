import assert from "node:assert/strict";
import { accepted, creation, step } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

export const blobs: Behaviour = {
  name: "blobs",
  cases: {
    "are written with their append and read by hash": async ({ store }) => {
      const one = { hash: "h1", data: "first" };
      const two = { hash: "h2", data: "second" };
      await accepted(store, creation({ blobs: [one, two] }));
      assert.deepEqual(
        await store.blobs(["h2", "h1"]),
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
      await accepted(store, creation({ run: { id: "other" }, blobs: [blob] }));
      assert.deepEqual(await store.blobs(["h1", "h1"]), new Map([["h1", "first"]]));
    },

    "that are not stored are absent from the answer": async ({ store }) => {
      await accepted(store, creation({ blobs: [{ hash: "h1", data: "first" }] }));
      assert.deepEqual(await store.blobs(["h1", "nowhere"]), new Map([["h1", "first"]]));
      assert.deepEqual(await store.blobs(["nowhere"]), new Map());
      assert.deepEqual(await store.blobs([]), new Map());
    },

    "can be asked for by the thousand": async ({ store }) => {
      const many = Array.from({ length: 1500 }, (_, i) => ({ hash: `h${i}`, data: `${i}` }));
      await accepted(store, creation({ blobs: many }));
      const found = await store.blobs(many.map(({ hash }) => hash));
      assert.equal(found.size, 1500);
      assert.equal(found.get("h1499"), "1499");
    },
  },
};
