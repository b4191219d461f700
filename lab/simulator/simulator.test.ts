import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { digest } from "../../src/core/hash.ts";
import type { Append, AppendResult, Entry, Store } from "../../src/core/store/contract.ts";
import { sampled } from "../../test/support/exhaustive.ts";
import { type SimulationOptions, type SimulationReport, simulate, simulateMany } from "./simulator.ts";

const MINUTE_MS = 60_000;

/** The same entries at positions from `first` on. */
function renumbered(entries: readonly Entry[], first: number): Entry[] {
  const start = entries[0]?.seq ?? first;
  return entries.map((entry) => ({ ...entry, seq: entry.seq - start + first }));
}

/** Accepts every write, like a store without fencing. */
function withoutFencing(store: Store): Store {
  const force = async (append: Append, result: AppendResult): Promise<AppendResult> => {
    if (result.ok || !result.row || append.expect === null) return result;
    const { seq, claim } = result.row;
    const entries = renumbered(append.entries, seq + 1);
    const expect = { seq, epoch: claim.epoch, token: claim.token };
    const kind = append.claim.kind === "acquire" ? ({ kind: "keep" } as const) : append.claim;
    const [again] = await store.append([{ ...append, entries, expect, claim: kind }]);
    return again ?? result;
  };
  return {
    ...store,
    async append(batch) {
      const results = await store.append(batch);
      return Promise.all(batch.map((append, index) => force(append, results[index] as AppendResult)));
    },
  };
}

/** Drops every value of a run as soon as some of them may be dropped. */
const droppingAll = (store: Store): Store => ({
  ...store,
  append: (batch) =>
    store.append(
      batch.map((append) => {
        const [first] = append.entries;
        const last = first?.seq ?? 1;
        // A run that is taken over still needs its recorded values.
        if (last < 8 || !first?.head.includes('"run_claimed"')) return append;
        const entries = Array.from({ length: last - 1 }, (_, index) => index + 1);
        return { ...append, drop: { entries, blobs: append.drop?.blobs ?? [] } };
      }),
    ),
});

/** Repeats the migration, like a second worker that hasn't noticed the first. */
function again({ head, seq, count }: Entry): Pick<Append, "entries" | "head"> {
  const parsed = JSON.parse(head) as { v: unknown[][] };
  const v = parsed.v.filter(([kind]) => kind === "run_migrated");
  const { d: _, b: __, ...rest } = parsed as Record<string, unknown>;
  const text = JSON.stringify({ ...rest, p: digest(head), v });
  return {
    entries: [{ seq: seq + count, count: v.length, head: text, data: null }],
    head: digest(text),
  };
}

const migratingTwice = (store: Store): Store => ({
  ...store,
  async append(batch) {
    const results = await store.append(batch);
    for (const [index, append] of batch.entries()) {
      const entry = append.entries.at(-1);
      const isMigration = entry?.head.includes('"run_migrated"') === true && append.expect !== null;
      if (!results[index]?.ok || !entry || !isMigration) continue;
      const { epoch } = append.expect ?? { epoch: 0 };
      const expect = { seq: entry.seq + entry.count - 1, epoch, token: null };
      await store.append([{ ...append, ...again(entry), blobs: [], expect, claim: { kind: "keep" } }]);
    }
    return results;
  },
});

/** The first seed with any finding. */
async function firstCaught(
  count: number,
  options: Partial<SimulationOptions>,
): Promise<SimulationReport | undefined> {
  for (let seed = 1; seed <= count; seed++) {
    const report = await simulate(seed, options);
    if (report.findings.length > 0) return report;
  }
  return undefined;
}

/** The first seed with this finding. */
async function firstWith(
  invariant: string,
  count: number,
  options: Partial<SimulationOptions>,
  from = 1,
): Promise<SimulationReport | undefined> {
  for (let seed = from; seed < from + count; seed++) {
    const report = await simulate(seed, options);
    if (invariantsOf(report).includes(invariant)) return report;
  }
  return undefined;
}

