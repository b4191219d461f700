import { describe, expect, it } from "vitest";
import { createLab } from "../../../../test/support/lab.ts";
import { codeOf, journal, rowOf, run } from "../../../../test/support/retention.ts";
import { type RetentionPolicy, type RunStatus, workflow } from "../../../index.ts";

const DAY = 86_400_000;
const greet = workflow("greet", (ctx, name: string) => ctx.step("say", () => `Hello ${name}`));
const waits = workflow("waits", async (ctx) => {
  await ctx.gate("ok", { choices: ["yes"] });
});
const fails = workflow("fails", (ctx) =>
  ctx.step("break", () => Promise.reject(new Error("no")), { retry: false }),
);

/** A run of each way to end, all at the same time. */
async function ended() {
  const lab = createLab();
  const engine = lab.engine([greet, waits, fails]);
  await run(lab, engine, greet, "completed", "");
  await run(lab, engine, fails, "failed");
  await run(lab, engine, waits, "cancelled");
  await lab.drive(engine.cancel("cancelled"));
  const pruned = async (policy: RetentionPolicy) =>
    (await lab.drive(engine.retention.preview(policy))).runs.map(({ runId }) => runId).sort();
  return { lab, engine, pruned };
}

describe("the age of a run", () => {
  it("is judged by one rule for what has failed, and by another for what has ended for good", async () => {
    const { lab, pruned } = await ended();
    lab.clock.jump(10 * DAY);
    expect(await pruned({ maxAge: "9d" })).toEqual(["cancelled", "completed"]);
    expect(await pruned({ failedMaxAge: "9d" })).toEqual(["failed"]);
    expect(await pruned({ maxAge: "11d", failedMaxAge: "9d" })).toEqual(["failed"]);
    expect(await pruned({ maxAge: "9d", failedMaxAge: "11d" })).toEqual(["cancelled", "completed"]);
    expect(await pruned("default")).toEqual(["cancelled", "completed"]);
    expect(await pruned("forever")).toEqual([]);
    expect(await pruned({})).toEqual([]);
  });

  it("is none while the clock stands before its end, and grows again when the clock is right", async () => {
    const { lab, engine, pruned } = await ended();
    lab.clock.jump(-30 * DAY);
    expect(await pruned({ maxAge: 1, failedMaxAge: 1 })).toEqual([]);
    expect(await pruned("default")).toEqual([]);
    await run(lab, engine, greet, "early", "");
    lab.clock.jump(30 * DAY);
    expect(await pruned("default")).toEqual(["early"]);
    lab.clock.jump(7 * DAY);
    expect(await pruned("default")).toEqual(["cancelled", "completed", "early"]);
  });

  it("counts for a run of a year from the moment at which it ended", async () => {
    const lab = createLab();
    const engine = lab.engine([waits]);
    await run(lab, engine, waits, "long");
    lab.clock.jump(365 * DAY);
    await lab.drive(engine.answer("long", "ok", { choice: "yes" }));
    await lab.drive(engine.result("long"));
    lab.clock.jump(7 * DAY - 60_000);
    expect((await lab.drive(engine.retention.prune("default"))).runs).toEqual([]);
    lab.clock.jump(60_000);
    expect((await lab.drive(engine.retention.prune("default"))).runs).toHaveLength(1);
  });
});

describe("keepSuccessful", () => {
  it("keeps the same runs every time, also of those that ended in the same moment", async () => {
    const lab = createLab();
    const flow = workflow("flow", async () => 1);
    const engine = lab.engine([flow]);
    const ids = ["b", "d", "a", "c"];
    await lab.drive(Promise.all(ids.map((id) => engine.start(flow, undefined, { id }))));
    await lab.drive(Promise.all(ids.map((id) => engine.settled(id))));
    const ends = await Promise.all(ids.map(async (id) => (await rowOf(lab.store, id)).finishedAt));
    expect(new Set(ends).size).toBe(1);
    const policy: RetentionPolicy = { maxAge: 0, keepSuccessful: 2 };
    const preview = await lab.drive(engine.retention.preview(policy));
    expect(preview.skipped.map(({ runId }) => runId).sort()).toEqual(["c", "d"]);
    for (const limit of [1, 1, 5]) await lab.drive(engine.retention.prune(policy, { limit }));
    const left = (await lab.store.list({ limit: 10, pruned: false })).runs.map(({ id }) => id);
    expect(left).toEqual(["d", "c"]);
  });

  it("counts neither failed nor cancelled runs", async () => {
    const { lab, engine } = await ended();
    const kept: readonly RunStatus[] = ["completed"];
    const policy: RetentionPolicy = { maxAge: 0, failedMaxAge: 0, keepSuccessful: 5 };
    await lab.drive(engine.retention.prune(policy));
    expect((await lab.store.list({ limit: 10, pruned: false })).runs.map(({ status }) => status)).toEqual(
      kept,
    );
  });
});

const REFUSED = expect.objectContaining({ code: "HF-1003" }) as Error;

describe("a policy that is not valid", () => {
  it("is refused by prune, preview and the engine, and nothing is dropped", async () => {
    const { lab, engine } = await ended();
    const before = await Promise.all(
      ["completed", "failed", "cancelled"].map((id) => journal(lab.store, id)),
    );
    const bad: unknown[] = [
      { maxAge: "7 days" },
      { maxAge: "1mo" },
      { maxAge: -1 },
      { maxAge: Number.NaN },
      { maxAge: 0, keepLats: 3 },
      { maxAge: 0, max_age: 3 },
      { maxAge: 0, pin: ["completed"] },
      { preset: "seed1" },
      "sed0",
      "",
      [],
      ["seed0"],
      null,
      { maxAge: 0, archiveTimeout: "1h", archive: "s3" },
      { maxAge: 0, archiveTimeout: 0 },
      { maxAge: 0, workflows: [] },
      { maxAge: 0, workflows: { greet: { maxage: 1 } } },
      { maxAge: 0, workflows: { greet: "sed0" } },
    ];
    for (const policy of bad as RetentionPolicy[]) {
      const shown = JSON.stringify(policy);
      expect(await codeOf(lab.drive(engine.retention.prune(policy))), shown).toBe("HF-1003");
      expect(await codeOf(lab.drive(engine.retention.preview(policy))), shown).toBe("HF-1003");
      if (policy !== null) expect(() => lab.engine([greet], { retention: policy }), shown).toThrow(REFUSED);
    }
    const after = await Promise.all(["completed", "failed", "cancelled"].map((id) => journal(lab.store, id)));
    expect(after).toEqual(before);
  });
});
