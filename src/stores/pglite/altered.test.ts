import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ControlledExecutor } from "../../dag/index.ts";
import { HoldfastError } from "../../index.ts";
import { openPgliteStore } from "./index.ts";

const db = new PGlite();
beforeAll(() => db.waitReady);
afterAll(() => db.close());

const DAG = {
  tasks: [
    { id: "search", tool: "web" },
    { id: "report", tool: "web", dependsOn: ["search"] },
  ],
};

/** Changes a table under a workflow, changes it back when that was noticed, and returns what was said and done. */
async function executeWhileAltered(schema: string, change: string, back: string) {
  const store = await openPgliteStore({ db, schema });
  const calls: string[] = [];
  const tools = { web: (_: unknown, { taskId }: { taskId: string }) => calls.push(taskId) };
  const executor = new ControlledExecutor({ store, tools });
  const failed = new Promise<unknown>((resolve) => {
    executor.on("checkpoint_failed", ({ error }) => resolve(error));
  });
  await db.exec(`SET search_path = ${schema}; ${change}`);
  const result = executor.execute(DAG);
  const error = await failed;
  const before = [...calls];
  await db.exec(back);
  const { results } = await result;
  await executor.close();
  await store.close();
  return { error, before, calls, results };
}

describe("a table that somebody has changed", () => {
  it.each([
    [
      "a column of workflow_checkpoints",
      "ALTER TABLE workflow_checkpoints RENAME COLUMN state TO states",
      "ALTER TABLE workflow_checkpoints RENAME COLUMN states TO state",
      'column "state"',
    ],
    [
      "a column of record_keys",
      "ALTER TABLE record_keys RENAME COLUMN key TO keys",
      "ALTER TABLE record_keys RENAME COLUMN keys TO key",
      'column "key"',
    ],
  ])(
    "is named: %s; nothing is lost, and the workflow continues when it is as before",
    async (what, change, back, named) => {
      const schema = `altered${what.length}`;
      const { error, before, calls, results } = await executeWhileAltered(schema, change, back);
      expect(HoldfastError.is(error, "HF-3072")).toBe(true);
      expect(String(error)).toContain(named);
      expect(before).toEqual(["search"]);
      expect(calls).toEqual(["search", "report"]);
      expect(Object.keys(results)).toEqual(["search", "report"]);
    },
  );
});
