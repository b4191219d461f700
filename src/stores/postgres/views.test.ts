import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import type { EventDraft, JournalEvent } from "../../core/journal/events.ts";
import { isDone, type LoggedStep, StepLog } from "../../core/journal/step-log.ts";
import type { Store } from "../../core/store/contract.ts";
import { createEngine, type Engine, workflow } from "../../index.ts";
import { creation } from "../../testing/conformance/index.ts";
import { openPostgresStore } from "./index.ts";

const server = await sharedPostgres();
const schema = `views-${process.pid}`;
const admin = new pg.Pool({ connectionString: server.url });
const select = async (view: string, runId: string, order = "") =>
  (await admin.query(`SELECT * FROM "${schema}".${view} WHERE run_id = $1 ${order}`, [runId])).rows;

const report = workflow("report", async (ctx, topic: string) => {
  ctx.plan(["gather", "write", "check"]);
  await ctx.step("gather", () => topic);
  await ctx.step("write", () => {
    if (topic === "bad") throw Object.assign(new Error("no \0 ink \ud800"), { retryable: false });
    return "x".repeat(20_000);
  });
  if (topic === "open") await ctx.gate("approve", { show: topic, choices: ["yes"] });
  await ctx.step("check", () => true);
});

const OUTCOMES: readonly Omit<EventDraft, "step">[] = [
  { kind: "step_completed", meta: {} },
  { kind: "gate_answered", meta: { digest: "d", choice: "yes" } },
  { kind: "child_finished", meta: { child: "c", status: "completed" } },
  { kind: "child_finished", meta: { child: "c", status: "failed" } },
  { kind: "step_failed", meta: { attempt: 1 } },
  { kind: "step_failed", meta: { attempt: 1, retryAt: 5 } },
  { kind: "step_in_doubt", meta: { attempt: 1, rerunAfter: 0 } },
];

/** What an engine could write next about a step. */
function nextOf(step: LoggedStep | undefined, choice: number): Omit<EventDraft, "step"> {
  if (step && isDone(step)) return { kind: "decision_made", meta: {} };
  const meta = { type: "call", effect: "once", attempt: 1, call: 1 } as const;
  if (!step || step.record.status === "failed") return { kind: "step_started", meta };
  return OUTCOMES[choice] as Omit<EventDraft, "step">;
}

