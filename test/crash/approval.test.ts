import { describe, expect, it } from "vitest";
import { nameOf, strikesOf } from "../../lab/crash/matrix.ts";
import { resultProblems } from "../../lab/crash/site.ts";
import type { JournalEvent } from "../../src/core/journal/events.ts";
import { spread } from "../../src/testing/spread.ts";
import { sampled } from "../support/exhaustive.ts";
import { aroundWrites, eventsOf, inLanes } from "./journals.ts";
import { useSequenceLab } from "./sequence-lab.ts";

const sequence = useSequenceLab();
const { runs } = sequence;
const policy = "ask";
const LIMIT = sampled(8);

/** Problems with how people were asked about `once` steps, one sentence each. */
function approvalProblems(events: readonly JournalEvent[]): string[] {
  const problems: string[] = [];
  const asked = new Set<string>();
  const approved = new Set<string>();
  for (const event of events) {
    const { step } = event;
    if (event.kind === "gate_answered" && event.meta.choice === "approve") approved.add(step);
    if (event.kind !== "step_started") continue;
    const { type, effect, attempt, args } = event.meta;
    if (type === "gate") {
      if (asked.has(`${step} ${args}`)) problems.push(`${step} was asked twice at #${event.seq}.`);
      asked.add(`${step} ${args}`);
    } else if (effect === "once") {
      const gate = `approve:${step}${attempt > 1 ? `##${attempt}` : ""}`;
      if (!approved.has(gate)) problems.push(`Attempt ${attempt} of ${step} was not approved.`);
      if (attempt > 1 && !events.some((one) => isIntent(one, step, attempt - 1)))
        problems.push(`Attempt ${attempt} of ${step} came without the one before.`);
    }
  }
  return problems;
}

const isIntent = (event: JournalEvent, step: string, attempt: number): boolean =>
  event.kind === "step_started" && event.step === step && event.meta.attempt === attempt;

describe("a call that a person must approve (C18)", () => {
  it("happens at most once, and nobody is asked twice about one attempt, wherever its process is killed", async () => {
    const whole = await sequence.lab.site();
    const first = await whole.run({ runs, policy });
    expect(resultProblems("not killed", runs, first, sequence.expected)).toEqual([]);
    expect(approvalProblems(await eventsOf(whole, "sequence-1"))).toEqual([]);
    const [report] = first.reports;
    if (!report) throw new Error("The process did not report.");
    let kills = 0;
    const strikes = spread(strikesOf(report, ["write", "point"]), LIMIT);
    await inLanes(strikes, async (kill) => {
      const at = nameOf("approval", kill);
      const site = await sequence.lab.site();
      if ((await site.run({ runs, policy, kill })).signal === "SIGKILL") kills++;
      const last = await site.run({ runs, policy });
      expect([...resultProblems(at, runs, last, sequence.expected), ...(await site.check(at))]).toEqual([]);
      expect(approvalProblems(await eventsOf(site, "sequence-1")), at).toEqual([]);
      await site.remove();
    });
    expect(kills).toBeGreaterThanOrEqual(strikes.length * 0.8);
  });

  it("needs another approval when its arguments have changed before it began", async () => {
    let voided = 0;
    await inLanes(aroundWrites(3, 9), async (kill) => {
      const site = await sequence.lab.site();
      await site.run({ runs, policy, salt: "a", kill });
      const left = await eventsOf(site, "sequence-1");
      const isApproved = left.some(({ kind, step }) => kind === "gate_answered" && step === "approve:mail");
      if (isApproved && !left.some((event) => isIntent(event, "mail", 1))) {
        voided++;
        const at = `approved, then ${nameOf("approval", kill)}`;
        const last = await site.run({ runs, policy, salt: "b" });
        expect(last.reports[0]?.results["sequence-1"]?.status, at).toBe("completed");
        const events = await eventsOf(site, "sequence-1");
        expect(approvalProblems(events), at).toEqual([]);
        const gates = events.filter(({ kind, step }) => kind === "step_started" && step === "approve:mail");
        expect(gates, at).toHaveLength(2);
        expect(
          site.witness.calls().filter(({ deed }) => deed === "mail"),
          at,
        ).toHaveLength(1);
        expect(await site.check(at)).toEqual([]);
      }
      await site.remove();
    });
    expect(voided).toBeGreaterThan(0);
  });
});
