import path from "node:path";
import type { RunRow } from "../../core/types.ts";
import { type Disk, ifThere } from "../disk.ts";
import type { Layout } from "./layout.ts";
import { formatCopy } from "./run-folder.ts";

/**
 * Keeps each run's `run.json` up to date for people, a moment after its records, with one copy for many appends. The
 * copy isn't synced, and a failure to write it is ignored.
 */
export class Copies {
  readonly #disk: Disk;
  readonly #layout: Layout;
  readonly #delayMs: number;
  readonly #old = new Map<string, RunRow>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(disk: Disk, layout: Layout, delayMs: number) {
    this.#disk = disk;
    this.#layout = layout;
    this.#delayMs = delayMs;
  }

  mark(row: RunRow): void {
    this.#old.set(row.id, row);
    // The timer doesn't keep the process alive. A copy that isn't written now is written when the store is next opened.
    const flush = (): void => {
      this.flush().catch(() => undefined);
    };
    this.#timer ??= setTimeout(flush, this.#delayMs).unref();
  }

  /** Resolves when nothing more is written for this run. */
  forget(runId: string): Promise<void> {
    this.#old.delete(runId);
    return this.#writing;
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const rows = [...this.#old.values()];
    this.#old.clear();
    this.#writing = this.#writing.then(async () => {
      for (const row of rows) await this.#write(row);
    });
    return this.#writing;
  }

  async #write(row: RunRow): Promise<void> {
    const draft = this.#layout.temporary();
    try {
      const file = await this.#disk.create(draft, formatCopy(row));
      await file.close();
      await this.#disk.rename(draft, path.join(this.#layout.run(row.id), "run.json"));
    } catch {
      await ifThere(this.#disk.unlink(draft)).catch(() => undefined);
    }
  }
}
