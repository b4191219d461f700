import { afterAll, beforeAll } from "vitest";
import type { RunPlan } from "../../lab/crash/config.ts";
import { expectations, uninterrupted } from "../../lab/crash/matrix.ts";
import { type Expectations, Lab } from "../../lab/crash/site.ts";

/** One run of the sequence scenario, a lab for the file's tests, and the run's result without faults. */
export interface SequenceLab {
  readonly runs: RunPlan[];
  readonly lab: Lab;
  readonly expected: Expectations;
}

export function useSequenceLab(): SequenceLab {
  const runs: RunPlan[] = [{ id: "sequence-1", scenario: "sequence" }];
  let lab: Lab;
  let expected: Expectations;
  beforeAll(async () => {
    lab = await Lab.open();
    expected = expectations(await uninterrupted(lab, runs), runs);
  });
  afterAll(async () => {
    await lab.close();
  });
  return {
    runs,
    get lab() {
      return lab;
    },
    get expected() {
      return expected;
    },
  };
}
