import type { Logger } from "../../core/logger.ts";

/** Keeps texts for a while, may lose them at any time, and may fail. */
export interface Cache {
  get(key: string): Promise<string | null>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
  close(): Promise<void>;
}

export interface Patience {
  /** How long to wait for an answer. */
  readonly patienceMs: number;
  readonly logger: Pick<Logger, "warn">;
}

const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;

/**
 * A cache that never fails and never makes its caller wait long: after an error it isn't used for a while, which grows
 * as errors continue.
 */
export class PatientCache {
  readonly #cache: Cache;
  readonly #options: Patience;
  #restMs = 0;
  #restsUntil = 0;

  constructor(cache: Cache, options: Patience) {
    this.#cache = cache;
    this.#options = options;
  }

  get isResting(): boolean {
    return performance.now() < this.#restsUntil;
  }

  /** Ends a rest: the next call tries the cache again. */
  wake(): void {
    this.#restsUntil = 0;
  }

  get(key: string): Promise<string | null> {
    return this.#attempt(() => this.#cache.get(key), null);
  }

  /** Returns true when the value was stored. */
  set(key: string, value: string, ttlMs: number): Promise<boolean> {
    return this.#attempt(async () => {
      await this.#cache.set(key, value, ttlMs);
      return true;
    }, false);
  }

  /** Overwrites the value with an empty one that expires soon. */
  remove(key: string): Promise<boolean> {
    return this.set(key, "", 1);
  }

  async close(): Promise<void> {
    try {
      await this.#cache.close();
    } catch {
      // Nothing depends on this.
    }
  }

  async #attempt<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
    if (this.isResting) return otherwise;
    try {
      const value = await within(work(), this.#options.patienceMs);
      this.#restMs = 0;
      return value;
    } catch (error) {
      if (!this.isResting) this.#rest(error);
      return otherwise;
    }
  }

  #rest(error: unknown): void {
    const wasWell = this.#restMs === 0;
    this.#restMs = wasWell ? FIRST_REST_MS : Math.min(LONGEST_REST_MS, this.#restMs * 2);
    this.#restsUntil = performance.now() + this.#restMs;
    const message = error instanceof Error ? error.message : String(error);
    if (wasWell)
      this.#options.logger.warn("the cache isn't used: the store continues without it", { message });
  }
}

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
