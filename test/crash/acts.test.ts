import { describe, expect, it } from "vitest";
import type { Strike } from "../../lab/crash/config.ts";
import { nameOf } from "../../lab/crash/matrix.ts";
import { resultProblems, type Site } from "../../lab/crash/site.ts";
import type { JournalEvent } from "../../src/core/journal/events.ts";
import { aroundWrites, eventsOf, inLanes, journalOf } from "./journals.ts";
import { useSequenceLab } from "./sequence-lab.ts";

const sequence = useSequenceLab();
const { runs } = sequence;

const kinds = async (site: Site): Promise<string[]> =>
  (await eventsOf(site, "sequence-1")).map(({ kind }) => kind);

describe("starting a run", () => {
  it("makes one run of twenty starts from four processes (S1-25)", async () => {
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

  it("holds although the process dies right after it was acknowledged (S1-01, S1-29)", async () => {
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
    const strikes: Strike[] = [{ point: "C16:resumed", nth: 1 }, ...aroundWrites(1, 4)];
    await inLanes(strikes, async (kill) => {
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
    });
  });
});

describe("resuming a run with context and an edit (C16)", () => {
  const pause = { kind: "pause", step: "charge" } as const;
  const act = {
    kind: "resume",
    id: "click-1",
    inject: { more: "context" },
    set: { memory: { remark: "an edit" } },
  } as const;

  /** The entries that hold what a resume brought along. */
  async function brought(site: Site): Promise<string[]> {
    const { entries = [] } = (await journalOf(site, "sequence-1")) ?? {};
    return entries
      .map((events) => events.map(({ kind }) => kind).join())
      .filter((one) => one.includes("run_resumed"));
  }

  it("is one write, and one resume however often it is clicked, wherever its process is killed", async () => {
    const strikes: Strike[] = [{ point: "C16:resumed", nth: 1 }, ...aroundWrites(1, 5)];
    const states = new Set<number>();
    await inLanes(strikes, async (kill) => {
      const at = nameOf("resume with changes", kill);
      const site = await sequence.lab.site();
      await site.run({ runs, act: pause, until: "settled" });
      await site.run({ runs, act, kill });
      const left = await brought(site);
      states.add(left.length);
      const before = await eventsOf(site, "sequence-1");
      expect(before.filter(isInjection), at).toHaveLength(left.length);
      const last = await site.run({ runs, act });
      expect([...resultProblems(at, runs, last, sequence.expected), ...(await site.check(at))]).toEqual([]);
      expect(await brought(site), at).toEqual(["memory_written,signal_received,run_resumed"]);
      const all = await eventsOf(site, "sequence-1");
      expect(all.filter(isInjection), at).toHaveLength(1);
      expect(
        all.filter(({ kind, step }) => kind === "memory_written" && step === ""),
        at,
      ).toHaveLength(1);
      await site.remove();
    });
    expect(states).toEqual(new Set([0, 1]));
  });
});

const isInjection = (event: JournalEvent): boolean =>
  event.kind === "signal_received" && event.meta.name === "inject";

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
    await inLanes(aroundWrites(5, 8), async (kill) => {
      const at = nameOf("cancel", kill);
      const site = await sequence.lab.site();
      await site.run({ runs, act, kill });
      const last = await site.run({ runs });
      expect(["completed", "cancelled"], at).toContain(last.reports[0]?.results["sequence-1"]?.status);
      expect(await site.check(at)).toEqual([]);
      const ends = (await kinds(site)).filter((kind) => kind === "run_completed" || kind === "run_cancelled");
      expect(ends, at).toHaveLength(1);
      await site.remove();
    });
  });
});
