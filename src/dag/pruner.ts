import type { CheckpointManager } from "./checkpoint-manager.ts";

/** A pruning reads the journal, so the larger a checkpoint is, the more saves share one: one more for so many bytes. */
const BYTES_A_SAVE = 5_000;

interface Saves {
  count: number;
  /** The count at which to prune next. */
  due: number;
}

/** Prunes old checkpoints on save, so seldom that all of it takes time in proportion to the size of the workflow. */
export class Pruner {
  readonly #manager: CheckpointManager;
  readonly #default: number;
  readonly #keep = new Map<string, number>();
  readonly #saves = new Map<string, Saves>();

  constructor(manager: CheckpointManager, keep: number) {
    this.#manager = manager;
    this.#default = keep;
  }

  keep(workflowId: string, count: number): void {
    this.#keep.set(workflowId, count);
  }

  /** `bytes`: the size of the checkpoint that was saved. */
  saved(workflowId: string, bytes: number): void {
    const keep = this.#keep.get(workflowId) ?? this.#default;
    const share = Math.floor(bytes / BYTES_A_SAVE);
    const saves = this.#saves.get(workflowId) ?? { count: 0, due: keep + 1 };
    this.#saves.set(workflowId, saves);
    saves.count++;
    if (saves.count < saves.due) return;
    if (saves.count >= keep + share) this.#manager.pruneSoon(workflowId, keep);
    saves.due = saves.count + Math.max(1, share);
  }

  /** The workflow is at rest: exactly as many are left as should be. */
  ended(workflowId: string): void {
    const keep = this.#keep.get(workflowId) ?? this.#default;
    if ((this.#saves.get(workflowId)?.count ?? 0) > keep) this.#manager.pruneSoon(workflowId, keep);
    this.#saves.delete(workflowId);
    this.#keep.delete(workflowId);
  }
}
