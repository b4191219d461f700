import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { createApiStage } from "../../../test/support/api.ts";
import { createLab, hangs } from "../../../test/support/lab.ts";
import { parsePrometheus, valueOf } from "../../../test/support/prometheus.ts";
import { workflow } from "../../index.ts";
import { createMetrics } from "../index.ts";
import { COUNTED, READ } from "./specs.ts";

const work = workflow("work", async (ctx, kind: string) => {
  await ctx.loop("turns", { done: 0 }, async (state, turn) => {
    await ctx.step("model", () => ctx.usage({ tokens: 100, costUsd: 0.25, model: "openai/gpt-5" }));
    state.done = turn.index + 1;
    return turn.index < 2 ? undefined : turn.done();
  });
  if (kind === "asks") await ctx.gate("approve", { show: {}, choices: ["yes"] });
  if (kind === "fails") await ctx.step("no", () => Promise.reject(new Error("no")), { retry: false });
});

/** Runs that completed, failed and wait at a gate. */
async function stage() {
  const metrics = createMetrics({ cacheMs: 0 });
  const lab = createLab();
  const engine = lab.engine([work], { observe: metrics });
  for (const kind of ["fine", "fails", "asks"]) {
    await lab.drive(engine.start(work, kind, { id: kind }));
    await lab.drive(engine.settled(kind));
  }
  const scrape = () => lab.drive(metrics.prometheus({ engine, store: lab.store }));
  return { metrics, lab, engine, scrape };
}

