import { describe, expect, it } from "vitest";
import { nameOf } from "../../lab/crash/matrix.ts";
import { resultProblems, type Site } from "../../lab/crash/site.ts";
import { aroundWrites, eventsOf, inLanes, journalOf } from "./journals.ts";
import { useSequenceLab } from "./sequence-lab.ts";

const sequence = useSequenceLab();
const { runs } = sequence;
const FORK = "sequence-1-fork";
const act = { kind: "fork", source: "sequence-1", step: "charge" } as const;
const both = [...runs, { id: FORK, scenario: "sequence" as const }];

/** Checks that the fork is complete or absent. */
async function checkWhole(site: Site, at: string): Promise<void> {
  const fork = await journalOf(site, FORK);
  if (fork) {
    const source = await eventsOf(site, "sequence-1");
    const events = fork.entries.flat();
    const opening = events.findIndex(({ kind }) => kind === "run_forked");
    expect(opening, at).toBeGreaterThan(0);
    expect(events.slice(0, opening).map(({ kind, step }) => [kind, step])).toEqual(
      source.slice(0, opening).map(({ kind, step }) => [kind, step]),
    );
    expect(fork.row.origin, at).toEqual({ runId: "sequence-1", seq: opening });
  }
  expect(await site.check(at, { healed: false })).toEqual([]);
}

const effects = (site: Site, runId: string): string[] =>
  site.witness
    .calls()
    .filter((call) => call.runId === runId && call.effect !== "repeatable")
    .map(({ deed }) => deed);

describe("a fork", () => {
  it("whose maker is killed at any write is there as a whole or not at all, and repeats nothing that was done", async () => {
    let made = 0;
    await inLanes(aroundWrites(1, 6), async (kill) => {
      const at = nameOf("fork", kill);
      const site = await sequence.lab.site();
      await site.run({ runs });
      await site.run({ runs, act, kill });
      if (await journalOf(site, FORK)) made++;
      await checkWhole(site, at);
      const last = await site.run({ runs, act });
      expect([...resultProblems(at, both, last, sequence.expected), ...(await site.check(at))]).toEqual([]);
      expect(effects(site, FORK), at).toEqual([]);
      const events = await eventsOf(site, FORK);
      expect(
        events.filter(({ kind }) => kind === "run_forked"),
        at,
      ).toHaveLength(1);
      await site.remove();
    });
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(12);
  });

  it("of a run that died in the middle of a call asks before it makes that call itself", async () => {
    await inLanes(aroundWrites(2, 6), async (kill) => {
      const at = nameOf("fork of a dead run", kill);
      const site = await sequence.lab.site();
      await site.run({ runs, kill: { point: "C05:before-call", nth: 3 } });
      await site.run({ runs, act, kill });
      await checkWhole(site, at);
      const last = await site.run({ runs, act });
      expect([...resultProblems(at, both, last, sequence.expected), ...(await site.check(at))]).toEqual([]);
      const own = effects(site, FORK);
      const asked = (await eventsOf(site, FORK)).filter(({ kind }) => kind === "gate_answered");
      expect(own.length, at).toBe(new Set(own).size);
      // Calls that its source hadn't begun need no question.
      const source = effects(site, "sequence-1");
      for (const deed of own) {
        const isAsked = asked.some(({ step }) => step === `approve:${deed}#fork`);
        expect(isAsked || source.includes(deed), `${at}: ${deed}`).toBe(true);
      }
      await site.remove();
    });
  });
});
