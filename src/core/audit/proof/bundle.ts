import { type NotedHead, parseHead } from "./checkpoint.ts";
import { type Anchor, type AuditProblem, LogCheck } from "./log-check.ts";
import type { NoteKey } from "./note.ts";
import { type AuditVerification, conclude } from "./result.ts";
import { RunCheck } from "./run-check.ts";

/**
 * An audit bundle: JSON Lines, in this order.
 *
 *   {"format":"holdfast-audit-1","origin":…,"at":…,"journals":"none" | "heads" | "full"}
 *   {"sth":"<note>"}                            every signed tree head of the store, smallest first
 *   {"leaf":"<text>"}                           every leaf, in order; its hash is that of exactly this text
 *   {"run":…,"created":…,"seq":…,"head":…}      a run, followed by
 *   {"seq":…,"count":…,"entry":"<head>","data":…}   its entries, in order; `data` only with full journals
 *   {"end":{"leaves":…,"runs":…,"entries":…}}
 */
export const BUNDLE_FORMAT = "holdfast-audit-1";

interface Line {
  readonly format?: string;
  readonly journals?: "none" | "heads" | "full";
  readonly sth?: string;
  readonly leaf?: string;
  readonly run?: string;
  readonly created?: number;
  readonly seq?: number;
  readonly head?: string;
  readonly count?: number;
  readonly entry?: string;
  readonly data?: string | null;
  readonly end?: { readonly leaves: number; readonly runs: number; readonly entries: number };
}

export interface BundleOptions {
  readonly keys: readonly NoteKey[];
  readonly anchors: readonly Anchor[];
}

/** Verifies a bundle line by line. */
export class BundleCheck {
  readonly #options: BundleOptions;
  readonly #problems: AuditProblem[] = [];
  readonly #heads: NotedHead[] = [];
  #line = 0;
  #journals: Line["journals"] = "none";
  #log: LogCheck | null = null;
  #proven: ReturnType<LogCheck["finish"]> | null = null;
  #runs: RunCheck | null = null;
  #isWhole = false;

  constructor(options: BundleOptions) {
    this.#options = options;
  }

  take(text: string): void {
    this.#line++;
    if (text === "") return;
    const line = read(text);
    if (!line) this.#found("It isn't JSON.");
    else if (this.#isWhole) this.#found("There is more after the end.");
    else if (this.#line === 1) this.#open(line);
    else this.#read(line);
  }

  #open({ format, journals = "none" }: Line): void {
    if (format !== BUNDLE_FORMAT) this.#found(`This isn't a bundle of the format ${BUNDLE_FORMAT}.`);
    this.#journals = journals;
  }

  #read(line: Line): void {
    if (line.entry !== undefined) {
      const { seq = 0, count = 0, entry, data } = line;
      this.#ofRuns().entry({ seq, count, head: entry, ...(data === undefined ? {} : { data }) });
    } else if (line.leaf !== undefined) this.#ofLog().take(line.leaf);
    else if (line.run !== undefined) {
      const { run, created = 0, seq = 0, head = "" } = line;
      this.#ofRuns().begin({ run, created, seq, head });
    } else if (line.sth !== undefined) this.#head(line.sth);
    else if (line.end) this.#end(line.end);
    else this.#found("It is none of the lines that a bundle has.");
  }

  #head(text: string): void {
    const head = parseHead(text);
    if (this.#log) this.#found("A head stands after the first leaf.");
    if (head) this.#heads.push(head);
    else this.#found("A signed head can't be read.");
  }

  #ofLog(): LogCheck {
    if (this.#proven) this.#found("A leaf stands after the first run.");
    this.#log ??= new LogCheck({ ...this.#options, heads: this.#heads });
    return this.#log;
  }

  #ofRuns(): RunCheck {
    if (this.#runs) return this.#runs;
    this.#log ??= new LogCheck({ ...this.#options, heads: this.#heads });
    this.#proven = this.#log.finish();
    const { anchored, signed } = this.#proven;
    this.#runs = new RunCheck(this.#log.runs, (anchored ?? signed)?.size ?? 0);
    return this.#runs;
  }

  #end({ leaves, runs, entries }: NonNullable<Line["end"]>): void {
    this.#isWhole = true;
    const own = this.#ofRuns();
    if ((this.#log?.size ?? 0) !== leaves || own.runs !== runs || own.entries !== entries)
      this.#found("It doesn't have as many leaves, runs or entries as its end says.");
  }

  finish(): AuditVerification {
    if (!this.#isWhole) this.#found("The end is missing: the file isn't whole.");
    const runs = this.#ofRuns();
    const hasJournals = this.#journals !== "none";
    if (hasJournals) runs.finish();
    return conclude({
      log: this.#log as LogCheck,
      proven: this.#proven ?? { signed: null, anchored: null },
      runs: hasJournals ? runs : null,
      withValues: this.#journals === "full",
      keysFrom: this.#options.keys.length > 0 ? "reader" : "log",
      more: this.#problems,
    });
  }

  #found(problem: string): void {
    if (this.#problems.length < 1_000)
      this.#problems.push({ kind: "bundle", where: `line ${this.#line}`, problem });
  }
}

function read(text: string): Line | undefined {
  try {
    const line = JSON.parse(text) as Line | null;
    return typeof line === "object" && line !== null ? line : undefined;
  } catch {
    return undefined;
  }
}
