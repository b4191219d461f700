import { checkKeys, checkMethod, checkText, checkWhole } from "../core/check-options.ts";
import type { Engine } from "../core/engine/engine.ts";
import { HoldfastError } from "../core/errors.ts";
import { BY_HAND } from "../core/outside-workflows.ts";
import { isLayerLabel, layerLabel } from "./checkpoint-id.ts";
import { fullConfig } from "./config.ts";
import { remainingLayers, validateDag } from "./graph.ts";
import { findCheckpointById, readHeld, stateProblem } from "./restore.ts";
import { SAVE, type Save, savedByHand } from "./saved-by-hand.ts";
import { stateOf, type Writable } from "./state.ts";
import type { DAGStructure, ExecutionConfig, WorkflowState } from "./types.ts";

/** A checkpoint with everything that a resume needs. */
export interface WorkflowCheckpoint {
  readonly id: string;
  readonly workflow_id: string;
  /** Epoch milliseconds. */
  readonly timestamp: number;
  /** The number of finished layers: the index of the layer to go on with. */
  readonly layer_index: number;
  readonly state: WorkflowState;
  readonly dag_structure: DAGStructure;
  readonly execution_config: ExecutionConfig;
}

/** Options of a checkpoint manager. */
export interface CheckpointManagerOptions {
  /** The id under which `saveCheckpoint` groups what it saves. Default: a new one. */
  readonly workflowId?: string;
  /** Saved with each checkpoint. */
  readonly config?: ExecutionConfig;
  /** The names of the workflows whose checkpoints are found by id. Default `dag`. */
  readonly workflows?: readonly string[];
}

/**
 * Saves, loads, lists and prunes the checkpoints of DAGs. A checkpoint that was saved by hand is kept in the same way
 * as those of an executor: an event of a run's journal, and in the same transaction a row of `workflow_checkpoints`.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { CheckpointManager, type DAGStructure, emptyState, reduceState } from "holdfast/dag";
 * import { openPgliteStore } from "holdfast/stores/pglite";
 *
 * const engine = createEngine({ store: await openPgliteStore({ folder: "./runs" }) });
 * const manager = new CheckpointManager(engine, { workflowId: "report-7" });
 * const dag: DAGStructure = { tasks: [{ id: "search", tool: "web" }] };
 * const state = reduceState(emptyState(), { context: { topic: "tides" } });
 * const id = await manager.saveCheckpoint(state, dag, 1);
 * console.log((await manager.load(id)).state.context);
 * ```
 */
export class CheckpointManager {
  readonly #engine: Engine;
  readonly #config: ExecutionConfig;
  readonly #workflows: readonly string[];
  readonly #waiting = new Map<string, (checkpointId: string) => void>();
  readonly #workflow = savedByHand((_, checkpointId, save) => this.#waiting.get(save)?.(checkpointId));
  readonly #pruning = new Map<string, Pruning>();
  #workflowId: string | undefined;

