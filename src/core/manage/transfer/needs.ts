import type { EngineParts } from "../../journal/parts.ts";
import { entryPages, headEvents } from "../../journal/read.ts";
import { terminal } from "../../types.ts";
import { refusedBundle } from "./bundle.ts";
import { type CheckedRun, type Relatives, relativesOf } from "./bundle-check.ts";

/** A run that continues needs the runs it waits for, and a fork those whose calls it must not repeat. */
export class Needs {
  readonly #parts: EngineParts;
  readonly #bundle: ReadonlyMap<string, CheckedRun>;
  readonly #seen = new Set<string>();

  constructor(parts: EngineParts, bundle: ReadonlyMap<string, CheckedRun>) {
    this.#parts = parts;
    this.#bundle = bundle;
  }

  async check(runs: readonly CheckedRun[]): Promise<void> {
    for (const { row, relatives } of runs) {
      if (terminal(row.status)) continue;
      for (const child of relatives.open) await this.#find(child, `run ${row.id} waits for it`);
      if (relatives.origin !== null) await this.#whole(relatives.origin, `run ${row.id} is a fork`);
    }
  }

  /** Adds a run with everything that it started and was forked from. */
  async #whole(id: string, why: string): Promise<void> {
    if (this.#seen.has(id)) return;
    this.#seen.add(id);
    const { origin, children } = await this.#find(id, why);
    if (origin !== null) await this.#whole(origin, why);
    for (const child of children) await this.#whole(child, why);
  }

  async #find(id: string, why: string): Promise<Relatives> {
    const bundled = this.#bundle.get(id);
    if (bundled) return bundled.relatives;
    const { store } = this.#parts;
    const row = await store.read(id);
    if (!row) throw refusedBundle(`lacks run ${id} (${why}); export with children: true`);
    const events = [];
    for await (const page of entryPages(store, id, 1, row.seq))
      events.push(...page.flatMap((entry) => headEvents(id, entry)));
    return relativesOf(row.origin, events);
  }
}
