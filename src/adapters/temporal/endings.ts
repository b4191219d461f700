import type { News } from "../../core/store/contract.ts";
import type { Link } from "./link.ts";

/** The number of runs whose end is waited for at once. */
const MOST_AWAITED = 200;

/** How long waits go on when nobody listens: whoever waits for a run leaves and comes back with each look. */
const IDLE_MS = 5_000;

/** How long a run is left alone whose wait has failed. A run that has failed ends its wait like that, too. */
const REST_MS = 1_000;

/** Tells at once that a run has ended which somebody waits for: the server answers then, and isn't asked until then. */
export class Endings {
  readonly #link: Pick<Link, "untilEnded">;
  readonly #listeners = new Set<(news: News) => void>();
  readonly #awaited = new Map<string, AbortController>();
  readonly #waits = new Set<AbortController>();
  #isClosed = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(link: Pick<Link, "untilEnded">) {
    this.#link = link;
  }

  hear(listener: (news: News) => void): () => void {
    clearTimeout(this.#idle);
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#idle = setTimeout(() => this.stop(), IDLE_MS).unref();
    };
  }

  /** Called for a run that is under way. */
  await(runId: string): void {
    if (this.#listeners.size === 0 || this.#awaited.has(runId) || this.#awaited.size >= MOST_AWAITED) return;
    const stopped = new AbortController();
    this.#awaited.set(runId, stopped);
    this.#link.untilEnded(runId, stopped.signal).then(
      () => this.#tell(runId, stopped.signal, 0),
      () => this.#tell(runId, stopped.signal, REST_MS),
    );
  }

  /** Resolves when the run has ended, or when the server can't say so: whoever waits then looks for itself. */
  async ended(runId: string): Promise<void> {
    if (this.#isClosed || this.#waits.size >= MOST_AWAITED) return;
    const stopped = new AbortController();
    this.#waits.add(stopped);
    try {
      await this.#link.untilEnded(runId, stopped.signal);
    } catch {
      // It failed, which is an end, too; or it isn't there, or the server isn't.
    } finally {
      this.#waits.delete(stopped);
    }
  }

  #tell(runId: string, { aborted }: AbortSignal, restMs: number): void {
    if (aborted) return;
    const own = this.#awaited.get(runId);
    const forget = (): void => {
      if (this.#awaited.get(runId) === own) this.#awaited.delete(runId);
    };
    if (restMs === 0) forget();
    else setTimeout(forget, restMs).unref();
    // Whoever waits also looks, so a wait that breaks off costs a moment and nothing else.
    for (const listener of this.#listeners) listener({ runs: [runId], isDue: false });
  }

  stop(): void {
    clearTimeout(this.#idle);
    for (const one of this.#awaited.values()) one.abort();
    this.#awaited.clear();
  }

  close(): void {
    this.#isClosed = true;
    this.stop();
    for (const one of this.#waits) one.abort();
  }
}
