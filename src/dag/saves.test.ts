import { describe, expect, it } from "vitest";
import { dagOf, RESEARCH, sqliteIn, stage, task } from "../../test/support/dag-stage.ts";
import { damage } from "../../test/support/damage.ts";
import { useFolders } from "../../test/support/folders.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { createFaultyStore } from "../testing/faulty-store.ts";
import { CheckpointManager } from "./checkpoint-manager.ts";
import { emptyState, reduceState } from "./state.ts";
import type { WorkflowState } from "./types.ts";

const folder = useFolders("dag-saves");
const chain = (count: number) =>
  dagOf(...Array.from({ length: count }, (_, n) => task(`t${n}`, ...(n > 0 ? [`t${n - 1}`] : []))));

/** A store that can be taken away and given back. */
function shaky() {
  const state = { isDown: false };
  const store = createFaultyStore(createMemoryStore(), {
    choose: (method) => (state.isDown && method === "append" ? { kind: "fail" } : undefined),
  });
  return { state, store };
}

describe("a checkpoint that was saved", () => {
  it("is announced with its id and the time, and the state has that id (S2-18, S2-06)", async () => {
    const { executor, events } = stage({ store: createMemoryStore() });
    const { state } = await executor.execute(RESEARCH);
    const announced = events.filter(({ type }) => type === "checkpoint_saved");
    expect(announced).toHaveLength(4);
    for (const event of announced)
      expect(event).toMatchObject({
        type: "checkpoint_saved",
        checkpoint_id: expect.stringMatching(
          /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        ) as string,
        timestamp: expect.anything() as unknown,
      });
    expect(announced.at(-1)).toMatchObject({ checkpoint_id: state.checkpoint_id });
    await executor.close();
  });
});

describe("a checkpoint that can't be saved", () => {
  it("doesn't stop the workflow with onCheckpointFailure: continue, and is announced (S2-28, S2-19)", async () => {
    const { state, store } = shaky();
    const logged: string[] = [];
    const quiet = () => undefined;
    const logger = {
      debug: quiet,
      info: quiet,
      warn: quiet,
      error: (message: string) => logged.push(message),
    };
    const { executor, calls, saved, events } = stage({
      store,
      logger,
      config: { onCheckpointFailure: "continue" },
    });
    executor.on("task_completed", ({ task_id }) => {
      if (task_id === "plan") state.isDown = true;
    });
    executor.on("task_started", ({ task_id }) => {
      if (task_id === "publish") state.isDown = false;
    });
    const { status } = await executor.execute(RESEARCH);
    expect([status, calls]).toEqual(["completed", ["plan", "search", "read", "write", "publish"]]);
    const failures = events.filter(({ type }) => type === "checkpoint_failed");
    expect(failures[0]).toMatchObject({
      workflow_id: expect.any(String) as string,
      error: expect.any(Error) as Error,
    });
    expect(logged).toContain("not saved");
    expect(saved).toHaveLength(4);
    await executor.close();
  });

  it("stops the workflow before its next task by default, until the store is back (S2-19)", async () => {
    const { state, store } = shaky();
    const { executor, calls } = stage({ store });
    const seen: string[][] = [];
    executor.on("task_completed", ({ task_id }) => {
      if (task_id === "plan") state.isDown = true;
    });
    executor.on("checkpoint_failed", () => {
      seen.push([...calls]);
      state.isDown = false;
    });
    expect((await executor.execute(RESEARCH)).status).toBe("completed");
    expect(seen).toEqual([["plan"]]);
    await executor.close();
  });
});

describe("old checkpoints", () => {
  it("are pruned on save: only the newest stay, each can be restored, and the others are refused (S2-27, S2-22, S2-05)", async () => {
    const { open, rows } = await sqliteIn(folder());
    const store = await open();
    const { executor, saved, failing } = stage({ store, config: { keepCheckpoints: 3 } });
    failing.add("t12");
    await expect(executor.execute(chain(14), { id: "w" })).rejects.toThrow();
    await executor.checkpointManager.pruneOldCheckpoints("w", 3);
    expect(saved).toHaveLength(12);
    const kept = await executor.checkpointManager.list("w");
    expect(kept.map(({ id, layer_index }) => [id, layer_index])).toEqual([
      [saved[11], 12],
      [saved[10], 11],
      [saved[9], 10],
    ]);
    const left = await rows("SELECT id FROM workflow_checkpoints ORDER BY layer_index DESC");
    expect(left.map(({ id }) => id)).toEqual(kept.map(({ id }) => id));
    for (const [index, { id }] of kept.entries())
      expect((await executor.checkpointManager.load(id)).state.tasks).toHaveLength(12 - index);
    for (const id of saved.slice(0, 9))
      await expect(executor.resumeFromCheckpoint(id)).rejects.toMatchObject({ code: "HF-4560" });
    failing.clear();
    const result = await executor.resumeFromCheckpoint(saved[11] ?? "");
    expect([result.workflow_id, result.layers]).toEqual(["w", 14]);
    await executor.close();
    await store.close();
  });

  it("of saves by hand are pruned too, five by default (S2-22)", async () => {
    const store = createMemoryStore();
    const { executor } = stage({ store });
    const manager = new CheckpointManager(executor.engine, { workflowId: "mine" });
    const ids: string[] = [];
    for (let layer = 1; layer <= 8; layer++)
      ids.push(await manager.saveCheckpoint(emptyState(), RESEARCH, layer));
    await manager.settled();
    await manager.pruneOldCheckpoints("mine");
    expect((await manager.list("mine")).map(({ id }) => id)).toEqual(ids.slice(3).reverse());
    await expect(manager.load(ids[0] ?? "")).rejects.toMatchObject({ code: "HF-4560" });
    await expect(manager.pruneOldCheckpoints("mine", 0)).rejects.toMatchObject({ code: "HF-1003" });
    await executor.close();
  });

  it("are not taken for whole when they are corrupt or were edited into something else (S2-20)", async () => {
    const store = createMemoryStore();
    const { executor, saved, failing } = stage({ store });
    failing.add("publish");
    await expect(executor.execute(RESEARCH, { id: "w" })).rejects.toThrow();
    await executor.engine.resume("w", { set: { loops: { layer: { messages: "none" } } } });
    await expect(executor.result("w")).rejects.toThrow();
    await expect(executor.checkpointManager.load(saved[2] ?? "")).rejects.toMatchObject({ code: "HF-4561" });
    await executor.close();
    const damaged = stage({ store: damage(store) });
    await expect(damaged.executor.resumeFromCheckpoint(saved[0] ?? "")).rejects.toMatchObject({
      code: "HF-4561",
    });
    expect(damaged.calls).toEqual([]);
    await damaged.executor.close();
  });
});

