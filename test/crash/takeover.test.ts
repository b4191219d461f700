import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunPlan } from "../../lab/crash/config.ts";
import { expectations, uninterrupted } from "../../lab/crash/matrix.ts";
import type { ScenarioName } from "../../lab/crash/scenarios.ts";
import { Lab, resultProblems } from "../../lab/crash/site.ts";

let lab: Lab;

beforeAll(async () => {
  lab = await Lab.open();
});

afterAll(async () => {
  await lab.close();
});

const plan = (scenario: ScenarioName): RunPlan[] => [{ id: `${scenario}-1`, scenario }];

describe("a run that several processes have to do with", () => {
  it("is finished by a fresh process when all the workers of three levels of children die at once (S0-51)", async () => {
    const runs = plan("family");
    const expected = expectations(await uninterrupted(lab, runs), runs);
    for (const step of ["plan", "use", "note", "merge"]) {
      const site = await lab.site();
      await site.witness.hold({ step }, 2);
      const workers = [1, 2, 3].map(() => site.start({ runs, concurrency: 2, shared: true }));
      await site.witness.waitFor((call) => call.step === step);
      for (const worker of workers) worker.signal("SIGKILL");
      const ends = await Promise.all(workers.map((worker) => worker.ended));
      expect(ends.map(({ signal }) => signal)).toEqual(["SIGKILL", "SIGKILL", "SIGKILL"]);
      await site.witness.release();
      const last = await site.run({ runs });
      const at = `killed while ${step} was called`;
      expect([...resultProblems(at, runs, last, expected), ...(await site.check(at))]).toEqual([]);
    }
  });

  it("is advanced by exactly one of two workers that race for it (S1-42)", async () => {
    for (const scenario of ["sequence", "gates", "ledger", "retries"] as const) {
      const runs = plan(scenario);
      const expected = expectations(await uninterrupted(lab, runs), runs);
      const site = await lab.site();
      const ends = await Promise.all([1, 2].map(() => site.run({ runs, claimMs: 5_000 })));
      const problems = ends.flatMap((end) => resultProblems(scenario, runs, end, expected));
      expect([...problems, ...(await site.check(scenario))]).toEqual([]);
      const calls = site.witness.calls().filter(({ outcome }) => outcome !== "refused");
      expect(new Set(calls.map(({ step }) => step)).size).toBe(calls.length);
    }
  });

  it("goes on in the next process as soon as the one before it is dead, however long its claim lasts", async () => {
    const runs = plan("sequence");
    const expected = expectations(await uninterrupted(lab, runs), runs);
    const site = await lab.site();
    await site.witness.hold({ step: "load" });
    const worker = site.start({ runs, claimMs: 3_600_000 });
    await site.witness.waitFor((call) => call.step === "load");
    worker.signal("SIGKILL");
    await worker.ended;
    await site.witness.release();
    const last = await site.run({ runs, claimMs: 3_600_000 });
    expect([...resultProblems("killed", runs, last, expected), ...(await site.check("killed"))]).toEqual([]);
  });

  it("keeps what a call did when its caller dies between the request and the answer (S1-40)", async () => {
    const runs = plan("sequence");
    const expected = expectations(await uninterrupted(lab, runs), runs);
    for (const step of ["load", "charge", "mail", "book"]) {
      const site = await lab.site();
      await site.witness.hold({ step });
      const worker = site.start({ runs });
      await site.witness.waitFor((call) => call.step === step);
      worker.signal("SIGKILL");
      await worker.ended;
      await site.witness.release();
      const at = `killed while ${step} was called`;
      expect([
        ...resultProblems(at, runs, await site.run({ runs }), expected),
        ...(await site.check(at)),
      ]).toEqual([]);
      const calls = site.witness.calls().filter((call) => call.step === step);
      expect(calls.map(({ outcome }) => outcome)).toEqual(AFTER_A_KILL[step]);
    }
  });
});

/** `repeatable` is repeated, `keyed` is recognised, `once` is left to a person or to `verify`. */
const AFTER_A_KILL: Readonly<Record<string, string[]>> = {
  load: ["done", "done"],
  charge: ["done", "repeated"],
  mail: ["done"],
  book: ["done"],
};
