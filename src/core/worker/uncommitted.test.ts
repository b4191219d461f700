import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { type Effect, workflow } from "../../index.ts";
import { createFaultyStore, type StoreFault, type StoreMethod } from "../../testing/faulty-store.ts";
import { checkInvariants } from "../../testing/invariants/invariants.ts";
import type { EventKind } from "../journal/events.ts";
import { parseEntry } from "../journal/journal.ts";

const EFFECTS: readonly Effect[] = ["repeatable", "keyed", "once", "keyed", "once", "repeatable"];
/** A result whose worker had to give up is kept as evidence. */
const OUTCOMES: readonly EventKind[] = ["step_completed", "step_evidence"];
const WRITES: readonly StoreMethod[] = ["append", "renew"];

type Plan = (method: StoreMethod, call: number, now: number) => StoreFault | undefined;

/**
 * A run whose steps look, when they are called, at what the store really holds: the intent of each, and the outcome of every one before
 * it. Whatever its code could catch is written down.
 */
async function observed(plan: Plan) {
  const lab = createLab();
  const store = createFaultyStore(lab.store, {
    clock: lab.clock,
    choose: (method, call) => plan(method, call, lab.clock.monotonic()),
  });
  const calls = new Map<string, number>();
  const found: string[] = [];
  const look = async (index: number, attempt: number): Promise<void> => {
    const entries = await lab.store.entries("r", { from: 1, limit: 1_000 });
    const events = entries.flatMap((entry) => parseEntry("r", entry).events);
    const isIntent = events.some(
      (event) =>
        event.kind === "step_started" && event.step === `s${index}` && event.meta.attempt === attempt,
    );
    if (!isIntent) found.push(`s${index} was called without an intent`);
    for (let before = 0; before < index; before++)
      if (!events.some(({ kind, step }) => OUTCOMES.includes(kind) && step === `s${before}`))
        found.push(`s${index} was called before the outcome of s${before} was saved`);
  };
  const flow = workflow("flow", async (ctx) => {
    const results: number[] = [];
    for (const [index, effect] of EFFECTS.entries()) {
      const call = async ({ attempt }: { attempt: number }) => {
        calls.set(`s${index}`, (calls.get(`s${index}`) ?? 0) + 1);
        await look(index, attempt);
        return index;
      };
      try {
        results.push(await ctx.step(`s${index}`, call, { effect, input: index }));
      } catch (error) {
        found.push(`the code saw: ${String(error)}`);
      }
    }
    return results;
  });
  const engine = lab.engine([flow], { store });
  // Whoever starts it tries again until it is taken.
  const start = (): void =>
    void engine.start(flow, undefined, { id: "r" }).catch(() => lab.clock.setTimer(start, 1_000));
  start();
  await lab.clock.advance(400_000);
  const row = await lab.store.read("r");
  const violations = await checkInvariants(lab.store, { calls: [] });
  await lab.crash(engine);
  return { row, calls, found, violations, writes: store.calls.append };
}

/** Every step once, and nothing wrong; `repeatable` and `keyed` ones may be called again after a worker has given up. */
function expectSound(
  at: string,
  { row, calls, found, violations }: Awaited<ReturnType<typeof observed>>,
): void {
  expect({ at, found, violations, status: row?.status }).toEqual({
    at,
    found: [],
    violations: [],
    status: "completed",
  });
  for (const [index, effect] of EFFECTS.entries())
    if (effect === "once") expect(calls.get(`s${index}`), `${at}, s${index}`).toBe(1);
}

describe("no step is called before everything ahead of it is saved", () => {
  it.each(["fail", "fail-after", "fail-late"] as const)(
    "where any one write ends as with %s",
    async (kind) => {
      const { writes } = await observed(() => undefined);
      expect(writes).toBeGreaterThan(EFFECTS.length);
      for (let nth = 1; nth <= writes; nth++)
        expectSound(
          `${kind}, append ${nth}`,
          await observed((method, call) => (method === "append" && call === nth ? { kind } : undefined)),
        );
    },
  );

  it("where the answer to any one write comes later than the claim lasts", async () => {
    for (let nth = 1; nth <= 8; nth++)
      expectSound(
        `append ${nth} is slow`,
        await observed((method, call) =>
          method === "append" && call === nth ? { kind: "delay-after", ms: 30_000 } : undefined,
        ),
      );
  });

  it.each([5_000, 40_000, 150_000])(
    "where the store takes no writes for %i ms from any one on, whatever the patience of the engine",
    async (ms) => {
      for (let nth = 1; nth <= 8; nth++) {
        let since: number | undefined;
        const outcome = await observed((method, call, now) => {
          if (method === "append" && call === nth) since ??= now;
          const isDown = since !== undefined && now - since < ms && WRITES.includes(method);
          return isDown ? { kind: "fail" } : undefined;
        });
        expectSound(`from append ${nth} on for ${ms} ms`, outcome);
      }
    },
  );
});