describe("the metrics of an engine", () => {
  it("have no figure for the cost of a model without a price (S1-61)", async () => {
    const metrics = createMetrics({ cacheMs: 0 });
    const lab = createLab();
    const local = workflow("local", async (ctx) =>
      ctx.step("model", () => ctx.usage({ tokens: 100, model: "own/llama" })),
    );
    const engine = lab.engine([local], { observe: metrics });
    await lab.drive(engine.start(local, undefined, { id: "local" }));
    await lab.drive(engine.settled("local"));
    const found = parsePrometheus(await lab.drive(metrics.prometheus({ engine, store: lab.store })));
    const spent = { workflow: "local", model: "own/llama" };
    expect(valueOf(found, "holdfast_tokens_unpriced_total", spent)).toBe(100);
    expect(valueOf(found, "holdfast_cost_usd_total", spent)).toBeUndefined();
    expect(valueOf(found, "holdfast_run_cost_usd_count", { workflow: "local" })).toBeUndefined();
  });

  it("tell writes, checkpoints, runs, iterations, tokens and cost in Prometheus' format (S4-26, S1-57, S1-61)", async () => {
    const { scrape } = await stage();
    const text = await scrape();
    const found = parsePrometheus(text);
    const labels = { workflow: "work" };
    expect(valueOf(found, "holdfast_runs_started_total", labels)).toBe(3);
    expect(
      valueOf(found, "holdfast_runs_finished_total", { ...labels, status: "completed", recovered: "false" }),
    ).toBe(1);
    expect(
      valueOf(found, "holdfast_runs_finished_total", { ...labels, status: "failed", recovered: "false" }),
    ).toBe(1);
    expect(valueOf(found, "holdfast_run_iterations_count", labels)).toBe(2);
    expect(valueOf(found, "holdfast_run_iterations_sum", labels)).toBe(6);
    const spent = { ...labels, model: "openai/gpt-5" };
    expect(valueOf(found, "holdfast_tokens_total", spent)).toBe(900);
    expect(valueOf(found, "holdfast_cost_usd_total", spent)).toBe(2.25);
    expect(valueOf(found, "holdfast_run_cost_usd_sum", { ...labels, recovered: "false" })).toBe(1.5);
    expect(valueOf(found, "holdfast_checkpoints_total", labels)).toBeGreaterThanOrEqual(9);
    expect(
      valueOf(found, "holdfast_checkpoint_write_duration_seconds_count", { store: "memory" }),
    ).toBeGreaterThan(5);
    expect(valueOf(found, "holdfast_checkpoint_size_bytes_sum", { store: "memory" })).toBeGreaterThan(500);
    expect(valueOf(found, "holdfast_runs", { ...labels, status: "waiting" })).toBe(1);
    expect(valueOf(found, "holdfast_runs_waiting", { need: "gate" })).toBe(1);
    expect(valueOf(found, "holdfast_completion_rate")).toBe(0.5);
    expect(valueOf(found, "holdfast_slo_goal", { objective: "completion" })).toBe(0.98);
    expect(valueOf(found, "holdfast_store_up")).toBe(1);
    expect(text).not.toMatch(/"fine"|"asks"|"fails"/);
  });

  it("count a takeover from a lost worker and how long it took (S1-58, S1-61)", async () => {
    let isLost = false;
    const dies = workflow("dies", async (ctx) => ctx.step("once", () => (isLost ? 1 : hangs())));
    const lab = createLab();
    const first = lab.engine([dies]);
    await lab.drive(first.start(dies, undefined, { id: "a" }));
    await lab.crash(first);
    isLost = true;
    await lab.clock.advance(20_000);
    const metrics = createMetrics({ cacheMs: 0 });
    const second = lab.engine([dies], { observe: metrics });
    await lab.drive(second.recover());
    await lab.drive(second.result("a"));
    const found = parsePrometheus(await lab.drive(metrics.prometheus({ engine: second, store: lab.store })));
    const labels = { workflow: "dies" };
    expect(valueOf(found, "holdfast_recoveries_total", labels)).toBe(1);
    expect(valueOf(found, "holdfast_recovery_duration_seconds_count", labels)).toBe(1);
    expect(valueOf(found, "holdfast_recovery_duration_seconds_sum", labels)).toBeGreaterThan(5);
    expect(
      valueOf(found, "holdfast_runs_finished_total", { ...labels, status: "completed", recovered: "true" }),
    ).toBe(1);
    expect(valueOf(found, "holdfast_recovery_success_rate")).toBe(1);
  });

  it("stay bounded with 10,000 names of workflows and models", async () => {
    const metrics = createMetrics();
    const store = "memory";
    const observer = metrics.observe({ store } as never);
    const { lab, engine } = await stage();
    const row = await lab.drive(engine.get("fine"));
    for (let index = 0; index < 10_000; index++) {
      const usage = { tokens: 1, costUsd: 0, model: `model-${index}` };
      const event = {
        kind: "step_completed",
        step: "s",
        seq: 1,
        at: 0,
        epoch: 1,
        meta: { ms: 1, usage },
      } as const;
      observer.wrote?.({ ...row, workflow: `flow-${index}` } as never, [event]);
    }
    const found = parsePrometheus(await metrics.prometheus());
    for (const { name, samples } of found.values()) {
      const workflows = new Set(samples.map(({ labels }) => labels["workflow"]));
      expect(workflows.size, name).toBeLessThanOrEqual(101);
    }
    expect(valueOf(found, "holdfast_steps_total", { workflow: "other", outcome: "completed" })).toBe(9_900);
    expect([...found.values()].flatMap(({ samples }) => samples).length).toBeLessThan(3_000);
  });

  it("use the same figures of the store for scrapes that come soon after one another", async () => {
    const metrics = createMetrics();
    const { lab, engine } = await stage();
    let reads = 0;
    const store = { name: "memory", size: async () => ++reads * 1_000 };
    const both = await lab.drive(
      Promise.all([metrics.prometheus({ engine, store }), metrics.prometheus({ engine, store })]),
    );
    expect(both.map((text) => valueOf(parsePrometheus(text), "holdfast_storage_usage_bytes"))).toEqual([
      1_000, 1_000,
    ]);
  });

  it("have names and units that Prometheus' own linter accepts", async ({ skip }) => {
    const { scrape } = await stage();
    const checked = spawnSync("promtool", ["check", "metrics"], { input: await scrape(), encoding: "utf8" });
    if (checked.error) skip("promtool isn't installed");
    expect(checked.stderr + checked.stdout).toBe("");
    expect(checked.status).toBe(0);
  });

  it("have each name once", () => {
    const names = [...Object.values(COUNTED), ...Object.values(READ)].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("GET /v1/metrics", () => {
  it("answers whoever may read metrics, without a name of a run, and nobody else (S4-26)", async () => {
    const metrics = createMetrics();
    const { lab, engine, as, send } = createApiStage([work], {
      engine: { observe: metrics },
      app: { metrics },
    });
    await lab.drive(engine.start(work, "fine", { id: "run-with-a-name" }));
    await lab.drive(engine.result("run-with-a-name"));
    const text = await as("prometheus", "metrics:read").getMetrics();
    expect(valueOf(parsePrometheus(text), "holdfast_runs_started_total", { workflow: "work" })).toBe(1);
    expect(text).not.toContain("run-with-a-name");
    const { headers } = await send("GET", "/v1/metrics");
    expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    await expect(as("vic", "runs:read").getMetrics()).rejects.toMatchObject({ status: 403 });
    await expect(as("prometheus", "metrics:read").listRuns()).rejects.toMatchObject({ status: 403 });
  });
});
