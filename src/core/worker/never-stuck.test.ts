import { describe, expect, it } from "vitest";
import { simulate } from "../../../lab/simulator/simulator.ts";
import { sampled } from "../../../test/support/exhaustive.ts";
import type { Append, Store } from "../store/contract.ts";
import { sealOf } from "../store/hand-through.ts";
import { ended, type WaitKind } from "../types.ts";

const HISTORIES = sampled(40, 2_000);

/** Waits that somebody outside ends: a person, another run, a new version of the code. */
const ASKED: readonly WaitKind[] = [
  "gate",
  "signal",
  "child",
  "decision",
  "review",
  "budget",
  "policy",
  "content",
  "migration",
];

/** Why nobody would ever take a run up again, as it was just written; `undefined` when somebody would. */
function stuck({ run, claim }: Append): string | undefined {
  const { status, wakeAt, waiting } = run;
  if (ended(status) || status === "paused") return undefined;
  if (status === "queued" || status === "running")
    return wakeAt === null ? `${status}, and never due` : undefined;
  if (waiting.length === 0) return "waiting, without saying for what";
  if (claim.kind === "acquire") return "waiting, and held";
  const untimed = waiting
    .filter(({ until }) => until === undefined)
    .find(({ kind }) => !ASKED.includes(kind));
  if (untimed) return `waiting for ${untimed.kind}, which nobody ends`;
  const times = waiting.flatMap(({ kind, until }) =>
    until === undefined || kind === "decision" ? [] : [until],
  );
  return times.length > 0 && wakeAt !== Math.min(...times)
    ? `due at ${wakeAt}, not when it waits for`
    : undefined;
}

/** Looks at every row that is taken by the store. */
function watched(store: Store, found: string[], seen: Map<string, number>): Store {
  const look = (append: Append): void => {
    const { status, waiting } = append.run;
    const what = status === "waiting" ? (waiting[0]?.kind ?? "nothing") : status;
    seen.set(what, (seen.get(what) ?? 0) + 1);
    const problem = stuck(append);
    if (problem) found.push(`${append.run.id}: ${problem}`);
  };
  const { transaction } = store;
  return {
    name: store.name,
    capabilities: store.capabilities,
    ...sealOf(store),
    identity: () => store.identity(),
    now: () => store.now(),
    append: async (batch) => {
      const results = await store.append(batch);
      batch.forEach((append, index) => results[index]?.ok && look(append));
      return results;
    },
    renew: (batch) => store.renew(batch),
    read: (runId) => store.read(runId),
    entries: (runId, range) => store.entries(runId, range),
    blobs: (runId, hashes) => store.blobs(runId, hashes),
    list: (query) => store.list(query),
    due: (query) => store.due(query),
    close: () => store.close(),
    ...(transaction
      ? {
          transaction: (work, append) =>
            transaction(work, (value) => {
              const built = append(value);
              look(built);
              return built;
            }),
        }
      : {}),
  };
}

describe("a run that has not ended", () => {
  it("is held, due, paused or waits for something with a name, at every moment of a history full of faults", async () => {
    const found: string[] = [];
    const seen = new Map<string, number>();
    for (let seed = 1; seed <= HISTORIES; seed++) {
      const { findings } = await simulate(seed, { wrapStore: (store) => watched(store, found, seen) });
      expect({ seed, findings, found }).toEqual({ seed, findings: [], found: [] });
    }
    // Otherwise the histories would prove little.
    for (const what of ["running", "queued", "paused", "gate", "timer", "decision", "signal", "child"])
      expect([what, seen.get(what) ?? 0]).not.toEqual([what, 0]);
  }, 600_000);
});
