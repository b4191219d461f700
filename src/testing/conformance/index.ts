import type { Store } from "../../core/store/contract.ts";
import { batches } from "./batches.ts";
import { blobs } from "./blobs.ts";
import { changes } from "./changes.ts";
import { claimExpiry } from "./claim-expiry.ts";
import { claims } from "./claims.ts";
import { closing } from "./closing.ts";
import { creating } from "./creating.ts";
import { documents, keptDocuments } from "./documents.ts";
import { dropping } from "./dropping.ts";
import { due } from "./due.ts";
import { entries } from "./entries.ts";
import { erasing } from "./erasing.ts";
import { exactValues } from "./exact-values.ts";
import { fencing } from "./fencing.ts";
import { aloneWithKey, limits } from "./limits.ts";
import { listing } from "./listing.ts";
import { missing } from "./missing.ts";
import { outsideActs } from "./outside-acts.ts";
import { positions } from "./positions.ts";
import { projections } from "./projections.ts";
import { prunedRuns } from "./pruned-runs.ts";
import { records } from "./records.ts";
import { reopening } from "./reopening.ts";
import { keptStreams, streams } from "./streams.ts";
import type { Behaviour, Bench, MovableClock } from "./suite.ts";
import { priorities, tags } from "./tags.ts";
import { transactions } from "./transactions.ts";
import { unknownCommits } from "./unknown-commits.ts";

export * from "./fixtures.ts";
export type { MovableClock } from "./suite.ts";

/** Tells the suite how to open a store. */
export interface ConformanceOptions {
  readonly name: string;
  /** Opens an empty store; called once for every case. */
  readonly open: () => Promise<Store>;
  /** Reopens the data of the last `open` after that handle was closed. */
  readonly reopen?: () => Promise<Store>;
  /** Removes a case's data; called after every case. */
  readonly destroy?: () => Promise<void>;
  /** The store's clock, if it can be replaced. */
  readonly clock?: MovableClock;
  /** Behaviours that this store doesn't have, with the reason. */
  readonly skip?: readonly { readonly behaviour: string; readonly reason: string }[];
}

type RegisterCase = (name: string, body: () => Promise<void>) => unknown;

/** The test runner's functions: those of vitest, node:test, mocha or jest will do. */
export interface ConformanceRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: RegisterCase & { readonly skip?: RegisterCase };
}

const BEHAVIOURS: readonly Behaviour[] = [
  exactValues,
  creating,
  positions,
  projections,
  fencing,
  claims,
  claimExpiry,
  outsideActs,
  batches,
  unknownCommits,
  entries,
  blobs,
  dropping,
  changes,
  records,
  erasing,
  listing,
  prunedRuns,
  due,
  tags,
  priorities,
  limits,
  aloneWithKey,
  documents,
  keptDocuments,
  streams,
  keptStreams,
  missing,
  reopening,
  closing,
  transactions,
];

/**
 * Tests a store against the contract: the same cases for every store, with any test runner.
 *
 * @example
 * ```ts
 * import { describe, it } from "node:test";
 * import { createMemoryStore } from "holdfast/stores/memory";
 * import { storeConformance } from "holdfast/testing";
 *
 * const skip = [{ behaviour: "reopening", reason: "it forgets everything when it is closed" }];
 * storeConformance({ name: "memory", open: async () => createMemoryStore(), skip }, { describe, it });
 * ```
 */
export function storeConformance(options: ConformanceOptions, { describe, it }: ConformanceRunner): void {
  const unknown = options.skip?.find(({ behaviour }) => !BEHAVIOURS.some(({ name }) => name === behaviour));
  if (unknown) throw new Error(`there is no behaviour "${unknown.behaviour}" to skip`);
  describe(`the ${options.name} store`, () => {
    for (const behaviour of BEHAVIOURS) {
      const reason = whySkipped(behaviour, options);
      describe(reason === undefined ? behaviour.name : `${behaviour.name} (skipped: ${reason})`, () => {
        const register = reason === undefined ? it : (it.skip ?? (() => undefined));
        for (const [title, run] of Object.entries(behaviour.cases))
          register(title, () => runCase(options, run));
      });
    }
  });
}

function whySkipped(
  { name, needs }: Behaviour,
  { skip, clock, reopen }: ConformanceOptions,
): string | undefined {
  const declared = skip?.find(({ behaviour }) => behaviour === name);
  if (declared) return declared.reason;
  if (needs === "clock" && !clock) return "the store's clock cannot be moved";
  if (needs === "reopen" && !reopen) return "no way to reopen was given";
  return undefined;
}

async function runCase(options: ConformanceOptions, run: (bench: Bench) => Promise<void>): Promise<void> {
  const store = await options.open();
  const opened = [store];
  const reopen = async (): Promise<Store> => {
    await store.close();
    if (!options.reopen) throw new Error("no way to reopen was given");
    const again = await options.reopen();
    opened.push(again);
    return again;
  };
  const clock = options.clock ?? { now: () => Number.NaN, advance: () => undefined };
  try {
    await store.identity();
    await run({ store, clock, reopen });
  } finally {
    for (const one of opened) await one.close();
    await options.destroy?.();
  }
}
