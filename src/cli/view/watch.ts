import type { Host } from "../host.ts";

/** A pause between two checks, which Ctrl-C ends early, and which isn't made for a reader that has gone. */
export class Patience {
  #isOver = false;
  #wake: () => void = () => undefined;
  readonly #host: Host;
  readonly #off: () => void;

  constructor(host: Host) {
    this.#host = host;
    this.#off = host.onSignal(() => {
      this.#isOver = true;
      this.#wake();
    });
  }

  /** Returns whether to continue. */
  async rest(ms: number): Promise<boolean> {
    if (this.#host.stdout.isGone) return false;
    if (!this.#isOver)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    return !this.#isOver && !this.#host.stdout.isGone;
  }

  end(): void {
    this.#off();
  }
}

/** Repeats `look` until it says that there is nothing more to see, or the user presses Ctrl-C. */
export async function watching(host: Host, everyMs: number, look: () => Promise<boolean>): Promise<void> {
  const patience = new Patience(host);
  try {
    while ((await look()) && (await patience.rest(everyMs)));
  } finally {
    patience.end();
  }
}
