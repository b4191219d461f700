import { describe, expect, it } from "vitest";
import { createApiStage } from "../../../../test/support/api.ts";
import { createLab, hangs } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";
import { Histogram } from "../../store/histogram.ts";
import { WriteClock } from "../../store/write-times.ts";
import { Figures } from "./figures.ts";
import type { SloFigure, SloReport } from "./slo.ts";
import type { SloName } from "./targets.ts";

const work = workflow("work", async (ctx, kind: string) => {
  await ctx.step("one", () => (kind === "broken" ? Promise.reject(new Error("no")) : 1), { retry: false });
  await ctx.loop("turns", { n: 0 }, (state, turn) => {
    state.n++;
    return state.n < 3 ? undefined : turn.done();
  });
  ctx.usage({ tokens: 10, costUsd: 0.5, model: "m" });
  if (kind === "slow") await ctx.step("two", hangs);
});

const figure = ({ objectives }: SloReport, name: SloName): SloFigure =>
  objectives.find((one) => one.name === name) as SloFigure;

describe("a histogram", () => {
  it("tells percentiles to a tenth, also after those of two processes were added up", () => {
    const [one, other] = [new Histogram(), new Histogram()];
    for (let ms = 1; ms <= 1_000; ms++) (ms % 2 === 0 ? one : other).add(ms);
    one.merge(other.buckets);
    expect(one.count).toBe(1_000);
    for (const share of [0.5, 0.95, 0.99]) {
      const found = one.percentile(share) as number;
      expect(Math.abs(found - share * 1_000) / (share * 1_000)).toBeLessThan(0.1);
    }
    expect(one.shareAbove(500)).toBeCloseTo(0.5, 1);
    expect(new Histogram().percentile(0.95)).toBeNull();
  });
});

describe("service levels", () => {
  it("measures writes over an hour and over all processes (S1-57)", async () => {
    const { store, clock } = createLab();
    const clocks = [new WriteClock(), new WriteClock()];
    let versions = 0;
    const documents = () => store.documents as NonNullable<typeof store.documents>;
    const [one, other] = clocks.map((writes) => new Figures(documents, () => `v${versions++}`, writes));
    for (let n = 0; n < 90; n++) clocks[0]?.add(4);
    for (let n = 0; n < 10; n++) clocks[1]?.add(80);
    clocks[1]?.failed(["r1"]);
    await Promise.all([one?.flush(clock.now()), other?.flush(clock.now())]);
    const found = await one?.writes(clock.now() - 3_600_000);
    expect(found?.histogram.count).toBe(100);
    expect(found?.histogram.percentile(0.95)).toBeGreaterThan(50);
    expect(found).toMatchObject({ failures: 1, failedRuns: { r1: 1 } });
    await clock.advance(3 * 3_600_000);
    expect((await one?.writes(clock.now() - 3_600_000))?.histogram.count).toBe(0);
    await one?.flush(clock.now());
    expect(await documents().list("slo-writes", { limit: 10 })).toEqual([]);
  });

  it("measures completion, iterations and cost per run over a day (S1-59, S1-61)", async () => {
    const lab = createLab();
    const engine = lab.engine([work]);
    expect((await engine.slo.report()).objectives.map(({ state }) => state)).toEqual([
      ...Array(4).fill("unknown"),
      ...Array(3).fill("watched"),
    ]);
    for (const [id, kind] of Object.entries({ a: "fine", b: "fine", c: "fine", d: "broken" })) {
      await lab.drive(engine.start(work, kind, { id }));
      await lab.drive(engine.settled(id));
    }
    const report = await engine.slo.report();
    expect(figure(report, "completion")).toMatchObject({
      value: 0.75,
      goal: 0.98,
      alarm: 0.95,
      severity: "P2",
      state: "alarm",
      measured: 4,
    });
    expect(figure(report, "completion").budgetLeft).toBeCloseTo(-11.5);
    expect(figure(report, "iterations")).toMatchObject({ value: 3, state: "watched" });
    expect(figure(report, "cost")).toMatchObject({ value: 0.5, measured: 3, state: "watched" });
    expect(report.ok).toBe(false);
    await lab.drive(engine.close());
    await lab.clock.advance(2 * 86_400_000);
    expect(figure(await engine.slo.report(), "completion").value).toBeNull();
  });

  it("measures each recovery from the end of the lost worker's claim, and one that nobody begins (S1-58)", async () => {
    const lab = createLab();
    const engine = lab.engine([work]);
    await lab.drive(engine.start(work, "slow", { id: "s" }));
    // A long call: what counts is not how long ago the run was written last.
    await lab.clock.advance(400_000);
    await lab.crash(engine);
    await lab.clock.advance(310_000);
    const next = lab.engine([work]);
    const lost = figure(await next.slo.report(), "recovery");
    expect(lost).toMatchObject({ state: "alarm", severity: "P1", goal: 60_000, alarm: 300_000 });
    expect(lost.value).toBeGreaterThan(300_000);
    await lab.drive(next.recover());
    await lab.clock.advance(1_000);
    const report = await next.slo.report();
    expect(report.runs).toMatchObject({ recoveries: 1, unrecovered: 0 });
    expect(figure(report, "recovery").value).toBeGreaterThan(300_000);
    expect(figure(report, "recovery").value).toBeLessThan(400_000);
  });

  it("tells the store's availability from probes, and how much of the month's budget is left (S1-60)", async () => {
    const lab = createLab();
    const { slo } = lab.engine([work]);
    // A day of probes every 15 s by two processes. Both miss the store for two minutes.
    const probe = (times: number, isAnswered: boolean) => {
      for (let n = 0; n < times; n++) {
        for (let process = 0; process < 2; process++) slo.probed(isAnswered);
        lab.clock.jump(15_000);
      }
    };
    probe(4_000, true);
    probe(8, false);
    probe(1_700, true);
    await slo.flush();
    const found = figure(await slo.report(), "availability");
    expect(found).toMatchObject({ goal: 0.9999, state: "met", measured: 2 * 5_708 });
    // The budget of 30 days is 259 s.
    expect(found.budgetLeft).toBeCloseTo(1 - 120 / 259.2, 2);
    probe(12, false);
    await slo.flush();
    expect(figure(await slo.report(), "availability")).toMatchObject({ state: "alarm", severity: "P1" });
  });

  it("lets targets be edited, and refuses an alarm on the better side of its goal (S1-57)", async () => {
    const { client, as } = createApiStage([work]);
    const set = await client.setSloTarget({ slo: "write", goal: 20, alarm: 80, reason: "slower disks" });
    expect(set).toMatchObject({ goal: 20, alarm: 80, severity: "P2", set: { by: "ada" } });
    const { objectives } = await as("vic", "runs:read").getSlo();
    expect(objectives.find(({ name }) => name === "write")).toMatchObject({ goal: 20, alarm: 80 });
    await expect(client.setSloTarget({ slo: "completion", alarm: 0.99, reason: "x" })).rejects.toMatchObject({
      status: 400,
    });
    await expect(client.setSloTarget({ slo: "luck", goal: 1, reason: "x" })).rejects.toMatchObject({
      status: 404,
    });
    expect(await client.setSloTarget({ slo: "write", reset: true, reason: "x" })).toMatchObject({
      goal: 15,
      set: null,
    });
  });
});
