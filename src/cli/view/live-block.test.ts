/* oxlint-disable no-control-regex -- what is written to a terminal is what this is about */
import { describe, expect, it } from "vitest";
import { LiveBlock } from "./live-block.ts";

/** A terminal of so many columns that understands what the block writes; lines longer than it are broken as terminals do. */
class Screen {
  columns = 40;
  readonly isTTY = true;
  readonly isGone = false;
  lines: string[] = [""];
  #row = 0;
  #resized = (): void => undefined;

  onResize(listener: () => void): () => void {
    this.#resized = listener;
    return () => undefined;
  }

  resize(columns: number): void {
    this.columns = columns;
    this.#resized();
  }

  write(text: string, control = ""): void {
    for (const part of (control + text).split(/(\u001b\[\??\d*[A-Za-z]|\n|\r)/)) this.#take(part);
  }

  #take(part: string): void {
    const up = /^\u001b\[(\d+)A$/.exec(part)?.[1];
    if (up !== undefined) this.#row -= Number(up);
    else if (part === "\u001b[J") this.lines = [...this.lines.slice(0, this.#row), ""];
    else if (part === "\n") this.lines[++this.#row] ??= "";
    else if (!/^\u001b|^\r/.test(part) && part !== "") {
      this.lines[this.#row] = part;
      if (part.length >= this.columns) throw new Error(`a line of ${part.length} would be broken`);
    }
  }

  text(): string[] {
    return this.lines.filter((line) => line !== "");
  }
}

describe("the live block", () => {
  it("is drawn anew in place, and what is printed stays above it", () => {
    const screen = new Screen();
    const block = new LiveBlock(screen);
    block.draw(["▶ flow", "  ● one"]);
    block.draw(["▶ flow", "  ● one", "  ● two"]);
    block.print("✓ one\n");
    block.draw(["▶ flow", "  ● two"]);
    expect(screen.text()).toEqual(["✓ one", "▶ flow", "  ● two"]);
    block.end();
    expect(screen.text()).toEqual(["✓ one"]);
  });

  it("never fills a line, so that the terminal breaks none", () => {
    const screen = new Screen();
    const block = new LiveBlock(screen);
    block.draw(["x".repeat(200), "東京".repeat(60)]);
    expect(screen.text().map((line) => line.at(-1))).toEqual(["…", "…"]);
    screen.resize(25);
    expect(screen.text().at(-2)).toHaveLength(24);
  });

  it("stays in its place when the terminal is made wider, or narrower than it needs", () => {
    const screen = new Screen();
    const block = new LiveBlock(screen);
    block.draw(["▶ flow", "  ● one"]);
    screen.resize(80);
    screen.resize(30);
    expect(screen.text()).toEqual(["▶ flow", "  ● one"]);
  });

  it("hides the cursor while it is there, and gives it back", () => {
    const written: string[] = [];
    const sink = {
      write: (text: string, control = "") => void written.push(control + text),
      isTTY: true,
      columns: 80,
      isGone: false,
      onResize: () => () => undefined,
    };
    const block = new LiveBlock(sink);
    block.draw(["a"]);
    block.end();
    expect(written.join("")).toMatch(/^\u001b\[\?25l[^]*\u001b\[\?25h$/);
  });
});
