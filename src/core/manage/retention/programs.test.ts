import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampled } from "../../../../test/support/exhaustive.ts";
import { createLab } from "../../../../test/support/lab.ts";
import { storedBytes } from "../../../../test/support/retention.ts";
import { type Program, programs, RUN } from "../../../../test/support/retention-program.ts";
import { complete, labStage, pruneAndCompare, type Round } from "../../../../test/support/retention-stage.ts";

const LONG = 240_000;

const rounds: fc.Arbitrary<readonly Round[]> = fc.array(
  fc.record({
    policy: fc
      .record({
        keepLast: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
        keepPerPhase: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
        maxAge: fc.constantFrom(undefined, 0, 1_000),
        failedMaxAge: fc.constantFrom(undefined, 0),
        keepSuccessful: fc.constantFrom(undefined, true),
      })
      .map((policy) => Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== undefined))),
    batch: fc.constantFrom(1, 13, 500),
    breakAfter: fc.constantFrom(null, 1, 2, 5),
  }),
  { minLength: 1, maxLength: 3 },
);

/** The results of a run, and of one that loses values wherever it stands still. */
async function twins(
  program: Program,
  all: readonly Round[],
  pins: boolean,
): Promise<{ before: number; after: number }> {
  const expected = await complete(labStage(createLab()), program, async () => undefined);
  const sizes = { before: 0, after: 0 };
  const seen = new Map<number, unknown>();
  let stop = 0;
  const found = await complete(labStage(createLab()), program, async (stage, engine) => {
    const round = all[stop % all.length] as Round;
    if (pins && stop === 0) {
      const [, second] = await stage.drive(engine.checkpoints.list(RUN, { limit: 2 }));
      if (second) await stage.drive(engine.checkpoints.pin(second.id));
    }
    stop++;
    sizes.before += await storedBytes(stage.store, RUN);
    await pruneAndCompare(stage, engine, round, seen);
    sizes.after += await storedBytes(stage.store, RUN);
  });
  expect(found).toEqual(expected);
  return sizes;
}

describe("a run with loops that loses values while it lives", () => {
  it("has the same state, can be forked from what is kept only, and comes to the same result", {
    timeout: LONG,
  }, async () => {
    const sizes = { before: 0, after: 0 };
    const property = async (program: Program, all: readonly Round[], pins: boolean): Promise<void> => {
      const { before, after } = await twins(program, all, pins);
      sizes.before += before;
      sizes.after += after;
    };
    const numRuns = sampled(4, 200);
    const seed = Number(process.env["HOLDFAST_RETENTION_SEED"] ?? 20_260_101);
    const kinds = ["gate", "crash", "doubt", "child"] as const;
    await fc.assert(fc.asyncProperty(programs(kinds), rounds, fc.boolean(), property), { numRuns, seed });
    expect(sizes.after).toBeLessThan(sizes.before * 0.85);
  });
});
