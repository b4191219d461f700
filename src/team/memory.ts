import { HoldfastError } from "../core/errors.ts";
import { checkNamed, isPrototypeKey, MOST_IN_KEY } from "../core/names.ts";
import { platform } from "../core/platform.ts";

/** The keys that one subtask has set and deleted. */
export interface MemoryDelta {
  readonly set?: Readonly<Record<string, unknown>>;
  readonly delete?: readonly string[];
}

/**
 * An agent's working memory (L1): keyed values that survive crashes and overnight pauses. What a subtask changes is
 * saved together with its deliverable, or not at all: a failed attempt leaves no trace.
 */
export interface WorkingMemory {
  get<T = unknown>(key: string): T | undefined;
  set(key: string, value: unknown): void;
  delete(key: string): void;
  keys(): string[];
  /** All keys and values, as plain data. */
  dump(): Record<string, unknown>;
  /** Replaces everything by what `dump` returned. */
  restore(dump: Readonly<Record<string, unknown>>): void;
}

/** The values, and what has changed since the draft was opened. */
export class MemoryDraft implements WorkingMemory {
  readonly #values: Map<string, unknown>;
  readonly #changed = new Set<string>();

  constructor(values: ReadonlyMap<string, unknown> = new Map()) {
    this.#values = new Map(values);
  }

  get<T>(key: string): T | undefined {
    // A copy: a change must go through `set`, or it would not be saved.
    return platform().clone(this.#values.get(key)) as T | undefined;
  }

  keys(): string[] {
    return [...this.#values.keys()];
  }

  set(key: string, value: unknown): void {
    checkNamed("memory key", key, MOST_IN_KEY);
    if (isPrototypeKey(key)) throw new HoldfastError("HF-1005", { name: key });
    this.#values.set(key, value);
    this.#changed.add(key);
  }

  delete(key: string): void {
    if (this.#values.delete(key)) this.#changed.add(key);
  }

  dump(): Record<string, unknown> {
    return platform().clone(Object.fromEntries(this.#values));
  }

  restore(dump: Readonly<Record<string, unknown>>): void {
    for (const key of this.keys()) if (!Object.hasOwn(dump, key)) this.delete(key);
    for (const [key, value] of Object.entries(dump)) this.set(key, value);
  }

  /** What has changed; `undefined` when nothing has. */
  delta(): MemoryDelta | undefined {
    if (this.#changed.size === 0) return undefined;
    const changed = [...this.#changed];
    const set = changed.filter((key) => this.#values.has(key));
    const gone = changed.filter((key) => !this.#values.has(key));
    return {
      ...(set.length > 0 ? { set: Object.fromEntries(set.map((key) => [key, this.#values.get(key)])) } : {}),
      ...(gone.length > 0 ? { delete: gone } : {}),
    };
  }
}

export function applyDelta(values: Map<string, unknown>, delta: MemoryDelta | undefined): void {
  for (const key of delta?.delete ?? []) values.delete(key);
  for (const [key, value] of Object.entries(delta?.set ?? {})) values.set(key, value);
}
