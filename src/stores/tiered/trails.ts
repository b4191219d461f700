import type { Append, Entry } from "../../core/store/contract.ts";
import { type RunRow, terminal } from "../../core/types.ts";
import { begun, type Copy, copyOf, extended, follows } from "./copy.ts";

/** This process's knowledge of a run: a copy, or the appends it has made without one. */
interface Trail {
  readonly workflow: string;
  readonly isOver: boolean;
  readonly copy: Copy | null;
  /** Consecutive accepted appends on top of an unknown state. */
  readonly since: readonly Append[];
}

/** A journal being read from the primary page by page. */
interface Reading {
  readonly row: RunRow;
  readonly entries: readonly Entry[];
}

const MOST_SINCE = 32;

/** Tracks the runs that this process works on, within a memory limit; the least recently used goes first. */
export class Trails {
  readonly #trails = new Map<string, Trail>();
  readonly #readings = new Map<string, Reading>();
  readonly #mostSize: number;
  #size = 0;

  constructor(mostSize: number) {
    this.#mostSize = mostSize;
  }

  get(runId: string): Trail | undefined {
    return this.#trails.get(runId);
  }

  /** Called when the primary has accepted this append. */
  took(append: Append): void {
    const { id, workflow, status } = append.run;
    const before = this.#trails.get(id);
    const known = before?.copy ?? null;
    const isNext =
      before?.since.at(-1) !== undefined &&
      positionAfter(before.since.at(-1) as Append) === append.expect?.seq;
    const trail = {
      workflow: before?.workflow ?? workflow,
      isOver: terminal(status),
      copy:
        append.expect === null
          ? begun(append)
          : known?.seq === append.expect.seq
            ? extended(known, append)
            : null,
    };
    if (trail.copy) return this.#put(id, { ...trail, since: [] });
    const since = isNext && before ? [...before.since, append] : [append];
    if (since.length > MOST_SINCE) return this.lost(id);
    this.#put(id, { ...trail, since });
  }

  /** Called when another process has written, or when the outcome is unknown. */
  lost(runId: string): void {
    this.#size -= this.#trails.get(runId)?.copy?.size ?? 0;
    this.#trails.delete(runId);
    this.#readings.delete(runId);
  }

  knows(row: RunRow, copy: Copy): void {
    const { id, workflow, status } = row;
    this.#put(id, { workflow, isOver: terminal(status), copy, since: [] });
  }

  /** The copy extended by the appends made since, or `null` when they weren't made on top of it. */
  caughtUp(runId: string, copy: Copy): Copy | null {
    const since = this.#trails.get(runId)?.since ?? [];
    const first = since[0];
    if (!first || !follows(first, copy)) return null;
    return since.reduce(extended, copy);
  }

  /** True when this page continues where the run's last one ended. */
  isReading(runId: string, from: number): boolean {
    return nextOf(this.#readings.get(runId)) === from;
  }

  /** Called with a page from the primary. `row` is given for the first page, and was read before it. */
  read(runId: string, page: readonly Entry[], row?: RunRow): Copy | null {
    const reading = row ? { row, entries: page } : this.#readings.get(runId);
    this.#readings.delete(runId);
    if (!reading) return null;
    const entries = row ? page : [...reading.entries, ...page];
    const next = nextOf({ row: reading.row, entries });
    if (next === reading.row.seq + 1) {
      const copy = copyOf(reading.row, entries);
      if (copy) this.knows(reading.row, copy);
      return copy;
    }
    if (page.length > 0 && next <= reading.row.seq && this.#readings.size < MOST_SINCE)
      this.#readings.set(runId, { row: reading.row, entries });
    return null;
  }

  #put(id: string, trail: Trail): void {
    this.#size += (trail.copy?.size ?? 0) - (this.#trails.get(id)?.copy?.size ?? 0);
    this.#trails.delete(id);
    this.#trails.set(id, trail);
    for (const oldest of this.#trails.keys()) {
      if (this.#size <= this.#mostSize && this.#trails.size <= MOST_TRAILS) break;
      this.lost(oldest);
    }
  }
}

const MOST_TRAILS = 10_000;

const positionAfter = ({ entries }: Append): number => {
  const last = entries.at(-1);
  return last ? last.seq + last.count - 1 : 0;
};

const nextOf = (reading: Reading | undefined): number => {
  const last = reading?.entries.at(-1);
  return last ? last.seq + last.count : 0;
};
