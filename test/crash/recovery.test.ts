import { describe, expect, it } from "vitest";
import { resultProblems } from "../../src/testing/crash/site.ts";
import { useSequenceLab } from "./sequence-lab.ts";

const sequence = useSequenceLab();
const { runs } = sequence;

describe("recovery", () => {
  it("that is killed twenty times leaves the run waiting for review, and it can be resumed", async () => {
    const site = await sequence.lab.site();
    const settings = { runs, claimMs: 100, maxRecoveries: 3 };
    expect((await site.run({ ...settings, kill: { point: "C05:before-call", nth: 2 } })).signal).toBe(
      "SIGKILL",
    );
    for (let time = 0; time < 20; time++) {
      const point = time % 2 === 0 ? "C21:recovering" : "C02:claimed";
      expect((await site.run({ ...settings, kill: { point, nth: 1 } })).signal).toBe("SIGKILL");
    }
    const parked = await site.run({ ...settings, until: "settled" });
    expect(parked.reports[0]?.results["sequence-1"]).toMatchObject({
      status: "waiting",
      waiting: ["review"],
    });
    expect(await site.check("killed twenty times")).toEqual([]);
    const last = await site.run({ ...settings, act: { kind: "resume" } });
    expect([
      ...resultProblems("resumed", runs, last, sequence.expected),
      ...(await site.check("resumed")),
    ]).toEqual([]);
  });
});

describe("a worker told to stop", () => {
  it("lets the call under way finish and gives the run back at once", async () => {
    const site = await sequence.lab.site();
    await site.witness.hold({ step: "mail" });
    const worker = site.start({ runs, claimMs: 60_000 });
    await site.witness.waitFor(({ step }) => step === "mail");
    worker.signal("SIGTERM");
    await site.witness.release();
    expect((await worker.ended).code).toBe(0);
    const last = await site.run({ runs }, { patienceMs: 10_000 });
    expect(last.reports[0]?.recoveries).toBe(0);
    expect([
      ...resultProblems("drained", runs, last, sequence.expected),
      ...(await site.check("drained")),
    ]).toEqual([]);
    expect(site.witness.calls().filter(({ step }) => step === "mail")).toHaveLength(1);
  });

  it("may be killed while it drains", async () => {
    for (const kill of [{ point: "C22:draining", nth: 1 } as const, null]) {
      const at = kill ? "killed as draining began" : "killed while a call was drained";
      const site = await sequence.lab.site();
      await site.witness.hold({ step: "mail" });
      const worker = site.start({ runs, kill });
      await site.witness.waitFor(({ step }) => step === "mail");
      worker.signal("SIGTERM");
      if (!kill) worker.signal("SIGKILL");
      expect((await worker.ended).signal).toBe("SIGKILL");
      await site.witness.release();
      const last = await site.run({ runs });
      expect([...resultProblems(at, runs, last, sequence.expected), ...(await site.check(at))]).toEqual([]);
    }
  });
});
