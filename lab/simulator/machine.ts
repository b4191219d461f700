import type { Clock } from "../../src/core/clock.ts";
import type { Store } from "../../src/core/store/contract.ts";

interface Held {
  readonly go: () => void;
  cancelled: boolean;
}

/**
 * A simulated process. Everything that leaves or enters it passes through here, so that it can be killed (nothing
 * happens in it any more) or frozen (everything waits, then happens at once), and its wall clock can be wrong.
 */
export class Machine {
  readonly name: string;
  readonly clock: Clock;
  /** How far its wall clock is off. */
  skewMs = 0;
  #dead = false;
  #frozen: Held[] | null = null;
  readonly #root: Clock;
  readonly #timers = new Set<() => void>();

  constructor(root: Clock, name: string) {
    this.#root = root;
    this.name = name;
    this.clock = {
      now: () => root.now() + this.skewMs,
      monotonic: () => root.monotonic(),
      setTimer: (callback, ms) => this.#setTimer(callback, ms),
      defer: (callback) => root.defer(() => this.#enter({ go: callback, cancelled: false })),
    };
  }

  get dead(): boolean {
    return this.#dead;
  }

  get frozen(): boolean {
    return this.#frozen !== null;
  }

  /** Resolves when the process may continue: at once, after a thaw, or never. */
  alive(): Promise<void> {
    if (!this.#dead && !this.#frozen) return Promise.resolve();
    return new Promise((resolve) => this.#enter({ go: resolve, cancelled: false }));
  }

  /** Lets time pass inside the process. */
  pause(ms: number): Promise<void> {
    return ms === 0 ? this.alive() : new Promise((resolve) => void this.clock.setTimer(resolve, ms));
  }

  kill(): void {
    this.#dead = true;
    this.#frozen = null;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }

  freeze(): void {
    if (!this.#dead) this.#frozen ??= [];
  }

  thaw(): void {
    const held = this.#frozen ?? [];
    this.#frozen = null;
    for (const one of held) this.#root.setTimer(() => this.#enter(one), 0);
  }

  #enter(one: Held): void {
    if (this.#dead || one.cancelled) return;
    if (this.#frozen) this.#frozen.push(one);
    else one.go();
  }

  #setTimer(callback: () => void, ms: number): () => void {
    const held: Held = { go: callback, cancelled: false };
    const stop = this.#root.setTimer(() => {
      this.#timers.delete(stop);
      this.#enter(held);
    }, ms);
    this.#timers.add(stop);
    return () => {
      held.cancelled = true;
      this.#timers.delete(stop);
      stop();
    };
  }
}

/** The store as seen by the machine: a dead one neither sends nor receives, a frozen one does so later. */
export function reach(store: Store, machine: Machine): Store {
  const through = async <T>(call: () => Promise<T>): Promise<T> => {
    await machine.alive();
    try {
      return await call();
    } finally {
      await machine.alive();
    }
  };
  const transact = store.transaction?.bind(store);
  const transaction: Store["transaction"] | undefined =
    transact && ((work, append) => through(() => transact(work, append)));
  return {
    name: store.name,
    capabilities: store.capabilities,
    identity: () => through(() => store.identity()),
    now: () => through(() => store.now()),
    append: (batch) => through(() => store.append(batch)),
    renew: (batch) => through(() => store.renew(batch)),
    read: (runId) => through(() => store.read(runId)),
    entries: (runId, range) => through(() => store.entries(runId, range)),
    blobs: (runId, hashes) => through(() => store.blobs(runId, hashes)),
    list: (query) => through(() => store.list(query)),
    due: (query) => through(() => store.due(query)),
    ...(transaction ? { transaction } : {}),
    close: () => Promise.resolve(),
  };
}
