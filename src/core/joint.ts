/**
 * One question for all who ask at the same time. Whoever asks while an answer is on its way gets the next one, which is
 * asked for afterwards: an answer is never older than the question.
 */
export class Joint<T> {
  readonly #ask: () => Promise<T>;
  #current: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(ask: () => Promise<T>) {
    this.#ask = ask;
  }

  ask(): Promise<T> {
    if (!this.#current) return this.#begin();
    this.#next ??= this.#current.then(
      () => this.#begin(),
      () => this.#begin(),
    );
    return this.#next;
  }

  #begin(): Promise<T> {
    this.#next = undefined;
    const answer = this.#ask();
    this.#current = answer;
    const over = (): void => {
      if (this.#current === answer) this.#current = undefined;
    };
    answer.then(over, over);
    return answer;
  }
}
