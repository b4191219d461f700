import type { Told } from "./told.ts";

const MOST = 10_000;

/** The last events of all runs, for readers that come back soon. */
export class Recent {
  readonly #told: Told[] = [];
  readonly #numbers = new Map<string, number>();
  #count = 0;

  /** How many there were so far. */
  get count(): number {
    return this.#count;
  }

  keep(told: readonly Told[]): void {
    for (const one of told) {
      this.#numbers.set(one.id, ++this.#count);
      this.#told.push(one);
    }
    const old = this.#told.splice(0, Math.max(0, this.#told.length - MOST));
    for (const { id } of old) this.#numbers.delete(id);
  }

  clear(): void {
    this.#told.length = 0;
    this.#numbers.clear();
  }

  /** What came after an event; `undefined` when it isn't remembered. */
  after(id: string): readonly Told[] | undefined {
    const number = this.#numbers.get(id);
    return number === undefined ? undefined : this.since(number);
  }

  /** What came after so many; `undefined` when not all of that is remembered. */
  since(count: number): readonly Told[] | undefined {
    const missing = this.#count - count;
    if (missing > this.#told.length) return undefined;
    return missing === 0 ? [] : this.#told.slice(-missing);
  }
}
