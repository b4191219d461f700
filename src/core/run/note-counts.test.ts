import { expect, it } from "vitest";
import { createLab, hangs } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";
import { editedRecord, ScopeNode } from "../journal/records.ts";
import { countTogether } from "./note-counts.ts";

it("gives a step its own name beside the engine's notes of the same name, also after a crash (Y7)", async () => {
  const lab = createLab();
  let calls = 0;
  const flow = workflow("flow", async (ctx) => {
    ctx.plan(["plan", "decision", "now"]);
    await ctx.step("plan", () => ++calls);
    ctx.decide({ description: "go" });
    ctx.plan(["plan", "decision", "now"]);
    await ctx.step("decision", () => ++calls);
    ctx.usage({ tokens: 1 });
    ctx.now();
    await ctx.step("now", ({ attempt }) => (attempt === 1 ? hangs() : ++calls));
    ctx.now();
    await ctx.step("plan", () => ++calls);
  });
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.crash(engine);
  const next = lab.engine([flow]);
  await lab.drive(next.result("r"));
  expect(calls).toBe(4);
  const { steps, progress } = await next.checkpoints.show("r");
  expect(Object.keys(steps)).toEqual(["plan", "decision", "now", "plan#2"]);
  expect(progress).toMatchObject({ done: 3, total: 3 });
});

it("goes on with a run in which they were counted together", () => {
  const record = (): ReturnType<typeof editedRecord> => editedRecord({ seq: 1, at: 1 } as never);
  const before = new ScopeNode();
  before.notes.set("plan", { seq: 1 });
  before.records.set("plan#2", record());
  expect(countTogether(before, "plan")).toBe(true);
  const loop = new ScopeNode();
  loop.notes.set("plan", { seq: 1 });
  loop.child("plan#2[0]");
  expect(countTogether(loop, "plan")).toBe(true);
  const stepFirst = new ScopeNode();
  stepFirst.records.set("decision", record());
  stepFirst.notes.set("decision#2", { seq: 2 });
  expect(countTogether(stepFirst, "decision")).toBe(true);
  const now = new ScopeNode();
  now.notes.set("plan", { seq: 1 });
  now.records.set("plan", record());
  now.notes.set("plan#2", { seq: 2 });
  expect(countTogether(now, "plan")).toBe(false);
});
