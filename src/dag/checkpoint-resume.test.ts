import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  dagOf,
  type Place,
  pgliteOn,
  RESEARCH,
  sqliteIn,
  stage,
  task,
} from "../../test/support/dag-stage.ts";
import { useFolders } from "../../test/support/folders.ts";
import { CheckpointManager } from "./checkpoint-manager.ts";
import { emptyState, reduceState } from "./state.ts";
import type { WorkflowState } from "./types.ts";

const folder = useFolders("dag");
const db = new PGlite();
beforeAll(() => db.waitReady, 120_000);
afterAll(() => db.close());
let schemas = 0;

const PLACES: readonly [string, () => Promise<Place>][] = [
  ["PGlite", async () => pgliteOn(db, `dag${++schemas}`)],
  ["SQLite", () => sqliteIn(folder())],
];

const parsed = (value: unknown): unknown => (typeof value === "string" ? JSON.parse(value) : value);

describe.each(PLACES)("checkpoint and resume on %s (S2-08)", (_, place) => {
  /** Executes the research until one of its tasks fails. */
  async function failed(at: string) {
    const { open, rows } = await place();
    const store = await open();
    const { executor, failing, calls, saved } = stage({ store });
    failing.add(at);
    const context = { topic: "tides", since: new Date(0) };
    await expect(executor.execute(RESEARCH, { id: "w", context, messages: ["begin"] })).rejects.toThrow();
    await executor.close();
    return { store, rows, calls, saved };
  }

  it("saves a row of workflow_checkpoints after each layer, with the state, the DAG and the configuration (S2-02, S2-03, S2-11, S2-15, S2-16)", async () => {
    const { store, rows, saved } = await failed("publish");
    const found = await rows("SELECT * FROM workflow_checkpoints ORDER BY layer_index");
    await store.close();
    expect(found.map(({ id, layer_index }) => [id, Number(layer_index)])).toEqual([
      [saved[0], 1],
      [saved[1], 2],
      [saved[2], 3],
    ]);
    const { workflow_id, timestamp, state, dag_structure, execution_config } = found[1] ?? {};
    expect(workflow_id).toBe("w");
    expect(new Date(timestamp as string).getTime()).toBeGreaterThan(1_600_000_000_000);
    const done = (taskId: string, result: string) => ({
      taskId,
      result,
      timestamp: expect.any(Number) as number,
      duration: expect.any(Number) as number,
    });
    expect(parsed(state)).toMatchObject({
      messages: ["begin"],
      tasks: [
        done("plan", "did plan"),
        done("search", "did search after plan"),
        done("read", "did read after plan"),
      ],
      decisions: [],
      context: { topic: "tides" },
      checkpoint_id: saved[1],
    });
    expect(Object.keys((parsed(state) as WorkflowState).tasks[0] ?? {}).sort()).toEqual([
      "duration",
      "result",
      "taskId",
      "timestamp",
    ]);
    expect(parsed(dag_structure)).toEqual(RESEARCH);
    expect(parsed(execution_config)).toMatchObject({ speculation: true, concurrency: 8 });
  });

  it("restores exactly the state that was saved (S2-24, S2-04, S2-17)", async () => {
    const { store, saved } = await failed("publish");
    const { executor } = stage({ store });
    const before = await executor.checkpointManager.load(saved[2] ?? "");
    expect(before.state).toMatchObject({
      checkpoint_id: saved[2],
      context: { topic: "tides", since: new Date(0) },
    });
    expect(before).toMatchObject({ layer_index: 3, workflow_id: "w", dag_structure: RESEARCH });
    const { state, ...result } = await executor.resumeFromCheckpoint(saved[2] ?? "");
    expect(result).toMatchObject({ status: "completed", workflow_id: "w", layers: 4 });
    expect(state.tasks.slice(0, -1)).toEqual(before.state.tasks);
    expect({ ...state, tasks: [], checkpoint_id: "" }).toEqual({
      ...before.state,
      tasks: [],
      checkpoint_id: "",
    });
    await executor.close();
    await store.close();
  });

  it("continues with layer 3 from the checkpoint after layer 2 (S2-25, S2-01, S2-07)", async () => {
    const { store, saved, calls } = await failed("write");
    expect(calls).toEqual(["plan", "search", "read", "write"]);
    const next = stage({ store });
    const { results, layers } = await next.executor.resumeFromCheckpoint(saved[1] ?? "");
    expect(next.calls).toEqual(["write", "publish"]);
    expect(
      next.events.flatMap((event) => (event.type === "layer_started" ? [event.layer_index] : [])),
    ).toEqual([2, 3]);
    expect([layers, results["publish"]]).toEqual([4, "did publish after write"]);
    await next.executor.close();
    await store.close();
  });

  it("makes a new run from an earlier checkpoint, and leaves the original alone", async () => {
    const { store, saved } = await failed("publish");
    const { executor, calls } = stage({ store });
    const result = await executor.resumeFromCheckpoint(saved[0] ?? "");
    expect(result.workflow_id).not.toBe("w");
    expect(calls).toEqual(["search", "read", "write", "publish"]);
    expect((await executor.engine.get("w"))?.status).toBe("failed");
    await executor.close();
    await store.close();
  });

  it("throws for an id that names no checkpoint (S2-20)", async () => {
    const { store, saved } = await failed("publish");
    const { executor, calls } = stage({ store });
    for (const id of ["", "w@3", "550e8400-e29b-41d4-a716-446655440000", `${saved[0]?.slice(0, -1)}x`])
      await expect(executor.resumeFromCheckpoint(id), id).rejects.toMatchObject({ code: "HF-4560" });
    const other = `${saved[1]?.slice(0, 14)}4000-8000-000000000000`;
    await expect(executor.resumeFromCheckpoint(other)).rejects.toMatchObject({ code: "HF-4560" });
    expect(calls).toEqual([]);
    await executor.close();
    await store.close();
  });

  it("resumes with a modified DAG as well as it can, and warns about it task by task (S2-26, S2-21)", async () => {
    const { store, saved } = await failed("write");
    const warned: unknown[] = [];
    const quiet = () => undefined;
    const logger = {
      debug: quiet,
      info: quiet,
      error: quiet,
      warn: (_: string, fields?: object) => warned.push(fields),
    };
    const { executor, calls, events } = stage({ store, logger });
    const modified = dagOf(
      { ...task("plan"), resultType: "outline" },
      task("search", "plan"),
      task("check", "search"),
      task("publish", "check", "search"),
    );
    const { warnings, state } = await executor.resumeFromCheckpoint(saved[1] ?? "", { dag: modified });
    expect(warnings.map(({ taskId, kind }) => [taskId, kind])).toEqual([
      ["plan", "changed_result_type"],
      ["read", "removed"],
      ["write", "removed"],
      ["publish", "changed_dependencies"],
      ["check", "added"],
    ]);
    expect(warnings[0]?.message).toBe(
      "Task plan has another result type (from none to outline). Its saved result is of the former type.",
    );
    expect(warned.length).toBeGreaterThanOrEqual(5);
    expect(events.filter(({ type }) => type === "dag_changed")).toHaveLength(1);
    // The layer that was under way is finished first: its task was begun, and may have had an effect.
    expect(calls).toEqual(["write", "check", "publish"]);
    expect(state.tasks.map(({ taskId }) => taskId)).toEqual([
      "plan",
      "search",
      "read",
      "write",
      "check",
      "publish",
    ]);
    expect(state.decisions.map(({ type }) => type)).toEqual(["replan"]);
    await executor.close();
    await store.close();
  });

  it("saves by hand in one transaction, and loads the same again (S2-14, S2-06, S2-13)", async () => {
    const { open, rows } = await place();
    const store = await open();
    const { executor } = stage({ store });
    const manager = new CheckpointManager(executor.engine, {
      workflowId: "mine",
      config: { timeout: 5_000 },
    });
    const done = { taskId: "plan", result: { n: 1n }, timestamp: 5, duration: 2 };
    const state = reduceState(emptyState(), {
      tasks: [done],
      messages: ["hello"],
      context: { topic: "tides" },
    });
    const id = await manager.saveCheckpoint(state, RESEARCH, 1);
    expect(state.checkpoint_id).toBe(id);
    expect(await manager.load(id)).toEqual({
      id,
      workflow_id: "mine",
      timestamp: expect.any(Number) as number,
      layer_index: 1,
      state,
      dag_structure: RESEARCH,
      execution_config: expect.objectContaining({ timeout: 5_000 }) as object,
    });
    expect(await rows("SELECT id, workflow_id, layer_index FROM workflow_checkpoints")).toMatchObject([
      { id, workflow_id: "mine" },
    ]);
    const { results, status } = await executor.resumeFromCheckpoint(id);
    expect([status, Object.keys(results)]).toEqual([
      "completed",
      ["plan", "search", "read", "write", "publish"],
    ]);
    await executor.close();
    await store.close();
  });
});
