import { describe, expect, it } from "vitest";
import { createLab, hangs } from "../../../test/support/lab.ts";
import { type Engine, workflow } from "../../index.ts";
import type { Store } from "../store/contract.ts";

const HOUR = 3_600_000;

let isHanging = true;
const flow = workflow("flow", async (ctx) => {
  await ctx.step("first", () => 1);
  return ctx.step("slow", () => (isHanging ? hangs() : 2), { effect: "repeatable" });
});

const works = (engine: Engine): Promise<void> => engine.work();

describe("a run whose claim is further ahead than it can last", () => {
  it("says so, and is taken when its claim was not renewed for its length (E14)", async () => {
    const lab = createLab();
    isHanging = true;
    const first = lab.engine([flow]);
    await lab.drive(first.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    await lab.crash(first);
    lab.clock.jump(-HOUR);
    isHanging = false;
    const second = lab.engine([flow], { claimMs: 2_000 });
    await works(second);
    expect(await second.status("r")).toMatchObject({
      headline: expect.stringMatching(/that clock was put back$/),
      stalled: { kind: "ahead" },
    });
    // Its owner's claim lasts 10 s, and may be alive for so long.
    await lab.clock.advance(9_000);
    expect((await lab.store.read("r"))?.claim.epoch).toBe(1);
    await lab.clock.advance(60_000);
    expect(await second.status("r")).toMatchObject({ headline: "completed", stalled: null });
    await second.close();
  });

  it("stays with a worker that is alive and renews it", async () => {
    const lab = createLab();
    isHanging = true;
    const first = lab.engine([flow]);
    await lab.drive(first.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    const second = lab.engine([flow], { claimMs: 2_000 });
    await works(second);
    lab.clock.jump(-HOUR);
    await lab.clock.advance(120_000);
    expect((await lab.store.read("r"))?.claim).toMatchObject({ epoch: 1 });
    await lab.crash(first);
    await lab.crash(second);
  });
});

describe("a run that the store's list of due runs has lost", () => {
  it("is found by the worker that looks through the runs (D11)", async () => {
    const lab = createLab();
    isHanging = false;
    await lab.drive(lab.engine([flow], { execute: false }).start(flow, undefined, { id: "r" }));
    const store: Store = { ...lab.store, due: async () => [] };
    const engine = lab.engine([flow], { store });
    await works(engine);
    await lab.clock.advance(60_000);
    expect(await engine.status("r")).toMatchObject({ headline: "completed" });
    await engine.close();
  });
});
