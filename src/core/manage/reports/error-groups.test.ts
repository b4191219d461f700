import { describe, expect, it } from "vitest";
import { createLab } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";

const HOUR = 3_600_000;
const failing = workflow("failing", async () => {
  throw new Error("HTTP 503");
});

describe("a group of errors", () => {
  it("says when its runs failed, in 24 parts of the time that was asked for", async () => {
    const lab = createLab();
    const engine = lab.engine([failing]);
    const fail = async (): Promise<void> => {
      const run = await lab.drive(engine.start(failing, undefined));
      await lab.drive(run.settled());
    };
    const since = lab.clock.now();
    await fail();
    await lab.clock.advance(10.5 * HOUR);
    await fail();
    await fail();
    await lab.clock.advance(13.5 * HOUR);
    const { groups, from, to } = await engine.reports.errors({ since });
    expect([from, Math.round((to - from) / HOUR)]).toEqual([since, 24]);
    const counts = groups[0]?.overTime ?? [];
    expect(counts.map((count, part) => [part, count]).filter(([, count]) => count)).toEqual([
      [0, 1],
      [10, 2],
    ]);
    // Without a beginning, the first failure is the beginning.
    const all = await engine.reports.errors();
    expect(all.groups[0]?.overTime[0]).toBe(1);
    expect((await engine.reports.errors({ workflow: "none" })).groups).toEqual([]);
  });
});
