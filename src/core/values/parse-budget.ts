import { HoldfastError } from "../errors.ts";

/** Limits for reading one untrusted text. All are totals over the text and everything it refers to. */
export interface ParseLimits {
  /** UTF-16 units of text read, all files together. */
  readonly bytes: number;
  /** Keys, items and scalars. */
  readonly keys: number;
  readonly depth: number;
  /** Files read. */
  readonly reads: number;
  /** Units of work: about one for each node visited or character handled. */
  readonly work: number;
}

const DEFAULT: ParseLimits = {
  bytes: 4 * 1024 * 1024,
  keys: 50_000,
  depth: 100,
  reads: 200,
  work: 2_000_000,
};

/**
 * The remaining budget for reading one untrusted text: a workflow file and its includes, a template, a parsed model
 * answer, a bundle. The parser spends from it, and the first exceeded limit ends the parsing with HF-1040, so that no
 * text can block a process for long. Work is counted, not timed: the same text always ends at the same place.
 */
export class ParseBudget {
  readonly limits: ParseLimits;
  /** Names the text in the error: `flow.yaml`, `the answer of planner`. */
  readonly source: string;
  readonly #spent = { bytes: 0, keys: 0, reads: 0, work: 0 };
  #depth = 0;

  constructor(source: string, limits: Partial<ParseLimits> = {}) {
    this.source = source;
    this.limits = { ...DEFAULT, ...limits };
  }

  spend(kind: "bytes" | "keys" | "reads" | "work", amount = 1): void {
    this.#spent[kind] += amount;
    if (this.#spent[kind] > this.limits[kind]) throw this.#exceeded(kind);
  }

  spent(kind: "bytes" | "keys" | "reads" | "work"): number {
    return this.#spent[kind];
  }

  /** For parsers that track the depth themselves. */
  reach(depth: number): void {
    if (depth > this.limits.depth) throw this.#exceeded("depth");
  }

  /** Runs `inner` one level deeper. */
  deeper<T>(inner: () => T): T {
    this.#depth += 1;
    if (this.#depth > this.limits.depth) throw this.#exceeded("depth");
    try {
      return inner();
    } finally {
      this.#depth -= 1;
    }
  }

  #exceeded(kind: keyof ParseLimits): HoldfastError {
    return new HoldfastError("HF-1040", { source: this.source, kind, limit: this.limits[kind] });
  }
}