/** The first seed with a finding that contains this text. */
async function firstSaying(
  text: string,
  count: number,
  options: Partial<SimulationOptions>,
): Promise<SimulationReport | undefined> {
  for (let seed = 1; seed <= count; seed++) {
    const report = await simulate(seed, options);
    if (report.findings.some(({ message }) => message.includes(text))) return report;
  }
  return undefined;
}

const invariantsOf = (report: SimulationReport | undefined): string[] =>
  (report?.findings ?? []).map(({ invariant }) => invariant);

describe("simulate", () => {
  it("keeps every promise whatever goes wrong", { timeout: sampled(5, 60) * MINUTE_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const { findings, faults } = await simulate(seed);
        expect(findings, `seed ${seed}, ${JSON.stringify(faults)}`).toEqual([]);
      }),
      // The same seeds every time: new ones are for the soak (`npm run soak -- --simulate 10000`).
      { numRuns: sampled(100, 3_000), seed: 20261115 },
    );
  });

  it("keeps every promise when nothing goes wrong", { timeout: MINUTE_MS }, async () => {
    const { failed, runs, calls } = await simulateMany(1, 40, { faults: false });
    expect(failed.map(({ seed, findings }) => ({ seed, findings }))).toEqual([]);
    expect(runs).toBeGreaterThan(40);
    expect(calls).toBeGreaterThan(100);
  });

  it("tells the same history for the same seed, and another for another", {
    timeout: MINUTE_MS,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const [first, second, other] = [await simulate(seed), await simulate(seed), await simulate(seed + 1)];
        expect(second).toEqual(first);
        expect(other.digest).not.toBe(first.digest);
      }),
      { numRuns: 10, seed: 20261115 },
    );
  });

  it("injects every kind of fault within a few hundred seeds", { timeout: 2 * MINUTE_MS }, async () => {
    const seen = new Set<string>();
    await simulateMany(1, 150, {
      onReport: ({ faults }) => Object.keys(faults).forEach((kind) => seen.add(kind)),
    });
    expect([...seen].sort()).toEqual([
      "cancel",
      "cancel with undo",
      "clock jump of a worker",
      "clock jump of the store",
      "crash",
      "crash at a probe",
      "crash at a write",
      "failed call",
      "fork",
      "fork asks",
      "freeze",
      "freeze at a probe",
      "injection",
      "late write",
      "lost acknowledgement",
      "memory shortage",
      "outage",
      "pause",
      "pause with children",
      "prune",
      "restart in good order",
      "slow call",
    ]);
  });
});

describe("the simulator's checks", () => {
  it("catch a store that lets fenced workers write", { timeout: MINUTE_MS }, async () => {
    const caught = await firstCaught(60, { wrapStore: withoutFencing });
    expect(invariantsOf(caught)).toContain("I1");
  });

  it("catch a program that acts outside its steps", { timeout: MINUTE_MS }, async () => {
    const caught = await firstCaught(10, { breakage: "calls-outside-steps" });
    expect(invariantsOf(caught)).toContain("I3");
  });

  it("catch forks that do again what their sources have done", { timeout: MINUTE_MS }, async () => {
    const without = ["versions", "cancels", "clock-jumps"] as const;
    const found = await firstSaying("the run it was forked from had done it", 200, {
      breakage: "undeclared-effects",
      without,
    });
    expect(found?.seed).toBeGreaterThan(0);
  });

  it("catch a retention that drops what is still needed", { timeout: MINUTE_MS }, async () => {
    const caught = await firstCaught(200, { wrapStore: droppingAll });
    expect(invariantsOf(caught)).toContain("result");
  });

  it("catch a migration that is written twice", { timeout: MINUTE_MS }, async () => {
    const caught = await firstCaught(60, { wrapStore: migratingTwice });
    expect(invariantsOf(caught)).toContain("I8");
  });

  it("catch a program that records the outcome first and acts afterwards", {
    timeout: MINUTE_MS,
  }, async () => {
    // One history in a few hundred shows it; 614 is one.
    const found = await firstWith("I6", 500, { breakage: "outcome-before-call" }, 600);
    expect(found?.seed).toBeGreaterThan(0);
  });
});
