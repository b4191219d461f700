import assert from "node:assert/strict";
import type { Store } from "../../core/store/contract.ts";
import { DOCUMENT_LIMITS, type Documents, type DocumentWrite } from "../../core/store/documents.ts";
import type { Behaviour } from "./suite.ts";

let count = 0;
const newVersion = (): string => `v${++count}`;

const of = (store: Store): Documents => {
  assert.ok(store.documents, "the store keeps documents");
  return store.documents;
};

const put = (key: string, expect: string | null, value = "{}", kind = "note"): DocumentWrite => ({
  kind,
  key,
  expect,
  put: { version: newVersion(), value },
});

/** Writes a document that must not be there yet, and returns its version. */
async function added(store: Store, key: string, value = "{}", kind = "note"): Promise<string> {
  const write = put(key, null, value, kind);
  assert.deepEqual(await of(store).write([write]), [true]);
  return write.put?.version ?? "";
}

const keysOf = async (store: Store, page: { after?: string; limit: number }, kind = "note") =>
  (await of(store).list(kind, page)).map(({ key }) => key);

const refusal = { code: "HF-3090" };

const HOSTILE = [
  " ",
  ".",
  "..",
  "../../etc/passwd",
  "a/b\\c",
  "CON",
  "con",
  'quote\'d "key"',
  "%2e%2e",
  "*?:|<>",
  "né",
  "日本",
  "🦊",
  "\uffee after the foxes in UTF-16",
  "x".repeat(DOCUMENT_LIMITS.key),
  "__proto__",
  "-- ; DROP TABLE runs",
];

