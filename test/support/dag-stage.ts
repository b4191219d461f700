import path from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import {
  ControlledExecutor,
  type ControlledExecutorOptions,
  type DAGEvent,
  type DAGStructure,
  type DAGTask,
} from "../../src/dag/index.ts";
import type { Store } from "../../src/index.ts";
import { openPgliteStore } from "../../src/stores/pglite/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

export const task = (id: string, ...dependsOn: string[]): DAGTask => ({ id, tool: "work", dependsOn });
export const dagOf = (...tasks: DAGTask[]): DAGStructure => ({ tasks });

/** Four layers: plan; search and read; write; publish. */
export const RESEARCH = dagOf(
  task("plan"),
  task("search", "plan"),
  task("read", "plan"),
  task("write", "search", "read"),
  task("publish", "write"),
);

/** An executor whose tool counts the calls of each task, and the checkpoints and events that it announces. */
export function stage(
  options: Omit<ControlledExecutorOptions, "tools"> & Partial<ControlledExecutorOptions>,
) {
  const calls: string[] = [];
  const failing = new Set<string>();
  const tools = {
    work: (
      _: unknown,
      { taskId, results }: { taskId: string; results: Readonly<Record<string, unknown>> },
    ) => {
      calls.push(taskId);
      if (failing.has(taskId)) throw Object.assign(new Error(`${taskId} fails`), { retryable: false });
      const from = Object.keys(results);
      return from.length === 0 ? `did ${taskId}` : `did ${taskId} after ${from.join(" and ")}`;
    },
  };
  const executor = new ControlledExecutor({ tools, ...options });
  const events: DAGEvent[] = [];
  const saved: string[] = [];
  for (const type of EVENTS) executor.on(type, (event) => events.push(event));
  executor.on("checkpoint_saved", ({ checkpoint_id }) => saved.push(checkpoint_id));
  return { executor, calls, failing, events, saved };
}

const EVENTS = [
  "workflow_started",
  "layer_started",
  "task_started",
  "task_completed",
  "task_failed",
  "decision_required",
  "decision_made",
  "command_applied",
  "command_rejected",
  "speculation_started",
  "speculation_confirmed",
  "speculation_discarded",
  "dag_changed",
  "checkpoint_saved",
  "checkpoint_failed",
  "checkpoint_large",
  "workflow_completed",
  "workflow_aborted",
  "workflow_failed",
] as const;

/** Both stores that the document's reader would use, and how to read their tables with SQL. */
export interface Place {
  readonly open: () => Promise<Store>;
  readonly rows: (sql: string) => Promise<Record<string, unknown>[]>;
}

export async function sqliteIn(folder: string): Promise<Place> {
  const file = path.join(folder, "dag.db");
  const { DatabaseSync } = await import("@photostructure/sqlite");
  return {
    open: () => openSqliteStore({ file }),
    rows: async (sql) => {
      const db = new DatabaseSync(file, { readOnly: true });
      try {
        return db.prepare(sql).all() as Record<string, unknown>[];
      } finally {
        db.close();
      }
    },
  };
}

export const pgliteOn = (db: PGlite, schema: string): Place => ({
  open: () => openPgliteStore({ db, schema }),
  rows: async (sql) => {
    const { rows } = await db.query<Record<string, unknown>>(
      sql.replaceAll("workflow_checkpoints", `${schema}.workflow_checkpoints`),
    );
    return rows;
  },
});
