import { describe, expect, it } from "vitest";
import { createApiStage } from "../../test/support/api.ts";
import { hangs } from "../../test/support/lab.ts";
import { workflow } from "../index.ts";

const work = workflow("work", async (ctx, kind: string) => {
  await ctx.step("one", () => (kind === "broken" ? Promise.reject(new Error("no")) : 1), { retry: false });
  if (kind === "slow") await ctx.step("two", hangs);
});

describe("reliability through the API", () => {
  it("sets completion, recoveries and writes beside their goals (S1-34)", async () => {
    const { lab, engine, client, as } = createApiStage([work]);
    expect(await client.reportReliability()).toMatchObject({
      completion: { value: null, state: "unknown" },
      write: { value: null, goal: 15, alarm: 50, state: "unknown" },
    });
    for (const [id, kind] of [
      ["a", "fine"],
      ["b", "fine"],
      ["c", "fine"],
      ["d", "broken"],
    ] as const) {
      await lab.drive(engine.start(work, kind, { id }));
      await lab.drive(engine.settled(id));
    }
    const viewer = as("vic", "runs:read");
    expect(await viewer.reportReliability()).toMatchObject({
      completion: { value: 0.75, goal: 0.98, alarm: 0.95, state: "alarm" },
      recovery: { value: null, state: "unknown" },
      write: { value: 0, state: "met" },
      runs: { completed: 3, failed: 1 },
      recoveries: { count: 0, ms: null },
      store: { state: "ok" },
      looked: 4,
      more: false,
    });
    expect(await viewer.reportReliability({ runs: 2 })).toMatchObject({ looked: 2, more: true });
    expect((await client.getHealth()).writes?.count).toBeGreaterThan(3);
    await expect(client.reportReliability({ runs: 0 })).rejects.toMatchObject({ status: 400 });
  });

  it("counts a takeover from a lost worker", async () => {
    const { lab, engine, client } = createApiStage([work]);
    await lab.drive(engine.start(work, "slow", { id: "s" }));
    await lab.drive(engine.close({ drainMs: 0 }));
    const next = lab.engine([work]);
    await lab.clock.advance(60_000);
    await lab.drive(next.recover());
    await lab.clock.advance(60_000);
    const { recoveries, recovery } = await client.reportReliability();
    expect(recoveries.count).toBe(1);
    expect(recovery.value).toBeGreaterThan(0);
  });
});
