import { describe, expect, it } from "vitest";
import { createLab } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";

const one = workflow("one", async (ctx) => ctx.step("only", () => 1));

describe("reports of costs", () => {
  it("stop at their limit, count the newest runs, and say that there are more (S1-31)", async () => {
    const lab = createLab();
    const engine = lab.engine([one]);
    const times: number[] = [];
    for (let n = 0; n < 3; n++) {
      await lab.clock.advance(10);
      const { id } = await lab.drive(engine.start(one, undefined));
      times.push((await lab.store.read(id))?.createdAt ?? 0);
      await lab.drive(engine.result(id));
    }
    const runsOf = async (query: { limit?: number; since?: number }) => {
      const { total, more } = await engine.reports.costs(query);
      return [total.runs, more];
    };
    expect(await runsOf({})).toEqual([3, false]);
    expect(await runsOf({ limit: 3 })).toEqual([3, false]);
    expect(await runsOf({ limit: 2 })).toEqual([2, true]);
    expect(await runsOf({ since: times[1] ?? 0 })).toEqual([2, false]);
    expect(await runsOf({ since: times[1] ?? 0, limit: 1 })).toEqual([1, true]);
  });
});
