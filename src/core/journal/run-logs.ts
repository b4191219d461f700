import { detached } from "../detached.ts";
import { isAtLeast, LOG_LEVELS, type LogLevel, type LogLine, logFields, logMessage } from "../log-line.ts";
import type { Ports } from "../ports.ts";
import type { Documents, DocumentWrite, StoredDocument } from "../store/documents.ts";

const KIND = "run-log";
/** Lines are stored together, this long after the first of them. */
const FLUSH_MS = 500;
/** A document holds this much, and a run this many of them: its newest lines. */
const CHUNK_BYTES = 48_000;
const MOST_CHUNKS = 20;
/** Lines that wait in memory, for each run. Whatever comes faster than the store takes it is counted, not kept. */
const MOST_WAITING = 5_000;
const ATTEMPTS = 5;
/** Details are for whoever follows the process; the store keeps what is worth reading later. */
const LEAST_STORED: LogLevel = "info";

interface Waiting {
  lines: LogLine[];
  missing: number;
}

/** Who wrote a line, and where. */
export interface LogPlace {
  readonly runId: string;
  readonly workflow: string;
  readonly step?: string | undefined;
  readonly attempt?: number | undefined;
}

/**
 * The lines that workflows write with `ctx.log`. They go to the engine's logger at once and to the store a moment later,
 * as documents: they are no part of the journal, nothing is restored from them, and a crash may lose the last half
 * second of them. They are dropped with the values of their run.
 */
export class RunLogs {
  readonly #documents: Documents | undefined;
  readonly #ports: Ports;
  readonly #waiting = new Map<string, Waiting>();
  #isTimed = false;
  /** Flushes follow each other. */
  #flushing: Promise<void> = Promise.resolve();

  constructor(documents: Documents | undefined, ports: Ports) {
    this.#documents = documents;
    this.#ports = ports;
  }

  write(place: LogPlace, level: LogLevel, text: unknown, given: unknown): void {
    const { logger, clock, redactor } = this.#ports;
    const clean = (one: string): string => redactor?.text(one) ?? one;
    const message = logMessage(text, clean);
    const fields = logFields(given, clean);
    const { runId, workflow, step, attempt } = place;
    const where = step === undefined ? {} : { step, ...(attempt === undefined ? {} : { attempt }) };
    logger[level](message, { ...fields, runId, workflow, ...where });
    if (!this.#documents || !isAtLeast(level, LEAST_STORED)) return;
    this.#keep(runId, { at: clock.now(), level, message, ...where, ...(fields ? { fields } : {}) });
  }

  #keep(runId: string, line: LogLine): void {
    const waiting = this.#waiting.get(runId) ?? { lines: [], missing: 0 };
    this.#waiting.set(runId, waiting);
    if (waiting.lines.length >= MOST_WAITING) waiting.missing++;
    else waiting.lines.push(line);
    if (this.#isTimed) return;
    this.#isTimed = true;
    this.#ports.clock.setTimer(
      () => detached(this.flush(), this.#ports.logger, "storing log lines"),
      FLUSH_MS,
      {
        background: true,
      },
    );
  }

  /** Stores what waits. Never fails: what can't be stored has been logged. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#flushAll());
    return this.#flushing;
  }

  async #flushAll(): Promise<void> {
    this.#isTimed = false;
    const all = [...this.#waiting];
    this.#waiting.clear();
    for (const [runId, waiting] of all) {
      const { logger } = this.#ports;
      try {
        if (!(await this.#store(runId, linesOf(waiting, this.#ports.clock.now()))))
          logger.warn("log lines of a run were not stored: another process writes them too", { runId });
      } catch (error) {
        logger.warn("log lines of a run were not stored", { runId, error: String(error) });
      }
    }
  }

  async #store(runId: string, lines: readonly LogLine[]): Promise<boolean> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const chunks = await this.#chunks(runId);
      const writes = this.#writes(runId, chunks, lines);
      const [isTaken] = (await this.#documents?.write(writes)) ?? [];
      if (isTaken) return true;
    }
    return false;
  }

  /** The first write decides: the others have keys after it, or remove what is oldest. */
  #writes(runId: string, chunks: readonly StoredDocument[], lines: readonly LogLine[]): DocumentWrite[] {
    const last = chunks.at(-1);
    const own = last ? (JSON.parse(last.value) as LogLine[]) : [];
    const parts = inChunks([...own, ...lines]);
    const from = last ? (numberOf(runId, last.key) ?? 1) : 1;
    const put = (part: readonly LogLine[]) => ({
      version: this.#ports.ids.id(),
      value: JSON.stringify(part),
    });
    const added = parts.map((part, index): DocumentWrite => {
      const expect = index === 0 ? (last?.version ?? null) : null;
      return { kind: KIND, key: keyOf(runId, from + index), expect, put: put(part) };
    });
    const surplus = chunks.length + added.length - (last ? 1 : 0) - MOST_CHUNKS;
    const dropped = chunks.slice(0, Math.max(0, Math.min(surplus, chunks.length - 1)));
    return [
      ...added,
      ...dropped.map(({ key, version }): DocumentWrite => ({ kind: KIND, key, expect: version, put: null })),
    ];
  }

  async #chunks(runId: string): Promise<readonly StoredDocument[]> {
    const found: StoredDocument[] = [];
    for (let after = `${runId}/`; ; ) {
      const page = (await this.#documents?.list(KIND, { after, limit: MOST_CHUNKS })) ?? [];
      found.push(...page.filter(({ key }) => numberOf(runId, key) !== undefined));
      const last = page.at(-1)?.key;
      if (page.length < MOST_CHUNKS || last === undefined || !last.startsWith(`${runId}/`)) return found;
      after = last;
    }
  }

  /** The stored lines of a run, oldest first. */
  async read(runId: string): Promise<readonly LogLine[]> {
    await this.flush();
    return (await this.#chunks(runId)).flatMap(({ value }) => JSON.parse(value) as LogLine[]);
  }

  /** Removes the stored lines of a run. */
  async drop(runId: string): Promise<void> {
    this.#waiting.delete(runId);
    const chunks = await this.#chunks(runId);
    if (chunks.length === 0) return;
    await this.#documents?.write(
      chunks.map(({ key, version }) => ({ kind: KIND, key, expect: version, put: null })),
    );
  }
}

const DIGITS = 6;
const keyOf = (runId: string, number: number): string => `${runId}/${String(number).padStart(DIGITS, "0")}`;

/** The number of a run's document; `undefined` for that of another run. */
function numberOf(runId: string, key: string): number | undefined {
  const rest = key.startsWith(`${runId}/`) ? key.slice(runId.length + 1) : "";
  return /^\d{6}$/.test(rest) ? Number(rest) : undefined;
}

function linesOf({ lines, missing }: Waiting, at: number): readonly LogLine[] {
  if (missing === 0) return lines;
  const message = `${missing} more lines came faster than they could be stored`;
  return [...lines, { at, level: LOG_LEVELS[2], message }];
}

/** Documents full of lines, in order. */
function inChunks(lines: readonly LogLine[]): readonly (readonly LogLine[])[] {
  const chunks: LogLine[][] = [[]];
  let bytes = 0;
  for (const line of lines) {
    // A character takes at most three bytes for each unit of its length.
    const size = JSON.stringify(line).length * 3 + 1;
    if (bytes > 0 && bytes + size > CHUNK_BYTES * 3) {
      chunks.push([]);
      bytes = 0;
    }
    chunks.at(-1)?.push(line);
    bytes += size;
  }
  return chunks;
}
