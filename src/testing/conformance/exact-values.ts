import assert from "node:assert/strict";
import { digest } from "../../core/hash.ts";
import { accepted, anEntry, creation, step } from "./fixtures.ts";
import type { Behaviour, Bench } from "./suite.ts";

/** Texts that stores have been known to parse, trim, cut or convert. */
const TEXTS: Readonly<Record<string, string>> = {
  "a number in quotes": '"456"',
  "text that looks like a whole number": "456",
  "text that looks like a long number": "12345678901234567890",
  "text that looks like a decimal": "1.50",
  "text that looks like an exponent": "1e3",
  "the word true": "true",
  "the word null": "null",
  "the empty text": "",
  "a single space": " ",
  "line ends of both kinds": "a\r\nb\nc\r",
  "an escaped U+0000": '"a\\u0000b"',
  "an escaped lone surrogate": '"\\ud800"',
  "quotes and backslashes": `'"\\''; DROP TABLE runs; --`,
  "percent, underscore and placeholders": "%_?$1:name@name{x}",
  emoji: "👩🏽‍🚀 ✅",
  "composed and decomposed letters": "é é",
  "right-to-left text": "שלום",
  "a date": "2024-02-30T00:00:00Z",
  "one megabyte": "0123456789abcdef".repeat(65_536),
  "one megabyte of emoji": "🦊".repeat(262_144),
};

const inEveryPlace =
  (text: string) =>
  async ({ store }: Bench): Promise<void> => {
    const blob = { hash: "blob-1", data: text };
    await accepted(store, creation({ entry: { head: text, data: text }, blobs: [blob] }));
    assert.deepEqual(await store.entries("run-1", { from: 1, limit: 1 }), [
      { seq: 1, count: 1, head: text, data: text },
    ]);
    assert.deepEqual(await store.blobs("run-1", ["blob-1"]), new Map([["blob-1", text]]));
  };

const textCases = Object.entries(TEXTS).map(
  ([what, text]) => [`keep ${what} as it is`, inEveryPlace(text)] as const,
);

export const exactValues: Behaviour = {
  name: "exact values",
  cases: {
    ...Object.fromEntries(textCases),

    "keep an entry without data": async ({ store }) => {
      await accepted(store, creation({ entry: { data: null } }));
      const [entry] = await store.entries("run-1", { from: 1, limit: 1 });
      assert.equal(entry?.data, null);
    },

    "read entries without their data, where they can": async ({ store }) => {
      const texts = ["one", null, "three"];
      const entries = texts.map((data, index) => anEntry(index + 1, { data }));
      await accepted(store, creation({ entries }));
      const outlines = await store.outlines?.("run-1", { from: 2, limit: 5 });
      const expected = entries.slice(1).map((one) => ({ ...one, data: one.data === null ? null : "" }));
      assert.deepEqual(outlines ?? expected, expected);
    },

    "list the blobs of a run, where they can": async ({ store }) => {
      const blobs = ["one", "two"].map((data) => ({ hash: digest(data), data }));
      await accepted(store, creation({ blobs }));
      const names = await store.blobNames?.("run-1");
      const expected = blobs.map(({ hash }) => hash).sort();
      assert.deepEqual(names ? [...names].sort() : expected, expected);
      assert.deepEqual((await store.blobNames?.("nobody")) ?? [], []);
    },

    "keep every field of a run": async ({ store }) => {
      const run = {
        id: "child",
        workflow: "true",
        lineage: "0123",
        parent: { runId: "456", step: "null" },
        origin: { runId: "789", seq: 9_007_199_254_740_991 },
        createdAt: 1_700_000_000_123,
        name: "null",
        labels: { 'a "b"': "\\ 🦊", z: "" },
        queue: "0",
        key: "true",
        priority: -3,
        version: "1.0",
        schema: 7,
        status: "waiting",
        control: "pausing",
        waiting: [
          { kind: "gate", step: "approve", since: 5 },
          { kind: "timer", step: "é 🦊", since: 0, until: 9_007_199_254_740_991, detail: "" },
          { kind: "budget", step: "", since: 1, code: "HF-2119", limits: ["turns", "costUsd"] },
          { kind: "child", step: "sub", since: 2, child: "456", detail: "456" },
        ],
        wakeAt: 1_900_000_000_000,
        recoveries: 3,
        stepsDone: 17,
        usage: { tokens: 9_007_199_254_740_991, costUsd: 0.1 + 0.2 },
        turns: 41,
        activeMs: 1234.5,
        activeAt: 1_700_000_000_222,
        budget: { turns: 50, tokens: 9_007_199_254_740_991, costUsd: 0.1 + 0.2, wallMs: 0 },
        openChildren: 2,
        pinned: true,
        prunedAt: 1_700_000_000_900,
        error: "456",
        updatedAt: 1_700_000_000_456,
        finishedAt: 1_700_000_000_789,
        snapshotSeq: 12,
      } as const;
      const row = await accepted(store, creation({ run, claim: { kind: "release" } }));
      const claim = { epoch: 0, owner: null, token: null, until: 0 };
      assert.deepEqual(row, { ...run, claim, seq: 1, head: "child#1" });
    },

    "tell null, zero and the empty text apart": async ({ store }) => {
      const nothing = { wakeAt: null, error: null, finishedAt: null, budget: null, prunedAt: null } as const;
      const none = await accepted(store, creation({ run: nothing }));
      assert.deepEqual({ ...none, ...nothing }, none);
      const zeros = { wakeAt: 0, error: "", finishedAt: 0, budget: {}, prunedAt: 0 } as const;
      const zero = await accepted(store, step(none, { run: zeros }));
      assert.deepEqual({ ...zero, ...zeros }, zero);
      const again = await accepted(store, step(zero, { run: nothing }));
      assert.deepEqual({ ...again, ...nothing }, again);
    },

    "are not changed by what the caller does to its objects later": async ({ store }) => {
      const waiting = [{ kind: "gate" as const, step: "approve", since: 5 }];
      const usage = { tokens: 1, costUsd: 1 };
      const budget = { turns: 1 };
      const before = await accepted(store, creation({ run: { waiting, usage, budget } }));
      waiting.length = 0;
      usage.tokens = 2;
      budget.turns = 2;
      assert.deepEqual(await store.read("run-1"), before);
      assert.equal(before.waiting.length, 1);
      assert.equal(before.usage.tokens, 1);
      assert.deepEqual(before.budget, { turns: 1 });
    },
  },
};
