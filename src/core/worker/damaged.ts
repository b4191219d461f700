import type { HoldfastError } from "../errors.ts";
import type { Acts } from "../journal/acts.ts";
import { verified } from "../journal/door.ts";
import { damaged } from "../journal/journal.ts";
import { forReview, reasonOf } from "../journal/wait-reason.ts";
import type { ExecutionDeps } from "../run/execution-deps.ts";
import type { RunRow, Waiting } from "../types.ts";
import type { WorkerDeps } from "./worker-deps.ts";

interface DamagedDeps extends Pick<WorkerDeps, "unrestorable"> {
  readonly acts: Acts;
  readonly execution: Pick<ExecutionDeps, "store" | "ports" | "time" | "engine">;
}

/**
 * Due runs whose record doesn't verify. Nothing is written to them: they are left for a person. A run that waits for
 * one of them waits for review too.
 */
export class DamagedRuns {
  readonly #deps: DamagedDeps;
  readonly #known = new Set<string>();

  constructor(deps: DamagedDeps) {
    this.#deps = deps;
  }

  /** True when a due run may be taken. */
  async isSound(row: RunRow): Promise<boolean> {
    const { damage, ...now } = await verified(this.#deps.execution.store, row);
    if (damage !== undefined) await this.meet(row, damaged(row.id, row.seq, damage));
    else this.#known.delete(row.id);
    return damage === undefined && now.seq === row.seq;
  }

  /** Reports it once, and tells the run that started it. */
  async meet(row: RunRow, problem: HoldfastError): Promise<void> {
    const { logger } = this.#deps.execution.ports;
    // The damaged run may be its parent.
    const damagedRun = String(problem.detail["run"] ?? row.id);
    const isNew = !this.#known.has(damagedRun);
    this.#known.add(damagedRun);
    if (isNew) logger.error(problem.message, { runId: row.id, why: problem.why });
    if (isNew && damagedRun === row.id) await this.#deps.unrestorable(row, problem);
    if (row.parent) await this.#review(row.parent.runId, row.id, problem);
  }

  async #review(parentId: string, child: string, problem: HoldfastError): Promise<void> {
    const { acts, execution } = this.#deps;
    const isIt = (wait: Waiting): boolean => wait.kind === "child" && reasonOf(wait).child === child;
    const { row, events } = await acts.act(parentId, ({ status, waiting }) => {
      if (status !== "waiting" || !waiting.some(isIt)) return null;
      const left = waiting.filter((wait) => !isIt(wait));
      const meta = { waiting: [...left, forReview(problem, execution.time.now())] };
      return { events: [{ kind: "run_waiting", step: "", meta }], actor: "worker" };
    });
    if (events.length > 0) execution.engine.durable(row, events);
  }
}
