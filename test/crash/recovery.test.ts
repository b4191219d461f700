import { describe, expect, it } from "vitest";
import { resultProblems, type Site } from "../../lab/crash/site.ts";
import { eventsOf, journalOf } from "./journals.ts";
import { useSequenceLab } from "./sequence-lab.ts";

const sequence = useSequenceLab();
const { runs } = sequence;

const counted = async (site: Site): Promise<readonly number[]> =>
  (await eventsOf(site, "sequence-1")).flatMap((event) =>
    event.kind === "run_claimed" ? [event.meta.recovery] : [],
  );

describe("recovery", () => {
  it("that is killed twenty times is given up at exactly its limit, which the journal counts, and can be resumed (S1-46)", async () => {
    const site = await sequence.lab.site();
    const settings = { runs, claimMs: 100, maxRecoveries: 20 };
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
    const each = Array.from({ length: 21 }, (_, index) => index);
    expect(await counted(site)).toEqual([...each, 20]);
    expect((await journalOf(site, "sequence-1"))?.row).toMatchObject({
      recoveries: 20,
      waiting: [{ detail: expect.stringContaining("HF-2108 Run sequence-1 was recovered 20 times") }],
    });
    expect(await site.check("killed twenty times")).toEqual([]);
    const last = await site.run({ ...settings, act: { kind: "resume" } });
    expect([
      ...resultProblems("resumed", runs, last, sequence.expected),
      ...(await site.check("resumed")),
    ]).toEqual([]);
  });

  it("is given up by whoever finds the limit reached, and no kill can come between the two", async () => {
    const site = await sequence.lab.site();
    const settings = { runs, claimMs: 100, maxRecoveries: 2 };
    await site.run({ ...settings, kill: { point: "C05:before-call", nth: 2 } });
    for (let time = 0; time < 2; time++)
      expect((await site.run({ ...settings, kill: { point: "C21:recovering", nth: 1 } })).signal).toBe(
        "SIGKILL",
      );
    for (const point of ["C02:claimed", "C21:recovering", "C03:before-intent"] as const) {
      const end = await site.run({ ...settings, until: "settled", kill: { point, nth: 1 } });
      expect([end.code, end.reports[0]?.results["sequence-1"]?.waiting]).toEqual([0, ["review"]]);
    }
    expect(await counted(site)).toEqual([0, 1, 2, 2]);
  });

  it("never gives up a run that gets on between the crashes", async () => {
    const site = await sequence.lab.site();
    const settings = { runs, claimMs: 100, maxRecoveries: 1 };
    let kills = 0;
    let last = await site.run({ ...settings, kill: { point: "C09:after-completion", nth: 1 } });
    while (last.signal === "SIGKILL") {
      kills++;
      last = await site.run({ ...settings, kill: { point: "C09:after-completion", nth: 1 } });
    }
    expect(kills).toBeGreaterThan(2);
    expect(Math.max(...(await counted(site)))).toBe(1);
    expect([
      ...resultProblems("got on", runs, last, sequence.expected),
      ...(await site.check("got on")),
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

  it("again and again, with a call that never ends in time, costs the run none of its recoveries", async () => {
    const site = await sequence.lab.site();
    const settings = { runs, claimMs: 100, maxRecoveries: 0 };
    for (let deploy = 0; deploy < 3; deploy++) {
      await site.witness.hold({ step: "load" });
      const worker = site.start(settings);
      await site.witness.waitFor(({ step, attempt }) => step === "load" && attempt === deploy + 1);
      worker.signal("SIGTERM");
      expect((await worker.ended).code).toBe(0);
      expect((await journalOf(site, "sequence-1"))?.row).toMatchObject({ status: "queued", recoveries: 0 });
    }
    await site.witness.release();
    const last = await site.run(settings);
    expect([
      ...resultProblems("deployed", runs, last, sequence.expected),
      ...(await site.check("deployed")),
    ]).toEqual([]);
    expect(new Set(await counted(site))).toEqual(new Set([0]));
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
