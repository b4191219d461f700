import { describe, expect, it } from "vitest";
import { createLab } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";
import { checkpointToFlow } from "../../../manage.ts";
import { HoldfastError } from "../../errors.ts";
import { headsOf } from "../../journal/read.ts";
import { type LoggedStep, StepLog } from "../../journal/step-log.ts";
import { iteratedTask } from "./ended-steps.ts";

const looping = workflow("looping", async (ctx) => {
  const { sum } = await ctx.loop("agent", { sum: 0 }, async (state, turn) => {
    state.sum += await ctx.step("tool:add", () => turn.index, { effect: "once", input: { n: turn.index } });
    return turn.index === 2 ? turn.done() : undefined;
  });
  return ctx.step("report", () => `sum ${sum}`);
});

async function finished() {
  const lab = createLab();
  const engine = lab.engine([looping]);
  await lab.drive(engine.start(looping, undefined, { id: "r" }));
  await lab.drive(engine.result("r"));
  return { engine, lab };
}

describe("a checkpoint after a finished loop", () => {
  it("still tells the loop's steps, with their keys, arguments and times (S1-12, S1-37)", async () => {
    const { history, steps } = await (await finished()).engine.checkpoints.show("r");
    expect(Object.keys(steps)).toEqual(["report"]);
    expect(history.map(({ step, effect, status, attempts }) => [step, effect, status, attempts])).toEqual([
      ["agent[0]/tool:add", "once", "completed", 1],
      ["agent[1]/tool:add", "once", "completed", 1],
      ["agent[2]/tool:add", "once", "completed", 1],
      ["report", "repeatable", "completed", 1],
    ]);
    expect(history[0]).toMatchObject({ key: expect.any(String), args: expect.any(String) });
  });

  it("still has the loop's tasks with their results (S1-12, S1-37)", async () => {
    const tasks = await (await finished()).engine.checkpoints.tasks("r");
    expect(tasks.map(({ taskId, result }) => [taskId, result])).toEqual([
      ["agent[0]/tool:add", 0],
      ["agent[1]/tool:add", 1],
      ["agent[2]/tool:add", 2],
      ["report", "sum 3"],
    ]);
  });

  it("says of a task whose result was dropped that it was", async () => {
    const { engine, lab } = await finished();
    const log = new StepLog();
    for await (const { events } of headsOf(lab.store, "r", 1, (await engine.get("r"))?.seq ?? 0))
      for (const event of events) log.take(event);
    const [first] = [...log.steps()];
    const gone = { at: () => Promise.reject(new HoldfastError("HF-1023", { run: "r", seq: 3 })) };
    expect(await iteratedTask(gone, "r", first as LoggedStep)).toEqual([
      expect.objectContaining({ taskId: "agent[0]/tool:add", result: undefined, dropped: true }),
    ]);
  });

  it("has the names of Conductor's CheckpointData (S3-22)", async () => {
    const { engine } = await finished();
    const flow = checkpointToFlow(await engine.checkpoints.show("r"));
    expect(flow).toEqual({
      checkpoint_id: expect.stringMatching(/^r@\d+$/),
      workflow_name: "looping",
      workflow_inputs: undefined,
      current_agent: "report",
      in_progress: null,
      completed_agents: ["agent", "report"],
      agent_outputs: { agent: { sum: 3 }, report: "sum 3" },
      context_snapshot: { memory: {}, history: ["agent", "report"] },
      iteration: 2,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
  });
});
