import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createLab } from "../test/support/lab.ts";
import {
  failureOf,
  hostileCalls,
  type Outcome,
  outcomeOf,
} from "../test/support/public-api/hostile-calls.ts";
import {
  contextTargets,
  frontTargets,
  fuzzedEngine,
  managedTargets,
  rootTargets,
  securityTargets,
  storeTargets,
  type Target,
} from "../test/support/public-api/targets.ts";
import { workflow } from "./index.ts";
import { openSqliteStore } from "./stores/sqlite/index.ts";

const SEED = Number(process.env["FUZZ_SEED"] ?? 13);

/** Calls each target with one spoilt argument at a time, and lists what went wrong. */
async function fuzz(targets: readonly Target[], calls: number): Promise<readonly string[]> {
  const problems = new Set<string>();
  for (const call of hostileCalls(targets, SEED, calls)) {
    const outcome: Outcome = await outcomeOf(call);
    if (outcome !== "fine") problems.add(`${call.label}: ${outcome}`);
  }
  return [...problems];
}

describe("openSqliteStore", () => {
  it("refuses a path that isn't in its options, and opens no other file", async () => {
    await expect(openSqliteStore("x.db" as never)).rejects.toMatchObject({ code: "HF-1003" });
    await expect(openSqliteStore({ path: "x.db" } as never)).rejects.toMatchObject({ code: "HF-1003" });
    expect(existsSync(".holdfast")).toBe(false);
  });
});

describe("a hostile call of the public API", () => {
  it("gets an error of the table and is never taken silently: engine and run (2,000 calls, seeded)", async () => {
    const engine = await fuzzedEngine();
    expect(await fuzz(rootTargets(engine), 900)).toEqual([]);
  });

  it("gets an error of the table: stored runs", async () => {
    const engine = await fuzzedEngine();
    expect(await fuzz(managedTargets(engine), 500)).toEqual([]);
  });

  it("gets an error of the table: stores and security", async () => {
    expect(await fuzz([...storeTargets(), ...securityTargets()], 500)).toEqual([]);
  });

  it("gets an error of the table: agents, teams, DAGs, YAML, adapters, testing", async () => {
    const engine = await fuzzedEngine();
    expect(await fuzz(frontTargets(engine), 600)).toEqual([]);
  });

  it("gets an error of the table: ctx", async () => {
    const lab = createLab();
    const problems: string[] = [];
    // A run for each call: one that is right by chance may wait.
    const flow = workflow("fuzzed", async (ctx, nth: number) => {
      const call = [...hostileCalls(contextTargets(ctx), SEED, 300)][nth];
      if (!call) return;
      const taken = call.isWrong ? problems.push(`${call.label}: was taken`) : undefined;
      try {
        await call.run();
      } catch (error) {
        if (taken !== undefined) problems.pop();
        const outcome = failureOf(error);
        if (outcome !== "fine") problems.push(`${call.label}: ${outcome}`);
      }
    });
    const engine = lab.engine([flow]);
    for (let nth = 0; nth < 300; nth++) {
      const run = await lab.drive(engine.start(flow, nth));
      await lab.drive(run.settled());
    }
    expect(problems).toEqual([]);
  });
});
