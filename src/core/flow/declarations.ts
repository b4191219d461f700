/** What code declares is written before anything is read, once, whoever asks first. What fails is tried again. */
export class Declarations<T> {
  readonly #write: (name: string, definition: T) => Promise<void>;
  readonly #open: (readonly [string, T])[] = [];
  #writing: Promise<void> | undefined;

  constructor(write: (name: string, definition: T) => Promise<void>) {
    this.#write = write;
  }

  add(name: string, definition: T): void {
    this.#open.push([name, definition]);
  }

  async written(): Promise<void> {
    if (this.#open.length === 0) return;
    this.#writing ??= this.#all().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  async #all(): Promise<void> {
    for (let next = this.#open[0]; next; next = this.#open[0]) {
      await this.#write(...next);
      this.#open.shift();
    }
  }
}
