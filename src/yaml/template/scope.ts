import { Missing, type Plain } from "./value.ts";

/** The names defined at some point of a template. */
export class Scope {
  readonly names = new Map<string, unknown>();
  readonly #outer: Scope | Plain;

  constructor(outer: Scope | Plain) {
    this.#outer = outer;
  }

  find(name: string): unknown {
    if (this.names.has(name)) return this.names.get(name);
    if (this.#outer instanceof Scope) return this.#outer.find(name);
    if (!Object.hasOwn(this.#outer, name)) return new Missing(name, Object.keys(this.#outer));
    return this.#outer[name] ?? null;
  }
}
