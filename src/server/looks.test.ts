import { describe, expect, it } from "vitest";
import { createApiStage } from "../../test/support/api.ts";
import { workflow } from "../index.ts";

const HOUR = 3_600_000;
let fails = 0;
const shaky = workflow("shaky", async (ctx) => {
  await ctx.each("item", [1, 2], (item) => item);
  return ctx.step(
    "call",
    () => {
      if (fails-- > 0) throw new Error("busy");
      return "done";
    },
    { retry: { attempts: 3 } },
  );
});
const ask = workflow("ask", (ctx) => ctx.gate("ok", { choices: ["yes"] }));

describe("looks over many runs", () => {
  it("counts calls and failures of each step, the worst first (S3-32)", async () => {
    fails = 2;
    const { client, lab, engine } = createApiStage([shaky]);
    await client.startRun({ workflow: "shaky", id: "a" });
    await lab.drive(engine.result("a"));
    const { steps, runs, more } = await client.reportSteps({});
    expect([runs, more]).toEqual([1, false]);
    expect(steps[0]).toMatchObject({
      step: "call",
      steps: 1,
      attempts: 3,
      failedAttempts: 2,
      attemptsP95: 3,
    });
    expect(steps[1]).toMatchObject({ workflow: "shaky", steps: 2, attempts: 2, failedAttempts: 0 });
  });

  it("tells who did what to which run and why, by actor and act (S1-56)", async () => {
    const { client, lab, engine, as } = createApiStage([ask]);
    for (const id of ["a", "b"]) {
      await client.startRun({ workflow: "ask", id });
      await lab.drive(engine.settled(id));
    }
    await as("ben", "runs:act").pauseRun({ run: "a", reason: "a look at it" });
    const all = await client.listActs({});
    expect(all.acts[0]).toMatchObject({
      run: "a",
      actor: "ben",
      kind: "pause_requested",
      reason: "a look at it",
    });
    expect(all.actors["ben"]).toBe(1);
    const { acts } = await client.listActs({ actor: "ada", kind: "run_created" });
    expect(acts.map(({ run }) => run).toSorted()).toEqual(["a", "b"]);
    expect(await client.listActs({ runs: 1 })).toMatchObject({ runs: 1, more: true });
  });

  it("shows the ticks of a schedule before it exists, and counts a backfill before it starts (S1-31)", async () => {
    const { client, lab } = createApiStage([ask]);
    const now = lab.clock.now();
    const options = { everyMs: HOUR };
    expect(await client.previewSchedule({ options, count: 2 })).toEqual({
      next: [now + HOUR, now + 2 * HOUR],
    });
    await expect(client.previewSchedule({ options: { cron: "61 * * * *" } })).rejects.toMatchObject({
      status: 422,
    });
    expect((await client.listSchedules()).schedules).toEqual([]);
    await client.createSchedule({ name: "hourly", workflow: "ask", options: { ...options, startAt: now } });
    const range = { name: "hourly", from: now, to: now + 3 * HOUR };
    expect((await client.backfillSchedule({ ...range, dryRun: true })).started).toHaveLength(4);
    expect((await client.listRuns()).runs).toEqual([]);
    expect((await client.backfillSchedule(range)).started).toHaveLength(4);
    expect((await client.backfillSchedule({ ...range, dryRun: true })).existing).toHaveLength(4);
  });

  it("counts the runs of a queue, also by key, and lists pinned runs", async () => {
    const { client } = createApiStage([ask]);
    await client.setQueue({ name: "q", concurrency: 1 });
    await client.pauseQueue({ name: "q" });
    for (const [id, key] of [
      ["a", "x"],
      ["b", "x"],
      ["c", "y"],
    ] as const)
      await client.startRun({ workflow: "ask", id, queue: "q", key });
    expect((await client.listQueues()).queues).toMatchObject([{ name: "q", running: 0, waiting: 3 }]);
    expect(await client.getQueue({ name: "q" })).toMatchObject({
      keys: [
        { key: "x", running: 0, waiting: 2 },
        { key: "y", running: 0, waiting: 1 },
      ],
      moreKeys: false,
    });
    await client.pinRun({ run: "b", reason: "evidence" });
    expect((await client.listRuns({ pinned: true })).runs.map(({ id }) => id)).toEqual(["b"]);
  });
});