describe.skipIf(server.url === undefined)("the views for SQL", () => {
  let store: Store;
  let engine: Engine;
  beforeAll(async () => {
    store = await openPostgresStore({ connectionString: server.url as string, schema });
    engine = createEngine({ store, workflows: [report], owner: "worker-1" });
  });
  afterAll(async () => {
    await engine.close();
    await store.close();
    await admin.query(`DROP SCHEMA "${schema}" CASCADE`);
    await admin.end();
  });

  it("show a finished run, step by step", async () => {
    await engine.start(report, "good", { id: "good" });
    await engine.result("good");
    const row = await store.read("good");
    const [run] = await select("checkpoints", "good");
    expect(run).toMatchObject({
      checkpoint_id: `good@${row?.seq}`,
      workflow_name: "report",
      current_agent: null,
      in_progress: false,
      completed_agents: ["gather", "write", "check"],
      status: "completed",
      created_at: new Date(row?.createdAt ?? 0),
      updated_at: new Date(row?.updatedAt ?? 0),
    });
    const steps = await select("positions", "good", "ORDER BY cardinality(completed_subtasks), kind");
    expect(
      steps.map(({ progress_pct, completed_subtasks, pending_subtasks }) => [
        Number(progress_pct),
        completed_subtasks.length,
        pending_subtasks,
      ]),
    ).toEqual([
      [33.33, 1, ["write", "check"]],
      [66.67, 2, ["check"]],
      [100, 3, []],
      [100, 3, []],
    ]);
    expect(steps[0]).toMatchObject({
      agent_type: "report",
      analysis_id: "good",
      agent_version: "1",
      retry_count: 0,
    });
  });

  it("show what a run is at, and one row for each entry of its journal", async () => {
    await engine.start(report, "open", { id: "open" });
    await expect.poll(async () => (await store.read("open"))?.status).toBe("waiting");
    expect(await select("checkpoints", "open")).toMatchObject([
      { current_agent: "approve", completed_agents: ["gather", "write"], status: "waiting" },
    ]);
    const entries = await store.entries("open", { from: 1, limit: 100 });
    const { rows } = await admin.query(
      `SELECT * FROM "${schema}".entries WHERE workflow_id = 'open' ORDER BY "timestamp", id`,
    );
    const addresses = new Set(entries.map(({ seq, count }) => `open@${seq + count - 1}`));
    expect(new Set(rows.map(({ id }) => id))).toEqual(addresses);
    expect(rows[0].state[0]).toMatchObject({ seq: 1, kind: "run_created", meta: { workflow: "report" } });
  });

  it("show a failure, with what PostgreSQL cannot write replaced", async () => {
    await engine.start(report, "bad", { id: "bad" });
    await expect(engine.result("bad")).rejects.toThrow("no \0 ink");
    expect(await select("checkpoints", "bad")).toMatchObject([
      { status: "failed", error: "no \ufffd ink \ufffd" },
    ]);
    const failed = await select("positions", "bad", "ORDER BY checkpoint_time, kind");
    expect(
      failed.map(({ kind, failure_reason, retry_count }) => [kind, failure_reason, retry_count]),
    ).toContainEqual(["run_failed", "no \ufffd ink \ufffd", 1]);
  });

  it("have the columns that were asked for", async () => {
    const columnsOf = async (view: string): Promise<string[]> => {
      const { rows } = await admin.query(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2",
        [schema, view],
      );
      return rows.map(({ column_name }) => column_name);
    };
    expect(await columnsOf("positions")).toEqual(
      expect.arrayContaining(
        `id stock_ticker agent_type analysis_id checkpoint_time progress_pct current_subtask completed_subtasks
        pending_subtasks working_memory interim_results agent_config failure_reason error_details retry_count
        agent_version created_at`.split(/\s+/),
      ),
    );
    expect(await columnsOf("entries")).toEqual(
      expect.arrayContaining(
        "id workflow_id timestamp layer_index state dag_structure execution_config".split(" "),
      ),
    );
    expect(await columnsOf("checkpoints")).toEqual(
      expect.arrayContaining(
        `checkpoint_id workflow_name workflow_inputs current_agent in_progress completed_agents agent_outputs
        context_snapshot iteration created_at updated_at`.split(/\s+/),
      ),
    );
  });

  // Decisions of people, late results, edits and new names are told by the library and the CLI; see the step log.
  it("have the step log's meaning of done and under way for everything that a run does by itself", async () => {
    const lives = fc.sample(
      fc.array(fc.tuple(fc.constantFrom("a", "b", "c/d"), fc.nat(6)), { maxLength: 30 }),
      {
        seed: 5,
        numRuns: 40,
      },
    );
    for (const [index, turns] of lives.entries()) {
      const log = new StepLog();
      const events = turns.map(([step, choice], place) => {
        const event = {
          ...nextOf(log.find(step), choice),
          step,
          seq: place + 1,
          at: 1,
          epoch: 1,
        } as JournalEvent;
        log.take(event);
        return event;
      });
      const head = JSON.stringify({
        p: "",
        t: 1,
        v: events.map(({ kind, step, meta }) => [kind, step, meta]),
      });
      const id = `made-${index}`;
      await store.append([creation({ run: { id }, entry: { head, count: Math.max(1, events.length) } })]);
      const [seen] = await select("checkpoints", id);
      const done = [...log.steps()].filter(isDone).map(({ step }) => step);
      expect(new Set(seen.completed_agents), head).toEqual(new Set(done));
      const open = [...log.steps()].filter(
        (one) => !isDone(one) && (one.record.status !== "failed" || one.record.retryAt !== undefined),
      );
      const begun = ({ attempts }: LoggedStep): number => attempts.at(-1)?.begun ?? 0;
      open.sort((a, b) => begun(b) - begun(a));
      expect(seen.current_agent, head).toBe(open[0]?.step ?? null);
    }
  });

  it("leave out what is not in the journal's format", async () => {
    await store.append([creation({ run: { id: "odd" }, entry: { head: "456" } })]);
    expect(await select("events", "odd")).toEqual([]);
    expect(await select("checkpoints", "odd")).toMatchObject([{ run_id: "odd", completed_agents: [] }]);
  });
});
