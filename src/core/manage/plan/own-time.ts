import { outerOf } from "../../keys.ts";

/** The durations of steps without those of the steps inside them, which were counted when they ended. */
export class OwnTime {
  readonly #inside = new Map<string, number>();

  /** Must be called for each step when it has ended, in the order of the journal. */
  of(step: string, ms: number): number {
    const inside = this.#inside.get(step) ?? 0;
    this.#inside.delete(step);
    const outer = outerOf(step);
    if (outer !== "") this.#inside.set(outer, (this.#inside.get(outer) ?? 0) + ms);
    return Math.max(0, ms - inside);
  }
}
