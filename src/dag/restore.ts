import { isRecord } from "../core/check-options.ts";
import type { Engine } from "../core/engine/engine.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Run, StateView } from "../core/types.ts";
import { isCheckpointId, isOfRun, layerLabel, layersIn } from "./checkpoint-id.ts";
import { LAYERS } from "./run-dag.ts";
import type { Held } from "./state.ts";

/** A checkpoint as it was found in the journal of its run. */
export interface Found {
  readonly run: Run;
  /** Its address, `run@label`. */
  readonly address: string;
  readonly layer: number;
  readonly held: Held;
  /** Nothing has been finished since. */
  readonly isNewest: boolean;
}

/**
 * Finds a checkpoint by its id, in the runs of these workflows. Throws HF-4560 when there is none. `isContinued`: the run
 * goes on from there at once, so its worker needn't read it again.
 */
export async function findCheckpointById(
  engine: Engine,
  workflows: readonly string[],
  id: string,
  { isContinued = false } = {},
): Promise<Found> {
  if (!isCheckpointId(id)) throw missing(id, "A checkpoint's id is a version 4 UUID in small letters.");
  for (const workflow of workflows)
    for await (const run of runsOf(engine, workflow)) {
      const found = isOfRun(id, run.id) ? await inRun(engine, run, id, isContinued) : undefined;
      if (found) return found;
    }
  throw missing(id, "No workflow in this store has saved it, or it was pruned.");
}

export const missing = (id: unknown, reason: string): HoldfastError =>
  new HoldfastError("HF-4560", { checkpoint: String(id).slice(0, 80), reason });

async function* runsOf(engine: Engine, workflow: string): AsyncGenerator<Run> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await engine.list({ workflow, limit: 500, ...(cursor ? { cursor } : {}) });
    yield* page.runs;
    cursor = page.cursor;
  }
}

async function inRun(
  { checkpoints }: Engine,
  run: Run,
  id: string,
  isContinued: boolean,
): Promise<Found | undefined> {
  const runId = run.id;
  const addressOf = (layer: number): string => `${runId}@${layerLabel(layer)}`;
  const read = () => (isContinued ? checkpoints.stateToContinue(runId) : checkpoints.state(runId));
  const newest = heldIn(await viewed(read, id), id);
  if (!newest) return undefined;
  if (newest.checkpoint_id === id)
    return { run, address: addressOf(newest.layers), layer: newest.layers, held: newest, isNewest: true };
  for (const layer of layersIn(id, newest.layers)) {
    const address = addressOf(layer);
    const held = await readHeld(checkpoints, address, id);
    if (held?.checkpoint_id === id) return { run, address, layer, held, isNewest: false };
  }
  return undefined;
}

/** The state at an address; `undefined` when there is none or it was dropped. Damage is HF-4561. */
export const readHeld = async (
  checkpoints: Engine["checkpoints"],
  address: string,
  id: string,
): Promise<Held | undefined> => heldIn(await viewed(() => checkpoints.state(address), id), id);

async function viewed(read: () => Promise<StateView>, id: string): Promise<StateView | undefined> {
  try {
    return await read();
  } catch (error) {
    if (["HF-1001", "HF-1022", "HF-1023"].some((code) => HoldfastError.is(error) && error.code === code))
      return undefined;
    const problem = error instanceof Error ? error.message : String(error);
    throw new HoldfastError("HF-4561", { checkpoint: id, problem }, { cause: error });
  }
}

function heldIn(view: StateView | undefined, id: string): Held | undefined {
  const state = view?.loops[LAYERS];
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
