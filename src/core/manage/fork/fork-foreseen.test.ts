import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allRuns, answerUntil } from "../../../../test/support/answers.ts";
import { checkpointsOf, eventsOf } from "../../../../test/support/family.ts";
import { createLab, type Lab } from "../../../../test/support/lab.ts";
import { made, program } from "../../../../test/support/programs.ts";
import { type Engine, workflow } from "../../../index.ts";
import type { EffectPolicy, ForkPreview } from "../../../manage.ts";
import type { RunRow } from "../../types.ts";

/** Lets a fork go on to its end: everybody who is asked says `choice`, where that is one. */
async function toTheEnd(lab: Lab, engine: Engine, id: string, choice: string): Promise<RunRow> {
  const run = async () => (await lab.store.read(id)) as RunRow;
  const isDone = async () => ["completed", "failed"].includes((await run()).status);
  await answerUntil(lab, engine, isDone, ({ choices }) =>
    choices.includes(choice) ? choice : (choices.at(-1) as string),
  );
  return run();
}

/** The run and those below it. */
async function familyOf(lab: Lab, id: string): Promise<RunRow[]> {
  const rows = await allRuns(lab);
  const below = (runId: string): RunRow[] =>
    rows.filter(({ parent }) => parent?.runId === runId).flatMap((row) => [row, ...below(row.id)]);
  return [...rows.filter((row) => row.id === id), ...below(id)];
}

/** The call as the source knows it. */
const named = (rows: readonly RunRow[], call: string): string => {
  const [runId = "", step = ""] = call.split(/ (.*)/);
  return `${rows.find(({ id }) => id === runId)?.origin?.runId ?? runId} ${step}`;
};

const foreseen = ({ calls }: ForkPreview, ...becomes: readonly string[]): string[] =>
  calls.filter((call) => becomes.includes(call.becomes)).map(({ runId, step }) => `${runId} ${step}`);

describe("the preview of a fork of a fork", () => {
  it("says nothing of a call that something simulated has answered before the checkpoint", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("a", () => 1);
      await ctx.step("pay", () => 1, { effect: "once" });
      await ctx.step("b", () => 1);
      await ctx.step("thank", () => 1, { effect: "keyed" });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    const [first] = await checkpointsOf(lab.store, "r");
    await lab.drive(engine.fork(`r@${first}`, { id: "f", effects: "simulate" }));
    await lab.drive(engine.result("f"));
    const events = await eventsOf(lab.store, "f");
    const after = (step: string) =>
      events.find((event) => event.kind === "step_completed" && event.step === step)?.seq;
    const steps = async (seq: number | undefined) =>
      (await lab.drive(engine.previewFork(`f@${seq}`, { effects: "allow" }))).calls.map(({ step }) => step);
    expect(await steps(after("b"))).toEqual(["thank"]);
    expect(await steps(after("a"))).toEqual(["pay", "thank"]);
  });
});

describe("whatever the program, wherever it is forked and whatever becomes of effects", () => {
  it("a fork makes the calls that its preview showed, asks about those it said, and makes no other one again", async () => {
    const seen = { "called again": 0, asked: 0, reused: 0, simulated: 0 };
    const policies = fc.constantFrom<EffectPolicy>("reuse", "block", "simulate", "allow");
    await fc.assert(
      fc.asyncProperty(
        program(2),
        fc.nat(999),
        policies,
        fc.constantFrom("call", "reuse", "done"),
        fc.option(fc.integer({ min: 1, max: 120 }), { nil: undefined }),
        async (nodes, share, effects, choice, cutMs) => {
          const lab = createLab();
          const { flow, flows, effects: effectCalls } = made(lab, nodes);
          const first = lab.engine(flows);
          await lab.drive(first.start(flow, undefined, { id: "r" }));
          if (cutMs === undefined) await lab.drive(first.result("r"));
          else await lab.clock.advance(cutMs);
          await lab.crash(first);
          // Its calls that were under way have left what they were.
          await lab.clock.advance(100);
          const desk = lab.engine(flows, { execute: false });
          const positions = await checkpointsOf(lab.store, "r");
          const seq = positions[Math.floor((share / 1_000) * positions.length)];
          if (seq === undefined) return;
          const preview = await lab.drive(desk.previewFork(`r@${seq}`, { effects }));
          const sources = new Set((await familyOf(lab, "r")).map(({ id }) => id));
          const past = new Set(effectCalls);
          await lab.drive(desk.fork(`r@${seq}`, { id: "f", effects }));
          // Only the fork goes on: its source stays as it was when it was looked at.
          for (const id of sources) await lab.drive(desk.cancel(id).catch(() => undefined));
          const called = effectCalls.length;
          const engine = lab.engine(flows);
          await lab.drive(engine.recover());
          const end = await toTheEnd(lab, engine, "f", choice);
          const rows = await familyOf(lab, "f");
          const again = new Set(
            effectCalls
              .slice(called)
              .map((call) => named(rows, call))
              .filter((call) => past.has(call)),
          );
          const asked = new Set<string>();
          for (const { id, origin } of rows)
            for (const { kind, step } of await eventsOf(lab.store, id))
              if (kind === "gate_answered" && step.endsWith("#fork"))
                asked.add(`${origin?.runId ?? id} ${step.replace(/approve:(.*)#fork$/, "$1")}`);
          const may = [...foreseen(preview, "called again"), ...foreseen(preview, "asked")];
          for (const call of again) expect(may, `${effects} ${call}`).toContain(call);
          for (const call of foreseen(preview, "reused", "simulated")) expect([...again]).not.toContain(call);
          // Nothing is said of a call that does not come, where the fork goes the same way to its end.
          if (effects === "allow" && cutMs === undefined && end.status === "completed")
            expect([...again].sort()).toEqual(foreseen(preview, "called again").sort());
          const before = [...asked].filter((call) => past.has(call));
          for (const call of before) expect(foreseen(preview, "asked"), call).toContain(call);
          if (cutMs === undefined && end.status === "completed" && effects !== "simulate")
            expect(before.sort()).toEqual(foreseen(preview, "asked").sort());
          for (const { becomes } of preview.calls) seen[becomes]++;
          await lab.crash(engine);
        },
      ),
      { numRuns: 100, seed: 5 },
    );
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(10);
  }, 240_000);
});