/** The order of their bytes. */
const sorted = (keys: readonly string[]): string[] =>
  [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

export const documents: Behaviour = {
  name: "documents",
  cases: {
    "come back exactly as they were written, whatever their keys are": async ({ store }) => {
      const value = JSON.stringify(
        { text: "a\u0001 🦊 ' \" \\ \ud800 \u0000", spaced: [1.5, null] },
        null,
        3,
      );
      for (const key of HOSTILE) {
        const version = await added(store, key, value);
        assert.deepEqual(await of(store).read("note", key), { kind: "note", key, version, value });
      }
      assert.deepEqual(await keysOf(store, { limit: 100 }), sorted(HOSTILE));
      assert.equal(await of(store).read("note", "missing"), null);
    },

    "are written only over the version that the writer has seen": async ({ store }) => {
      const first = await added(store, "a", "1");
      assert.deepEqual(await of(store).write([put("a", null, "2")]), [false]);
      assert.deepEqual(await of(store).write([put("a", "other", "2")]), [false]);
      assert.deepEqual(await of(store).write([put("b", first, "2")]), [false]);
      const second = put("a", first, "3");
      assert.deepEqual(await of(store).write([second]), [true]);
      assert.deepEqual(await of(store).write([put("a", first, "4")]), [false]);
      assert.equal((await of(store).read("note", "a"))?.value, "3");
      assert.equal((await of(store).read("note", "a"))?.version, second.put?.version);
    },

    "let one of many writers win": async ({ store }) => {
      const version = await added(store, "shared", "0");
      const writes = Array.from({ length: 8 }, (_, i) => put("shared", version, String(i)));
      const results = await Promise.all(writes.map((write) => of(store).write([write])));
      assert.equal(results.flat().filter(Boolean).length, 1);
      const winner = writes[results.findIndex(([isTaken]) => isTaken)];
      assert.equal((await of(store).read("note", "shared"))?.value, winner?.put?.value);
      const creations = Array.from({ length: 8 }, () => put("fresh", null));
      const made = await Promise.all(creations.map((write) => of(store).write([write])));
      assert.equal(made.flat().filter(Boolean).length, 1);
    },

    "count up without a loss when every writer reads again": async ({ store }) => {
      await added(store, "counter", "0");
      const increment = async (): Promise<void> => {
        for (;;) {
          const found = await of(store).read("note", "counter");
          const next = put("counter", found?.version ?? null, String(Number(found?.value) + 1));
          if ((await of(store).write([next]))[0]) return;
        }
      };
      await Promise.all(Array.from({ length: 5 }, increment));
      assert.equal((await of(store).read("note", "counter"))?.value, "5");
    },

    "are gone when they are deleted, and an old version never fits again": async ({ store }) => {
      const first = await added(store, "a", "1");
      assert.deepEqual(await of(store).write([{ kind: "note", key: "a", expect: "other", put: null }]), [
        false,
      ]);
      assert.deepEqual(await of(store).write([{ kind: "note", key: "a", expect: first, put: null }]), [true]);
      assert.equal(await of(store).read("note", "a"), null);
      assert.deepEqual(await keysOf(store, { limit: 10 }), []);
      assert.deepEqual(await of(store).write([{ kind: "note", key: "a", expect: first, put: null }]), [
        false,
      ]);
      assert.deepEqual(await of(store).write([{ kind: "note", key: "a", expect: null, put: null }]), [true]);
      const second = await added(store, "a", "1");
      assert.notEqual(second, first);
      assert.deepEqual(await of(store).write([put("a", first, "2")]), [false]);
      assert.equal((await of(store).read("note", "a"))?.value, "1");
    },

    "are listed in order of their keys, page by page, of one kind only": async ({ store }) => {
      const keys = ["b", "B", "a", "aa", "a-", "é", "10", "9", "🦊", "\uffee"];
      for (const key of keys) await added(store, key);
      await added(store, "stranger", "{}", "other");
      await added(store, "stranger", "{}", "notes");
      const all = sorted(keys);
      assert.deepEqual(await keysOf(store, { limit: 100 }), all);
      for (const limit of [1, 3, 9, 10]) {
        const found: string[] = [];
        for (let page = await keysOf(store, { limit }); page.length > 0; ) {
          found.push(...page);
          page = await keysOf(store, { limit, after: found.at(-1) ?? "" });
        }
        assert.deepEqual(found, all);
      }
      assert.deepEqual(await keysOf(store, { limit: 2, after: "a0" }), ["aa", "b"]);
      assert.deepEqual(await keysOf(store, { limit: 2 }, "nothing"), []);
      assert.deepEqual(await keysOf(store, { limit: 2 }, "other"), ["stranger"]);
    },

    "of one batch are taken one by one, in order": async ({ store }) => {
      const [first, other] = [put("a", null, "1"), put("b", "nothing", "1")];
      const again = put("a", first.put?.version ?? "", "2");
      assert.deepEqual(await of(store).write([first, other, again]), [true, false, true]);
      assert.equal((await of(store).read("note", "a"))?.value, "2");
      assert.equal(await of(store).read("note", "b"), null);
      assert.deepEqual(await of(store).write([]), []);
    },

    "have limits, and one write over them refuses the whole batch": async ({ store }) => {
      const long = (bytes: number): string => JSON.stringify("x".repeat(bytes - 2));
      await added(store, "large", long(DOCUMENT_LIMITS.sealedBytes));
      assert.equal((await of(store).read("note", "large"))?.value, long(DOCUMENT_LIMITS.sealedBytes));
      const wrong = [
        put("large-2", null, long(DOCUMENT_LIMITS.valueBytes + 1)),
        put("x".repeat(DOCUMENT_LIMITS.key + 1), null),
        put("", null),
        put("two\nlines", null),
        put("half \ud800", null),
        put("a", null, "no JSON"),
        put("a", null, '"\ud800"'),
        put("a", null, "{}", ""),
        put("a", null, "{}", "two words"),
        put("a", null, "{}", "k".repeat(DOCUMENT_LIMITS.kind + 1)),
        put("a", "no version!", "{}"),
      ];
      for (const write of wrong) await assert.rejects(of(store).write([put("fine", null), write]), refusal);
      assert.deepEqual(await keysOf(store, { limit: 10 }), ["large"]);
      await assert.rejects(of(store).read("two words", "a"), refusal);
      for (const limit of [0, -1, 1.5, DOCUMENT_LIMITS.page + 1])
        await assert.rejects(of(store).list("note", { limit }), { code: "HF-1003" });
    },
  },
};

export const keptDocuments: Behaviour = {
  name: "documents after reopening",
  needs: "reopen",
  cases: {
    "are as they were": async ({ store, reopen }) => {
      const first = await added(store, "a", '{"n": 1}');
      await added(store, "gone");
      const gone = (await of(store).read("note", "gone"))?.version ?? "";
      await of(store).write([
        put("a", first, '{"n": 2}'),
        { kind: "note", key: "gone", expect: gone, put: null },
      ]);
      const before = await of(store).list("note", { limit: 10 });
      const again = await reopen();
      assert.deepEqual(await of(again).list("note", { limit: 10 }), before);
      assert.deepEqual(await of(again).write([put("a", first, "3")]), [false]);
      assert.deepEqual(await of(again).write([put("a", before[0]?.version ?? "", "3")]), [true]);
    },

    "are refused by a store that is closed": async ({ store, reopen }) => {
      await reopen();
      const closed = { code: "HF-3012" };
      await assert.rejects(of(store).read("note", "a"), closed);
      await assert.rejects(of(store).list("note", { limit: 1 }), closed);
      await assert.rejects(of(store).write([put("a", null)]), closed);
    },
  },
};
