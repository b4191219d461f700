import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLab, type Lab } from "../../../../test/support/lab.ts";
import {
  checkpointsOf,
  journal,
  rowOf,
  stateAt,
  storedBytes,
  verify,
  withoutNewestSnapshot,
} from "../../../../test/support/retention.ts";
import { compile, type Program, programs } from "../../../../test/support/retention-program.ts";
import type { Engine, RetentionPolicy, Workflow } from "../../../index.ts";
import { HoldfastError } from "../../errors.ts";

const RUN = "r";
const LONG = 120_000;

/** Called where the run stands still. */
type Look = (lab: Lab, engine: Engine) => Promise<void>;

/** Runs a program to its end: answers its gates, lets its workers die where it says so, and sends it news at every stop. */
async function complete(lab: Lab, program: Program, look: Look): Promise<unknown> {
  const flow = compile(program) as Workflow<never, unknown>;
  let engine = lab.engine([flow]);
  await lab.drive(engine.start(flow as Workflow<string, unknown>, "i".repeat(3_000), { id: RUN }));
  const stops = [...program.stops].sort((a, b) => a.turn - b.turn);
  for (const [index, { kind, turn }] of stops.entries()) {
    if (kind === "gate") await lab.drive(engine.settled(RUN));
    else await stuck(lab, `turn[${turn}]/hang`);
    if (kind === "crash") await lab.crash(engine);
    const acting = lab.engine([], { execute: false });
    await lab.drive(acting.signal(RUN, "news", `${index} ${"n".repeat(1_500 * index)}`));
    await look(lab, acting);
    if (kind === "gate") await lab.drive(acting.answer(RUN, `turn[${turn}]/stop`, { choice: "go" }));
    else engine = lab.engine([flow]);
    await lab.clock.advance(20_000);
    await lab.drive(engine.recover());
  }
  const result = await lab.drive(engine.result(RUN));
  await look(lab, lab.engine([], { execute: false }));
  await lab.crash(engine);
  return result;
}

/** Lets time pass until a step has been called. */
async function stuck(lab: Lab, step: string): Promise<void> {
  for (let turn = 0; turn < 2_000; turn++) {
    const entries = (await lab.store.read(RUN)) ? await journal(lab.store, RUN) : [];
    if (entries.some(({ head }) => head.includes(`"${step}"`))) return;
    await lab.clock.advance(20);
  }
  throw new Error(`the run does not come to ${step}`);
}

const state = (lab: Lab, seq?: number): Promise<unknown> => stateAt(lab.store, RUN, seq);

/** Prunes, and checks that whatever can still be looked at is as it was. */
async function pruneAndCompare(
  lab: Lab,
  engine: Engine,
  policy: RetentionPolicy,
  kept: number,
  batch: number,
): Promise<void> {
  const all = await checkpointsOf(lab.store, RUN);
  const watched = all.filter((_, index) => index % 9 === 0 || index >= all.length - kept);
  const before = new Map<number, unknown>();
  for (const seq of watched) before.set(seq, await state(lab, seq).catch((error: unknown) => error));
  const head = await state(lab);
  const preview = await lab.drive(engine.retention.preview(policy));
  expect(await lab.drive(engine.retention.prune(policy, { batch }))).toEqual(preview);
  await verify(lab.store, RUN);
  expect(await state(lab)).toEqual(head);
  for (const [index, seq] of watched.entries()) {
    const now = await state(lab, seq).catch((error: unknown) => error);
    const isKept = index >= watched.length - kept;
    if (isKept || !HoldfastError.is(now, "HF-1023")) expect(now, `#${seq}`).toEqual(before.get(seq));
  }
  if ((await rowOf(lab.store, RUN)).status !== "completed" && preview.runs.length > 0)
    expect(await stateAt(await withoutNewestSnapshot(lab.store, RUN), RUN)).toEqual(head);
  expect(await lab.drive(engine.retention.prune(policy))).toMatchObject({ runs: [], skipped: [] });
}

describe("a run with loops that loses values while it lives", () => {
  it("has the same state and comes to the same result", { timeout: LONG }, async () => {
    const sizes = { before: 0, after: 0 };
    await fc.assert(
      fc.asyncProperty(
        programs,
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        fc.constantFrom(1, 13, 500),
        async (program, kept, perPhase, batch) => {
          const expected = await complete(createLab(), program, async () => undefined);
          const policy = perPhase ? { keepLast: kept, keepPerPhase: 2 } : { keepLast: kept };
          const found = await complete(createLab(), program, async (lab, engine) => {
            sizes.before += await storedBytes(lab.store, RUN);
            await pruneAndCompare(lab, engine, policy, kept, batch);
            sizes.after += await storedBytes(lab.store, RUN);
          });
          expect(found).toEqual(expected);
        },
      ),
      { numRuns: 15, seed: 20_260_101 },
    );
    expect(sizes.after).toBeLessThan(sizes.before * 0.75);
  });
});
