import type { CheckpointManager } from "./checkpoint-manager.ts";

/** So many saves are each followed by a pruning. After that it comes ever less often: it reads the whole journal. */
const EACH_UP_TO = 64;

interface Saves {
  count: number;
  /** The count at which to prune next. */
  due: number;
}

/** Prunes old checkpoints on save, so seldom that all of it takes time in proportion to the number of layers. */
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

  saved(workflowId: string): void {
    const saves = this.#saves.get(workflowId) ?? { count: 0, due: 0 };
    this.#saves.set(workflowId, saves);
    saves.count++;
    const keep = this.#keep.get(workflowId) ?? this.#default;
    if (saves.count <= keep || saves.count < saves.due) return;
    if (saves.count >= EACH_UP_TO) saves.due = Math.ceil(saves.count * 1.25);
    this.#manager.pruneSoon(workflowId, keep);
  }

  ended(workflowId: string): void {
    const keep = this.#keep.get(workflowId) ?? this.#default;
    if ((this.#saves.get(workflowId)?.count ?? 0) > keep) this.#manager.pruneSoon(workflowId, keep);
    this.#saves.delete(workflowId);
    this.#keep.delete(workflowId);
  }
}
