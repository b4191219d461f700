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

  it("tell an unknown cost as null everywhere, and a free model's as nothing (S3-32)", async () => {
    const lab = createLab();
    const talks = workflow("talks", async (ctx, costs: readonly (number | null)[]) => {
      for (const cost of costs)
        await ctx.step("ask", () =>
          ctx.usage({ tokens: 10, model: "m", ...(cost === null ? {} : { costUsd: cost }) }),
        );
      await ctx.step("both", () => {
        for (const cost of costs) ctx.usage({ tokens: 1, ...(cost === null ? {} : { costUsd: cost }) });
      });
    });
    const engine = lab.engine([talks]);
    const costsOf = async (id: string, costs: readonly (number | null)[]) => {
      await lab.drive(engine.start(talks, costs, { id }));
      await lab.drive(engine.result(id));
      const { total, groups } = await engine.reports.costs({ run: id });
      const both = groups.find(({ name }) => name === "both");
      return [total, both].map((one) => [one?.costUsd, one?.unpriced, one?.wasted.costUsd]);
    };
    expect(await costsOf("unknown", [null, null])).toEqual([
      [null, 22, 0],
      [null, 2, 0],
    ]);
    expect(await costsOf("free", [0, 0])).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ]);
    expect(await costsOf("mixed", [0.5, null])).toEqual([
      [1, 11, 0],
      [0.5, 1, 0],
    ]);
  });

  it("say how many runs were interrupted, and what starting anew would have cost (S1-66)", async () => {
    const lab = createLab();
    let failures = 1;
    const agent = workflow("agent", async (ctx) => {
      for (const name of ["a", "b", "c"]) await ctx.step(name, () => ctx.usage({ tokens: 10, costUsd: 1 }));
      const last = (): void => {
        ctx.usage({ tokens: 10, costUsd: 1 });
        if (failures-- > 0) throw new Error("lost");
      };
      await ctx.step("d", last, { retry: false });
    });
    const engine = lab.engine([agent]);
    const run = async (id: string) => {
      await lab.drive(engine.start(agent, undefined, { id }));
      return lab.drive(engine.settled(id));
    };
    expect((await lab.drive(engine.reports.costs())).recovery).toEqual({
      interrupted: null,
      withoutRecovery: null,
    });
    expect(await run("fails")).toMatchObject({ status: "failed" });
    await lab.drive(engine.resume("fails"));
    await lab.drive(engine.settled("fails"));
    await run("fine");
    const { total, recovery } = await lab.drive(engine.reports.costs());
    // Nine calls were paid: four, four, and the lost one. Three more would have been.
    expect(total).toMatchObject({ costUsd: 9, runs: 2, interrupted: 1, saved: { costUsd: 3 } });
    expect(recovery).toEqual({ interrupted: 0.5, withoutRecovery: 12 / 9 });
  });
});
