import { describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import { crashMatrix } from "../../lab/crash/matrix.ts";
import type { SpawnOptions } from "../../lab/crash/processes.ts";
import { Lab, resultProblems } from "../../lab/crash/site.ts";
import { zombieRounds } from "../../lab/crash/zombies.ts";

/** Broken workers run from source, because they aren't part of the build. */
const broken = (name: string): SpawnOptions => ({
  script: childScript(`test/crash/broken/${name}`),
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

  it("catches an engine whose forks do again what their sources have done", async () => {
    const lab = await Lab.open(broken("undeclared-effects"));
    try {
      const runs = [{ id: "sequence-1", scenario: "sequence" as const }];
      const site = await lab.site();
      await site.run({ runs });
      expect(await site.check("before the fork")).toEqual([]);
      await site.run({ runs, act: { kind: "fork", source: "sequence-1", step: "load" } });
      const problems = await site.check("after the fork");
      expect(problems.map(({ rule, runId }) => `${rule} ${runId}`)).toEqual([
        "I4 sequence-1-fork",
        "I3 sequence-1-fork",
      ]);
      expect(problems[0]?.message).toContain("the run it was forked from had done it");
    } finally {
      await lab.close();
    }
  });

  it("catches a retention that drops what is still needed", async () => {
    const lab = await Lab.open();
    try {
      const runs = [{ id: "sequence-1", scenario: "sequence" as const }];
      const site = await lab.site();
      const first = await site.run({ runs, kill: { point: "C09:after-completion", nth: 2 } });
      expect(first.signal).toBe("SIGKILL");
      const greedy = await site.run({ runs }, broken("drops-too-much"));
      expect([greedy.signal, greedy.isOverdue]).toEqual(["SIGKILL", false]);
      const last = await site.run({ runs }, { patienceMs: 5_000 });
      expect(rulesOf(resultProblems("too much is gone", runs, last, {}))).toContain("I10");
    } finally {
      await lab.close();
    }
  });

  it("catches a store that does not fence", async () => {
    // It freezes on its way into the store, after all of its own checks: its first act after waking up is a write.
    const strike = { write: 2, side: "before", claimed: true } as const;
    const freezes = [{ scenario: "sequence", strike }] as const;
    const { problems } = await zombieRounds({ rounds: 1, freezes, spawn: broken("no-fencing") });
    expect(rulesOf(problems)).toContain("I1");
  });
});
