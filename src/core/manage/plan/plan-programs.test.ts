import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allRuns, answerUntil } from "../../../../test/support/answers.ts";
import { eventsOf } from "../../../../test/support/family.ts";
import { useFolders } from "../../../../test/support/folders.ts";
import type { Lab } from "../../../../test/support/lab.ts";
import { labFor, tamed, wild } from "../../../../test/support/wild-programs.ts";
import type { Engine, Policy } from "../../../index.ts";
import type { ResumePlan } from "../../../manage.ts";
import type { JournalEvent } from "../../journal/events.ts";

const newFile = useFolders("plan");

const OUTCOMES: readonly string[] = [
  "child_finished",
  "gate_answered",
  "step_completed",
  "step_failed",
  "step_resolved",
];

const ENDS: Partial<Record<ResumePlan["view"]["end"], string>> = {
  completes: "run_completed",
  fails: "run_failed",
  "is cancelled": "run_cancelled",
};

async function toTheEnd(lab: Lab, engine: Engine): Promise<void> {
  await answerUntil(lab, engine, async () => {
    const run = await lab.store.read("r");
    return run?.status === "completed" || run?.status === "failed";
  });
}

/** Every plan of a family, by run. */
function plansOf(plan: ResumePlan, found = new Map<string, ResumePlan>()): Map<string, ResumePlan> {
  found.set(plan.runId, plan);
  for (const child of plan.children) plansOf(child, found);
  return found;
}

const isWithin = (step: string, outer: string): boolean => step.startsWith(`${outer}/`);

/** What the plan did not show of what then happened, in words. */
function unforeseen(plan: ResumePlan, later: readonly JournalEvent[]): string[] {
  const gates = plan.approvals.map(({ gate }) => gate);
  const refused = plan.approvals.filter(({ state }) => state === "refused");
  const shown = new Set([...plan.runs, ...plan.inDoubt, ...refused].map(({ step }) => step));
  const listed = new Set([...shown, ...plan.waits.map(({ step }) => step)]);
  const problems = plan.view.after
    .filter((step) => !listed.has(step))
    .map((step) => `after ${step}, not listed`);
  let isBeyond = false;
  for (const event of later) {
    const { kind, step } = event;
    if (OUTCOMES.includes(kind) && (plan.view.after.includes(step) || gates.includes(step))) isBeyond = true;
    if (isBeyond) return problems;
    const isInside = plan.view.after.some((one) => isWithin(step, one));
    if (kind === "step_started" && !isInside && !shown.has(step) && !gates.includes(step))
      problems.push(`${step} (${event.meta.effect})`);
  }
  const end = ENDS[plan.view.end];
  if (end !== undefined && !later.some(({ kind }) => kind === end)) problems.push(`no ${end}`);
  return problems;
}

/** Calls that the plan said come first, at once and without a question, and that did not. */
function unstarted({ runs, blocked }: ResumePlan, later: readonly JournalEvent[]): string[] {
  const started = new Set(later.filter(({ kind }) => kind === "step_started").map(({ step }) => step));
  const first = runs.filter(({ at, instead }) => at === undefined && instead === undefined);
  return blocked === null ? first.map(({ step }) => step).filter((step) => !started.has(step)) : [];
}

/** The steps that have a result, as far as the journal says. */
const doneIn = (events: readonly JournalEvent[]): JournalEvent[] =>
  events.filter(
    (event) =>
      event.kind === "step_completed" ||
      event.kind === "step_evidence" ||
      event.kind === "gate_answered" ||
      (event.kind === "step_resolved" && event.meta.action === "done") ||
      (event.kind === "child_finished" && event.meta.status === "completed"),
  );

function recorded(events: readonly JournalEvent[]): { tokens: number; steps: number } {
  const done = doneIn(events);
  const tokens = done.map((event) =>
    event.kind === "step_completed" || event.kind === "child_finished" ? (event.meta.usage?.tokens ?? 0) : 0,
  );
  return { tokens: tokens.reduce((a, b) => a + b, 0), steps: new Set(done.map(({ step }) => step)).size };
}

