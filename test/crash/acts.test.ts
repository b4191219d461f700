import { describe, expect, it } from "vitest";
import { parseEntry } from "../../src/core/journal.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import type { Strike } from "../../src/testing/crash/config.ts";
import { nameOf } from "../../src/testing/crash/matrix.ts";
import { resultProblems, type Site } from "../../src/testing/crash/site.ts";
import { useSequenceLab } from "./sequence-lab.ts";

const sequence = useSequenceLab();
const { runs } = sequence;

async function kinds(site: Site): Promise<string[]> {
  const store = await openSqliteStore({ file: site.file });
  const entries = await store.entries("sequence-1", { from: 1, limit: 1_000 });
  await store.close();
  return entries.flatMap((entry) => parseEntry("sequence-1", entry).events.map(({ kind }) => kind));
}

const writes = (from: number, to: number): Strike[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index).flatMap((write): Strike[] => [
    { write, side: "before" },
    { write, side: "after" },
  ]);

describe("starting a run", () => {
  it("makes one run of twenty starts from four processes", async () => {
    const site = await sequence.lab.site();
    const ends = await Promise.all([1, 2, 3, 4].map(() => site.run({ runs, starts: 5, claimMs: 5_000 })));
    expect(
      ends.flatMap((end) => resultProblems("started twenty times", runs, end, sequence.expected)),
    ).toEqual([]);
    expect(await site.check("started twenty times")).toEqual([]);
    expect((await kinds(site)).filter((kind) => kind === "run_created")).toHaveLength(1);
  });
});

describe("pausing a run", () => {
  const act = { kind: "pause", step: "charge" } as const;

  it("holds although the process dies right after it was acknowledged", async () => {
    const site = await sequence.lab.site();
    const first = await site.run({ runs, act, kill: { point: "C15:pause-requested", nth: 1 } });
    expect(first.signal).toBe("SIGKILL");
    const calls = site.witness.calls().length;
    const second = await site.run({ runs, until: "settled" });
    expect(second.reports[0]?.results["sequence-1"]?.status).toBe("paused");
    expect(site.witness.calls()).toHaveLength(calls);
    const last = await site.run({ runs, act: { kind: "resume" } });
    expect([
      ...resultProblems("pause", runs, last, sequence.expected),
      ...(await site.check("pause")),
    ]).toEqual([]);
  });

  it("can be ended by a resume that survives a kill at any write of its process", async () => {
    const strikes: Strike[] = [{ point: "C16:resumed", nth: 1 }, ...writes(1, 4)];
    for (const kill of strikes) {
      const at = nameOf("resume", kill);
      const site = await sequence.lab.site();
      await site.run({ runs, act, until: "settled" });
      await site.run({ runs, act: { kind: "resume" }, kill });
      const last = await site.run({ runs, act: { kind: "resume" } });
      expect([...resultProblems(at, runs, last, sequence.expected), ...(await site.check(at))]).toEqual([]);
      expect(
        (await kinds(site)).filter((kind) => kind === "run_resumed"),
        at,
      ).toHaveLength(1);
      await site.remove();
    }
  });
});

describe("cancelling a run", () => {
  const act = { kind: "cancel", step: "file" } as const;

  it("is final once it was acknowledged, whatever happens to the process", async () => {
    const site = await sequence.lab.site();
    expect((await site.run({ runs, act, kill: { point: "C17:after-cancel", nth: 1 } })).signal).toBe(
      "SIGKILL",
    );
    const last = await site.run({ runs });
    expect(last.reports[0]?.results["sequence-1"]?.status).toBe("cancelled");
    expect(await site.check("cancel")).toEqual([]);
  });

  it("has no effect when the process dies before it was written", async () => {
    const site = await sequence.lab.site();
    expect((await site.run({ runs, act, kill: { point: "C17:before-cancel", nth: 1 } })).signal).toBe(
      "SIGKILL",
    );
    const last = await site.run({ runs });
    expect([
      ...resultProblems("cancel", runs, last, sequence.expected),
      ...(await site.check("cancel")),
    ]).toEqual([]);
  });

  it("either wins or loses against the run's own end, and never does both", async () => {
    for (const kill of writes(5, 8)) {
      const at = nameOf("cancel", kill);
      const site = await sequence.lab.site();
      await site.run({ runs, act, kill });
      const last = await site.run({ runs });
      expect(["completed", "cancelled"], at).toContain(last.reports[0]?.results["sequence-1"]?.status);
      expect(await site.check(at)).toEqual([]);
      const ends = (await kinds(site)).filter((kind) => kind === "run_completed" || kind === "run_cancelled");
      expect(ends, at).toHaveLength(1);
      await site.remove();
    }
  });
});
