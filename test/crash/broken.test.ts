import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { crashMatrix } from "../../src/testing/crash/matrix.ts";
import type { SpawnOptions } from "../../src/testing/crash/processes.ts";
import { zombieRounds } from "../../src/testing/crash/zombies.ts";

/** Broken workers run from their sources: they are no part of the build. */
const broken = (name: string): SpawnOptions => ({
  script: fileURLToPath(new URL(`./broken/${name}.ts`, import.meta.url)),
  execArgv: ["--import", "tsx"],
});

const rulesOf = (problems: readonly { readonly rule: string }[]): Set<string> =>
  new Set(problems.map(({ rule }) => rule));

describe("the harness", () => {
  it("catches an engine that records an outcome before the effect", async () => {
    const spawn = broken("outcome-first");
    const { problems } = await crashMatrix({
      scenario: "sequence",
      kinds: ["write"],
      limit: 8,
      runs: 1,
      spawn,
    });
    expect(rulesOf(problems)).toContain("I6");
    expect(problems.map(({ message }) => message).join()).toContain("the outside world never saw it");
  });

  it("catches an engine that calls without an intent", async () => {
    const spawn = broken("no-intent");
    const { problems } = await crashMatrix({
      scenario: "sequence",
      kinds: ["write"],
      limit: 8,
      runs: 1,
      spawn,
    });
    expect(rulesOf(problems)).toContain("I3");
  });

  it("catches a store that does not fence", async () => {
    const { problems } = await zombieRounds({ rounds: 2, spawn: broken("no-fencing") });
    expect(rulesOf(problems)).toContain("I1");
  });
});
