/** The steps behind errors, so that resuming a failed run reopens only those. */
export class Blame {
  readonly #steps = new WeakMap<object, readonly string[]>();

  /** The steps behind an error, its cause and the errors it combines. */
  of(error: unknown): readonly string[] {
    if (typeof error !== "object" || error === null) return [];
    const own = this.#steps.get(error);
    if (own) return own;
    const { cause, errors } = error as { cause?: unknown; errors?: unknown };
    const inner = Array.isArray(errors) ? errors.flatMap((one) => this.of(one)) : [];
    return [...this.of(cause), ...inner];
  }

  put(error: unknown, steps: readonly string[]): void {
    if (typeof error === "object" && error !== null) this.#steps.set(error, steps);
  }
}
