import { describe, expect, it } from "vitest";
import { createLab } from "../../../../test/support/lab.ts";
import { rowOf, run } from "../../../../test/support/retention.ts";
import { type Context, workflow } from "../../../index.ts";

const DAY = 86_400_000;

/** A run below fails at once; the one above fails with it ten days later. */
async function familyThatFailed() {
  const lab = createLab();
  let broken = true;
  const inner = workflow("inner", (ctx, text: string) =>
    ctx.step("work", () => (broken ? Promise.reject(new Error("no")) : text), { retry: false }),
  );
  const outer = workflow("outer", async (ctx: Context, text: string) => {
    const got = await ctx.child("below", inner, text).catch((error: Error) => error);
    await ctx.sleep("long", 10 * DAY);
    if (got instanceof Error) throw got;
    return got;
  });
  const engine = lab.engine([outer, inner], { sweepMs: 600_000, retention: "forever" });
  await run(lab, engine, outer, "top", "text");
  await lab.clock.advance(10 * DAY);
  expect(await lab.drive(engine.settled("top"))).toMatchObject({ status: "failed" });
  const [child] = (await lab.store.list({ parent: "top", limit: 1 })).runs;
  return { lab, engine, child: child?.id ?? "", mend: () => (broken = false) };
}

describe("retention in a family of runs", () => {
  it("keeps a failed run as long as the one above it can be resumed, which resumes it too", async () => {
    const { lab, engine, child, mend } = await familyThatFailed();
    lab.clock.jump(25 * DAY);
    const report = await lab.drive(engine.retention.prune("default"));
    expect(report).toMatchObject({ runs: [], skipped: [{ runId: child, why: "in use" }] });
    mend();
    await lab.drive(engine.resume("top"));
    expect(await lab.drive(engine.result("top"))).toBe("text");
    expect(await rowOf(lab.store, child)).toMatchObject({ status: "completed" });
  });

  it("drops both in one go when the time of both has come", async () => {
    const { lab, engine, child } = await familyThatFailed();
    lab.clock.jump(30 * DAY);
    const preview = await lab.drive(engine.retention.preview("default"));
    expect(preview.runs.map(({ runId }) => runId).sort()).toEqual([child, "top"].sort());
    expect(await lab.drive(engine.retention.prune("default"))).toEqual(preview);
    expect(await lab.drive(engine.retention.prune("default"))).toMatchObject({ runs: [], skipped: [] });
  });

  it("drops a failed run whose parent was cancelled since, or is gone", async () => {
    const { lab, engine, child } = await familyThatFailed();
    lab.clock.jump(29 * DAY);
    await lab.drive(engine.cancel("top"));
    await lab.clock.advance(2 * DAY);
    const { runs } = await lab.drive(engine.retention.prune({ failedMaxAge: "30d" }, { workflow: "inner" }));
    expect(await rowOf(lab.store, child)).toMatchObject({ status: "cancelled" });
    expect(runs).toEqual([]);
    expect((await lab.drive(engine.retention.prune({ maxAge: 0 }))).runs).toHaveLength(2);
  });

  it("gives a parent the result of a run below that has lost its values since", async () => {
    const lab = createLab();
    const inner = workflow("inner", (ctx, text: string) => ctx.step("work", () => text.repeat(9_000)));
    const outer = workflow("outer", async (ctx) => {
      const got = await ctx.child("below", inner, "x");
      await ctx.gate("ok", { choices: ["yes"] });
      return got.length;
    });
    const engine = lab.engine([outer, inner]);
    await run(lab, engine, outer, "top");
    const report = await lab.drive(engine.retention.prune({ maxAge: 0 }));
    expect(report.runs).toMatchObject([{ workflow: "inner", pruned: true }]);
    await lab.drive(engine.answer("top", "ok", { choice: "yes" }));
    const after = await lab.afterCrash(engine, [outer, inner], "top");
    expect(await lab.drive(after.engine.result("top"))).toBe(9_000);
  });
});
