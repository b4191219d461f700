import { detached } from "../detached.ts";
import type { Execution } from "../run/execution.ts";
import type { ExecutionDeps } from "../run/execution-deps.ts";

/** With every renewal a worker reads what others have written, so that a tool learns of a cancel within 2 s. */
const HEAR_MS = 1_500;

/** Renews the claims of the runs that are advanced here, on a timer of its own. */
export class Renewals {
  readonly #deps: ExecutionDeps;
  readonly #running: () => readonly Execution[];
  readonly #before: () => void;
  #cancel: (() => void) | null = null;
  /** Those whose renewal is on its way. */
  readonly #asked = new Set<Execution>();

  constructor(deps: ExecutionDeps, running: () => readonly Execution[], before: () => void) {
    this.#deps = deps;
    this.#running = running;
    this.#before = before;
  }

  /** Renews in a while, and again until no run is left. */
  later(): void {
    if (this.#cancel || this.#running().length === 0) return;
    const { ports, settings } = this.#deps;
    const renew = (): void => {
      this.#cancel = null;
      this.#before();
      for (const group of this.#groups()) {
        const renewed = this.#renew(group).finally(() => this.later());
        detached(renewed, ports.logger, "renewing claims");
      }
    };
    const ms = Math.min(settings.claimMs / 3, HEAR_MS);
    this.#cancel = ports.clock.setTimer(renew, ms, { upkeep: true });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  /** What is renewed together. Where runs are independent, one that doesn't answer must not cost the others their claims. */
  #groups(): readonly (readonly Execution[])[] {
    const held = this.#running().filter(
      (one) => !one.closed && !one.writer.isUnborn && !this.#asked.has(one),
    );
    return this.#deps.store.capabilities.independent === true ? held.map((one) => [one]) : [held];
  }

  async #renew(held: readonly Execution[]): Promise<void> {
    const { store, settings, ports } = this.#deps;
    for (const one of held) this.#asked.add(one);
    const sentAt = ports.clock.monotonic();
    try {
      const rows = await store.renew(
        held.map(({ runId, writer }) => ({
          runId,
          epoch: writer.row.claim.epoch,
          token: writer.row.claim.token as string,
          ttlMs: settings.claimMs,
        })),
      );
      held.forEach((execution, index) => {
        const row = rows[index];
        if (!row || row.damage !== undefined) return execution.fence();
        execution.writer.deadline = Math.max(execution.writer.deadline, sentAt + settings.claimMs);
        execution.rearm();
        // Reported at once: a transaction in progress, for example, may keep it from reading more.
        if (row.seq <= execution.writer.row.seq) return;
        if (row.control === "compensating" && !execution.compensating) execution.aborts.stopCalls(row.id);
        execution.writer.hear();
      });
    } catch (error) {
      ports.logger.warn("claims could not be renewed", { error: String(error) });
    } finally {
      for (const one of held) this.#asked.delete(one);
    }
  }
}
