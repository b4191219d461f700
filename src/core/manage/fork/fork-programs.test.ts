import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkpointsOf, digestAt, settle } from "../../../../test/support/family.ts";
import { createLab } from "../../../../test/support/lab.ts";
import { made, program } from "../../../../test/support/programs.ts";
import { checkInvariants } from "../../../testing/invariants/invariants.ts";

const part = fc.integer({ min: 0, max: 999 });

describe("whatever the program and wherever it is forked", () => {
  it("forks and forks of forks end like the source, call nothing twice, and survive the death of their process", async () => {
    await fc.assert(
      fc.asyncProperty(program(2), part, part, fc.integer({ min: 0, max: 120 }), async (nodes, a, b, ms) => {
        const lab = createLab();
        const { flow, flows, effects } = made(lab, nodes);
        const engine = lab.engine(flows);
        await lab.drive(engine.start(flow, undefined, { id: "r" }));
        const result = await lab.drive(engine.result("r"));
        const stored = (await lab.store.list({ limit: 500 })).runs;
        const called = effects.length;
        const pick = async (runId: string, share: number): Promise<number> => {
          const positions = await checkpointsOf(lab.store, runId);
          return positions[Math.floor((share / 1_000) * positions.length)] ?? 0;
        };
        const first = await pick("r", a);
        await lab.drive(engine.fork(`r@${first}`, { id: "one" }));
        expect(await digestAt(lab.store, "one", first)).toBe(await digestAt(lab.store, "r", first));
        await lab.clock.advance(ms);
        const { engine: next } = await lab.afterCrash(engine, flows, "one");
        // From the first fork as it stands, or as it was at some point.
        const rest = await pick("one", b);
        await lab.drive(next.fork(rest > 0 ? `one@${rest}` : "one", { id: "two" }));
        for (const id of ["one", "two"]) {
          expect((await settle(lab, next, id)).status).toBe("completed");
          expect(await lab.drive(next.result(id))).toEqual(result);
        }
        expect(effects.slice(called)).toEqual([]);
        for (const row of stored) expect(await lab.store.read(row.id)).toEqual(row);
        expect(await checkInvariants(lab.store, { calls: [] })).toEqual([]);
      }),
      { numRuns: 40, seed: 11 },
    );
  }, 120_000);
});
