import { isRecord } from "../core/check-options.ts";
import type { Engine } from "../core/engine/engine.ts";
import { HoldfastError } from "../core/errors.ts";
import type { StateView } from "../core/types.ts";
import { isCheckpointId, isOfRun, layerLabel, layersIn } from "./checkpoint-id.ts";
import { LAYERS } from "./run-dag.ts";
import type { Held } from "./state.ts";

/** A checkpoint as it was found in the journal of its run. */
export interface Found {
  readonly runId: string;
  /** Its address, `run@label`. */
  readonly address: string;
  readonly layer: number;
  readonly held: Held;
  /** Nothing has been finished since. */
  readonly isNewest: boolean;
}

/** Finds a checkpoint by its id, in the runs of these workflows. Throws HF-4560 when there is none. */
export async function findCheckpointById(
  engine: Engine,
  workflows: readonly string[],
  id: string,
): Promise<Found> {
  if (!isCheckpointId(id)) throw missing(id, "A checkpoint's id is a version 4 UUID in small letters.");
  for (const workflow of workflows)
    for await (const runId of runsOf(engine, workflow)) {
      const found = isOfRun(id, runId) ? await inRun(engine, runId, id) : undefined;
      if (found) return found;
    }
  throw missing(id, "No workflow in this store has saved it, or it was pruned.");
}

export const missing = (id: unknown, reason: string): HoldfastError =>
  new HoldfastError("HF-4560", { checkpoint: String(id).slice(0, 80), reason });

async function* runsOf(engine: Engine, workflow: string): AsyncGenerator<string> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await engine.list({ workflow, limit: 500, ...(cursor ? { cursor } : {}) });
    yield* page.runs.map((run) => run.id);
    cursor = page.cursor;
  }
}

async function inRun(engine: Engine, runId: string, id: string): Promise<Found | undefined> {
  const newest = await readHeld(engine, runId, id);
  if (!newest) return undefined;
  if (newest.checkpoint_id === id)
    return {
      runId,
      address: `${runId}@${layerLabel(newest.layers)}`,
      layer: newest.layers,
      held: newest,
      isNewest: true,
    };
  for (const layer of layersIn(id, newest.layers)) {
    const address = `${runId}@${layerLabel(layer)}`;
    const held = await readHeld(engine, address, id);
    if (held?.checkpoint_id === id) return { runId, address, layer, held, isNewest: false };
  }
  return undefined;
}

/** The state at an address; `undefined` when there is none or it was dropped. Damage is HF-4561. */
export async function readHeld(engine: Engine, address: string, id: string): Promise<Held | undefined> {
  let view: StateView;
  try {
    view = await engine.checkpoints.state(address);
  } catch (error) {
    if (["HF-1001", "HF-1022", "HF-1023"].some((code) => HoldfastError.is(error) && error.code === code))
      return undefined;
    const problem = error instanceof Error ? error.message : String(error);
    throw new HoldfastError("HF-4561", { checkpoint: id, problem }, { cause: error });
  }
  const state = view.loops[LAYERS];
  return state === undefined ? undefined : checkHeld(state, id);
}

/** Refuses a state that isn't a workflow's: it may have been edited. */
function checkHeld(state: unknown, id: string): Held {
  const problem = stateProblem(state);
  const isHeld =
    problem === undefined && isRecord(state) && isRecord(state["dag"]) && isRecord(state["config"]);
  if (isHeld) return state as unknown as Held;
  throw new HoldfastError("HF-4561", {
    checkpoint: id,
    problem: problem ?? "it has no DAG or no configuration",
  });
}

/** What is wrong with a workflow's state; `undefined` when nothing is. */
export function stateProblem(state: unknown): string | undefined {
  if (!isRecord(state)) return "it must be an object";
  for (const list of ["messages", "tasks", "decisions"])
    if (!Array.isArray(state[list])) return `its ${list} must be a list`;
  if (!isRecord(state["context"])) return "its context must be an object";
  const tasks = state["tasks"] as readonly unknown[];
  const isTask = (task: unknown): boolean =>
    isRecord(task) &&
    typeof task["taskId"] === "string" &&
    "result" in task &&
    Number.isFinite(task["timestamp"]) &&
    Number.isFinite(task["duration"]);
  const bad = tasks.findIndex((task) => !isTask(task));
  if (bad >= 0) return `task number ${bad + 1} must have taskId, result, timestamp and duration`;
  return new Set(tasks.map((task) => (task as { taskId: string }).taskId)).size === tasks.length
    ? undefined
    : "a task occurs in it twice";
}