  constructor(engine: Engine, options: CheckpointManagerOptions = {}) {
    checkMethod("engine", engine, "register");
    checkKeys(options, ["workflowId", "config", "workflows"]);
    if (options.workflowId !== undefined) checkText("workflowId", options.workflowId, 1);
    this.#engine = engine;
    this.#config = fullConfig(options.config);
    this.#workflowId = options.workflowId;
    this.#workflows = [...(options.workflows ?? ["dag"]), BY_HAND];
    engine.register(this.#workflow);
  }

  /**
   * Saves a state, and sets its `checkpoint_id`. Resolves with the id when the checkpoint is durable. Older checkpoints
   * beyond the newest five (`keepCheckpoints`) are pruned meanwhile.
   */
  async saveCheckpoint(state: WorkflowState, dag: DAGStructure, layerIndex: number): Promise<string> {
    const problem = stateProblem(state);
    if (problem !== undefined) throw new HoldfastError("HF-4562", { problem });
    validateDag(dag);
    checkWhole("layerIndex", layerIndex, 0);
    const config = fullConfig(this.#config);
    const run = await this.#engine.start(
      this.#workflow,
      undefined,
      this.#workflowId ? { id: this.#workflowId } : {},
    );
    this.#workflowId = run.id;
    const id = globalThis.crypto.randomUUID();
    const save: Save = { id, state: stateOf(state), dag, layerIndex, config };
    const saved = new Promise<string>((resolve) => this.#waiting.set(id, resolve));
    try {
      await this.#engine.signal(run.id, SAVE, save, { id });
      const checkpoint = await saved;
      (state as Writable).checkpoint_id = checkpoint;
      this.pruneSoon(run.id, config.keepCheckpoints);
      return checkpoint;
    } finally {
      this.#waiting.delete(id);
    }
  }

  /** Throws HF-4560 when there is no such checkpoint, and HF-4561 when its state can't be used. */
  async load(checkpointId: string): Promise<WorkflowCheckpoint> {
    const { run, held, layer } = await findCheckpointById(this.#engine, this.#workflows, checkpointId);
    const items = await this.#engine.checkpoints.list(run.id, { limit: 1_000 });
    const at = items.find(({ labels }) => labels.includes(layerLabel(layer)))?.at;
    return {
      id: checkpointId,
      workflow_id: run.id,
      timestamp: at ?? 0,
      layer_index: layer,
      state: stateOf(held),
      dag_structure: held.dag,
      execution_config: held.config,
    };
  }

  /** The checkpoints of a workflow that can be resumed from, newest first. */
  async list(
    workflowId: string,
  ): Promise<readonly Omit<WorkflowCheckpoint, "state" | "dag_structure" | "execution_config">[]> {
    const items = await this.#engine.checkpoints.list(workflowId, { limit: 1_000 });
    const found = [];
    for (const { id: address, at, labels } of items) {
      const held = labels.some(isLayerLabel)
        ? await readHeld(this.#engine.checkpoints, address, address)
        : undefined;
      if (!held?.checkpoint_id) continue;
      found.push({
        id: held.checkpoint_id,
        workflow_id: workflowId,
        timestamp: at,
        layer_index: held.layers,
      });
    }
    return found;
  }

  /**
   * Drops all checkpoints of a workflow but the newest ones: their values and their rows. Exactly so many are left once
   * the workflow is at rest; while it goes on, there may be a few more.
   */
  async pruneOldCheckpoints(workflowId: string, keepCount = 5): Promise<void> {
    checkWhole("keepCount", keepCount);
    const keepLast = (await this.#isMoving(workflowId))
      ? keepCount + (await this.#besides(workflowId))
      : await this.#unitsBack(workflowId, keepCount);
    if (keepLast !== undefined) await this.#engine.retention.prune({ keepLast }, { run: workflowId });
  }

  async #isMoving(workflowId: string): Promise<boolean> {
    const run = await this.#engine.get(workflowId);
    return run?.workflow !== BY_HAND && (run?.status === "running" || run?.status === "queued");
  }

  /**
   * The most checkpoints that a run may have besides those of its layers, while it goes on: the tasks of the layer under
   * way, its decisions, and a failure or a pause. Counted generously, because the run moves on meanwhile.
   */
  async #besides(workflowId: string): Promise<number> {
    const held = await readHeld(this.#engine.checkpoints, workflowId, workflowId);
    const widths = held ? remainingLayers(held.dag, []).map((layer) => layer.length) : [];
    return widths.reduce((most, width) => Math.max(most, width), 1) + 4;
  }

  /** How many checkpoints back the oldest layer to keep is; `undefined` when there are no more of them. */
  async #unitsBack(workflowId: string, keepCount: number): Promise<number | undefined> {
    const items = await this.#engine.checkpoints.list(workflowId, { limit: 1_000 });
    const layers = items.flatMap(({ labels }, index) => (labels.some(isLayerLabel) ? [index + 1] : []));
    return layers.length > keepCount ? layers[keepCount - 1] : undefined;
  }

  /** Prunes without anybody waiting for it. Asked for while one is under way, it prunes once more after that. */
  pruneSoon(workflowId: string, keepCount: number): void {
    const underWay = this.#pruning.get(workflowId);
    if (underWay) {
      underWay.again = true;
      return;
    }
    const pruning: Pruning = { again: false, done: Promise.resolve() };
    this.#pruning.set(workflowId, pruning);
    pruning.done = this.#prune(workflowId, keepCount, pruning);
  }

  async #prune(workflowId: string, keepCount: number, pruning: Pruning): Promise<void> {
    do {
      pruning.again = false;
      // What fails now is done by the next save.
      await this.pruneOldCheckpoints(workflowId, keepCount).catch(() => undefined);
    } while (pruning.again);
    this.#pruning.delete(workflowId);
  }

  /** Resolves when no pruning is under way. */
  async settled(): Promise<void> {
    await Promise.all([...this.#pruning.values()].map(({ done }) => done));
  }
}

interface Pruning {
  again: boolean;
  done: Promise<void>;
}