describe("the size of a checkpoint", () => {
  const stateOf = ({ state }: Record<string, unknown>): WorkflowState =>
    JSON.parse(String(state)) as WorkflowState;

  it("is below 100 KB for a typical workflow, with long context values by reference, which a load resolves (S2-10, S2-23)", async () => {
    const { open, rows } = await sqliteIn(folder());
    const store = await open();
    const corpus = {
      pages: Array.from({ length: 200 }, (_, n) => `page ${n}: ${"lorem ipsum ".repeat(40)}`),
    };
    const { executor, saved } = stage({ store });
    await executor.execute(chain(10), { context: { corpus, topic: "tides" } });
    const found = await rows(
      "SELECT state, length(state) AS bytes FROM workflow_checkpoints ORDER BY layer_index",
    );
    for (const { bytes } of found) expect(Number(bytes)).toBeLessThan(100_000);
    expect(stateOf(found.at(-1) ?? {}).context).toEqual({
      topic: "tides",
      corpus: { $ref: expect.any(String) as string, bytes: expect.any(Number) as number },
    });
    expect((await executor.checkpointManager.load(saved.at(-1) ?? "")).state.context).toEqual({
      corpus,
      topic: "tides",
    });
    await executor.close();
    await store.close();
  });

  it("is warned about above 500 KB (S2-10)", async () => {
    const warned: object[] = [];
    const quiet = () => undefined;
    const logger = {
      debug: quiet,
      info: quiet,
      error: quiet,
      warn: (_: string, fields: object = {}) => warned.push(fields),
    };
    const { executor, events } = stage({
      store: createMemoryStore(),
      logger,
      tools: { work: () => "x".repeat(600_000) },
    });
    await executor.execute(dagOf(task("a")));
    const large = events.find(({ type }) => type === "checkpoint_large");
    expect(large).toMatchObject({ layer_index: 1, bytes: expect.any(Number) as number });
    expect(warned).toContainEqual(
      expect.objectContaining({ checkpoint_id: (large as { checkpoint_id: string }).checkpoint_id }),
    );
    await executor.close();
  });

  it("stays in proportion in a large workflow: rows between whole ones have what is new, and each loads whole", async () => {
    const { open, rows } = await sqliteIn(folder());
    const store = await open();
    const { executor, saved } = stage({
      store,
      config: { keepCheckpoints: 1_000 },
      tools: { work: () => "x".repeat(4_000) },
    });
    await executor.execute(chain(120));
    const found = await rows(
      "SELECT id, state, dag_structure FROM workflow_checkpoints ORDER BY layer_index",
    );
    const partial = found.filter((row) => "since" in stateOf(row));
    expect(found).toHaveLength(120);
    expect(partial.length).toBeGreaterThan(60);
    const total = found.reduce((sum, { state }) => sum + String(state).length, 0);
    expect(total).toBeLessThan(8 * 120 * 4_100 + 2_000_000);
    const index = found.findIndex((row) => "since" in stateOf(row));
    expect(stateOf(found[index] ?? {}).tasks).toHaveLength(1);
    expect(stateOf(found[index] ?? {})).toMatchObject({ since: saved[index - 1] });
    expect((await executor.checkpointManager.load(saved[index] ?? "")).state.tasks).toHaveLength(index + 1);
    expect(stateOf(found.at(-1) ?? {}).tasks).toHaveLength(120);
    await executor.close();
    await store.close();
  });

  it("refuses to save by hand what isn't a workflow's state", async () => {
    const { executor } = stage({ store: createMemoryStore() });
    const manager = new CheckpointManager(executor.engine);
    const task1 = { taskId: "a", result: 1, timestamp: 1, duration: 1 };
    const bad: unknown[] = [
      null,
      {},
      { ...emptyState(), context: [] },
      { ...emptyState(), tasks: [{ taskId: "a" }] },
      { ...emptyState(), tasks: [task1, task1] },
    ];
    for (const state of bad)
      await expect(manager.saveCheckpoint(state as WorkflowState, RESEARCH, 1)).rejects.toMatchObject({
        code: "HF-4562",
      });
    const cyclic = dagOf(task("a", "b"), task("b", "a"));
    await expect(manager.saveCheckpoint(emptyState(), cyclic, 1)).rejects.toMatchObject({ code: "HF-4554" });
    await expect(manager.saveCheckpoint(emptyState(), RESEARCH, -1)).rejects.toMatchObject({
      code: "HF-1003",
    });
    const id = await manager.saveCheckpoint(reduceState(emptyState(), { tasks: [task1] }), RESEARCH, 2);
    expect((await manager.load(id)).state.tasks).toEqual([task1]);
    await executor.close();
  });
});
