import fc from "fast-check";
import { expect } from "vitest";
import { limitsOf } from "../../src/core/store/claim.ts";
import type { Alone, Append, AppendResult, ClaimChange, Store } from "../../src/core/store/contract.ts";
import { RUN_STATUSES, type RunStatus } from "../../src/core/types.ts";
import { createMemoryStore } from "../../src/stores/memory.ts";
import { anEntry, creation, step, take } from "../../src/testing/conformance/index.ts";

/** The time that the store under test must use. */
export const MODEL_NOW = 1_800_000_000_000;

/** The runs, all in one queue, and their keys. */
const KEYS: Readonly<Record<string, string | null>> = { a: "k1", b: "k1", c: "k2", d: null };
const RUNS = Object.keys(KEYS);
const HASHES = ["h1", "h2", "h3"];

/** Describes an append by what is right and wrong about it; the rest comes from the run's current state. */
interface Move {
  readonly run: string;
  readonly creates: boolean;
  readonly ahead: number;
  readonly epoch: number;
  readonly token: "right" | "wrong" | "none";
  readonly claim: ClaimChange["kind"];
  readonly ttlMs: number;
  readonly counts: readonly number[];
  readonly blobs: readonly string[];
  readonly drop: { readonly entries: readonly number[]; readonly blobs: readonly string[] } | null;
  readonly status: RunStatus;
  readonly sleeps: boolean;
  /** The conditions that it has if it is an acquire, or a create. */
  readonly most: readonly [inQueue: number, ofKey: number] | null;
  readonly alone: Alone["among"] | null;
}

const weighted = <T>(usual: T, ...others: T[]) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(usual) },
    ...others.map((one) => ({ weight: 1, arbitrary: fc.constant(one) })),
  );

const moves: fc.Arbitrary<Move> = fc.record({
  run: fc.constantFrom(...RUNS),
  creates: weighted(false, true),
  ahead: weighted(0, 1, 2, -1),
  epoch: weighted(0, 1, -1),
  token: fc.constantFrom("right", "right", "none", "wrong"),
  claim: fc.constantFrom("acquire", "hold", "hold", "release", "revoke", "keep"),
  ttlMs: fc.constantFrom(0, 1000),
  counts: weighted<readonly number[]>([1], [3], [1, 2]),
  blobs: fc.array(fc.constantFrom(...HASHES), { maxLength: 3 }),
  drop: fc.option(
    fc.record({ entries: fc.array(fc.nat({ max: 6 })), blobs: fc.array(fc.constantFrom(...HASHES)) }),
    { freq: 3 },
  ),
  status: fc.constantFrom(...RUN_STATUSES, "running", "waiting"),
  sleeps: weighted(false, true),
  most: fc.option(fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 2 })), { freq: 4 }),
  alone: fc.option(fc.constantFrom("unended", "unbegun"), { freq: 4 }),
});

const acquired = ({ run, ttlMs, most }: Move, n: number): ClaimChange => {
  const key = KEYS[run] ?? null;
  const limits = most && [
    { queue: "mail", most: most[0] },
    ...(key === null ? [] : [{ queue: "mail", key, most: most[1] }]),
  ];
  return { ...take(`w${n}`, ttlMs), ...(limits ? { limits } : {}) } as ClaimChange;
};

async function toAppend(store: Store, move: Move, n: number): Promise<Append> {
  const row = await store.read(move.run);
  const claim = move.claim === "acquire" ? acquired(move, n) : { kind: move.claim, ttlMs: move.ttlMs };
  const first = move.creates || !row ? 1 : row.seq + move.ahead + 1;
  let seq = first;
  const entries = move.counts.map((count) => {
    seq += count;
    return anEntry(seq - count, { count, head: `{"by":${n}}`, data: `"${n}"` });
  });
  const blobs = move.blobs.map((hash) => ({ hash, data: `${hash} of ${move.run}` }));
  const parts = { claim, entries, blobs, ...(move.drop ? { drop: move.drop } : {}) };
  const kind = n % 2 === 0 ? "start" : "timer";
  const run = {
    status: move.status,
    waiting: move.status === "waiting" ? [{ kind, step: "", since: n } as const] : [],
    wakeAt: move.sleeps ? null : n,
    prunedAt: n % 5 === 0 ? n : null,
  };
  if (move.creates || !row) {
    const key = KEYS[move.run] ?? null;
    const isAlone = move.alone !== null && key !== null && move.claim !== "acquire";
    const alone = isAlone ? { alone: { key, among: move.alone } } : {};
    const identity = { id: move.run, createdAt: n, queue: "mail", key };
    return { ...creation({ run: { ...identity, ...run }, ...parts }), ...alone };
  }
  const tokens = { right: row.claim.token, wrong: "wrong", none: null };
  const expected = {
    seq: row.seq + move.ahead,
    epoch: row.claim.epoch + move.epoch,
    token: tokens[move.token],
  };
  return step(row, { ...parts, expect: expected, run: { stepsDone: n, ...run } });
}

async function everything(store: Store): Promise<unknown> {
  const runs = RUNS.map(async (id) => ({
    row: await store.read(id),
    entries: await store.entries(id, { from: 1, limit: 1000 }),
    blobs: await store.blobs(id, HASHES),
  }));
  const lists = RUN_STATUSES.flatMap((status) =>
    [true, false].map((pruned) => store.list({ status: [status], pruned, limit: 10 })),
  );
  const due = await store.due({ workflows: ["orders"], limit: 10 });
  return {
    runs: await Promise.all(runs),
    lists: await Promise.all(lists),
    due,
    all: await store.list({ limit: 10 }),
  };
}

/** A condition on other runs is tried by itself: stores don't promise the order within a batch. */
const inTurn = (appends: readonly Append[]): readonly (readonly Append[])[] => {
  const isApart = appends.some((one) => one.alone !== undefined || limitsOf(one).length > 0);
  return isApart ? appends.map((one) => [one]) : [appends];
};

/** Any of several runs may be the one in the way. */
const toldBy = (results: readonly AppendResult[]): readonly object[] =>
  results.map((one) => ({ ...one, ...("by" in one ? { by: typeof one.by } : {}) }));

/** Checks that the store gives the same answers as the memory store and holds the same data, whatever is appended. */
export async function checkAgainstModel(openEmpty: () => Promise<Store>, numRuns: number): Promise<void> {
  const batches = fc.array(fc.array(moves, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 8 });
  const check = async (given: readonly (readonly Move[])[]): Promise<void> => {
    const store = await openEmpty();
    const memory = createMemoryStore({ clock: { now: () => MODEL_NOW } });
    let n = 0;
    for (const batch of given) {
      const appends: Append[] = [];
      for (const move of batch) appends.push(await toAppend(memory, move, ++n));
      for (const some of inTurn(appends))
        expect(toldBy(await store.append(some))).toEqual(toldBy(await memory.append(some)));
      expect(await everything(store)).toEqual(await everything(memory));
    }
    await store.close();
  };
  await fc.assert(fc.asyncProperty(batches, check), { numRuns, seed: 7 });
}
