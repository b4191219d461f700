import { fit, width } from "../format.ts";
import type { Sink } from "../host.ts";

const UP = (lines: number): string => (lines === 0 ? "\r" : `\u001b[${lines}A\r`);
const ERASE_DOWN = "\u001b[J";
const HIDE = "\u001b[?25l";
const SHOW = "\u001b[?25h";

/**
 * A few lines at the bottom of the terminal that are redrawn in place. Everything printed meanwhile goes above it and
 * stays: no alternate screen is used, so selection and scroll-back work. No line may be as wide as the terminal, or the
 * line count would be wrong.
 */
export class LiveBlock {
  readonly #sink: Sink;
  #lines: readonly string[] = [];
  #height = 0;
  #widest = 0;
  #hidden = false;
  readonly #offResize: () => void;

  constructor(sink: Sink) {
    this.#sink = sink;
    this.#offResize = sink.onResize(() => {
      // After a resize, some terminals wrap long lines and others cut them, so the start of the block is unknown: it is
      // left, and redrawn below.
      if (this.#widest >= sink.columns) this.#height = 0;
      this.draw(this.#lines);
    });
  }

  draw(lines: readonly string[]): void {
    this.#lines = lines;
    const shown = lines.map((line) => fit(line.replaceAll("\n", " "), Math.max(1, this.#sink.columns - 1)));
    const cursor = this.#hidden ? "" : HIDE;
    this.#hidden = true;
    this.#sink.write(shown.map((line) => `${line}\n`).join(""), `${cursor}${this.#erased()}`);
    this.#height = shown.length;
    this.#widest = Math.max(0, ...shown.map(width));
  }

  /** Prints above the block, for good. */
  print(text: string): void {
    this.#sink.write(text, this.#erased());
    this.#height = 0;
    this.draw(this.#lines);
  }

  /** Removes the block. */
  end(): void {
    this.#sink.write("", `${this.#erased()}${this.#hidden ? SHOW : ""}`);
    this.#height = 0;
    this.#hidden = false;
    this.#lines = [];
    this.#offResize();
  }

  #erased(): string {
    return this.#height === 0 ? "" : `${UP(this.#height)}${ERASE_DOWN}`;
  }
}