const POLICIES: Readonly<Record<string, Policy | undefined>> = {
  none: undefined,
  allows: { version: "1", decide: () => "allow" },
  asks: { version: "1", decide: ({ effect }) => (effect === "once" ? { ask: "once" } : "allow") },
};

const life = fc.record({
  nodes: wild(2),
  ms: fc.integer({ min: 1, max: 160 }),
  policy: fc.constantFrom("none", "none", "allows", "asks"),
  compensateOnFailure: fc.boolean(),
  /** What happens between the crash and the plan. */
  between: fc.constantFrom("nothing", "mail", "pause", "answers", "cancel"),
  restMs: fc.constantFrom(20_000, 20_000, 100_000),
});

describe("whatever the program and whenever it dies", () => {
  it("a resume does nothing that its plan did not show or say it cannot see, and calls nothing that it reuses", async () => {
    const seen = {
      open: 0,
      completes: 0,
      fails: 0,
      "is cancelled": 0,
      "does not move": 0,
      children: 0,
      approvals: 0,
      undone: 0,
    };
    await fc.assert(
      fc.asyncProperty(life, async ({ nodes, ms, compensateOnFailure, between, restMs, ...given }) => {
        const lab = await labFor(nodes, newFile);
        const policy = POLICIES[given.policy];
        const options = policy ? { policy } : {};
        const { flow, flows, calls } = tamed(lab, nodes, { compensateOnFailure });
        const first = lab.engine(flows, options);
        void first.start(flow, undefined, { id: "r" }).catch(() => undefined);
        await lab.clock.advance(ms);
        await lab.crash(first);
        const looking = lab.engine(flows, { execute: false, ...options });
        const before = await lab.store.read("r");
        if (!before || before.status === "completed") return;
        if (between === "mail") await lab.drive(looking.signal("r", "n0", "post"));
        if (between === "answers")
          for (const { gate, choices } of await looking.gates("r"))
            await lab.drive(
              looking.answer("r", gate, { choice: choices[1] as string }).catch(() => undefined),
            );
        await lab.clock.advance(restMs);
        if (between === "pause") await lab.drive(looking.pause("r").catch(() => undefined));
        if (between === "cancel") await lab.drive(looking.cancel("r", { compensate: true }));
        const rows = await allRuns(lab);
        const plan = await lab.drive(looking.plan("r"));
        expect(await allRuns(lab)).toEqual(rows);
        const plans = plansOf(plan);
        const known = new Map<string, JournalEvent[]>();
        for (const id of plans.keys()) known.set(id, await eventsOf(lab.store, id));
        for (const [id, one] of plans)
          expect({ ...one.reuse, ms: 0, costUsd: 0 }).toEqual({
            ...recorded(known.get(id) ?? []),
            ms: 0,
            costUsd: 0,
          });
        const called = calls.length;
        const engine = lab.engine(flows, options);
        await lab.drive(engine.resume("r").catch(() => undefined));
        await lab.drive(engine.recover());
        if (plan.blocked === null) await toTheEnd(lab, engine);
        else await lab.clock.advance(5_000);
        for (const [id, one] of plans) {
          const events = await eventsOf(lab.store, id);
          const later = events.slice(known.get(id)?.length);
          expect(unforeseen(one, later), `${id} ${JSON.stringify(one, null, 1)}`).toEqual([]);
          if (id === "r") expect(unstarted(one, later)).toEqual([]);
          const done = doneIn(known.get(id) ?? []).map(({ step }) => step);
          for (const { runId, step } of calls.slice(called))
            if (runId === id) expect(done).not.toContain(step);
          seen.approvals += one.approvals.length;
          seen.undone += one.runs.filter(({ step }) => step.startsWith("compensate/")).length;
        }
        seen[plan.view.end]++;
        seen.children += plans.size - 1;
        await lab.crash(engine);
      }),
      { numRuns: 150, seed: 7 },
    );
    // Each kind of ending and each kind of thing was met.
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(0);
  }, 240_000);
});
