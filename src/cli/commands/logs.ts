import { defined } from "../../core/defined.ts";
import { levelOf } from "../../core/journal/event-level.ts";
import { wordsOf } from "../../core/journal/event-words.ts";
import type { JournalEvent } from "../../core/journal/events.ts";
import { readRow } from "../../core/journal/positions.ts";
import { isInside, isLaterOf, isWithin } from "../../core/keys.ts";
import { isAtLeast, LOG_LEVELS, type LogLevel, type LogLine } from "../../core/log-line.ts";
import { journalOf } from "../../core/manage/reports/stories.ts";
import type { Store } from "../../core/store/contract.ts";
import { ended, type RunRow } from "../../core/types.ts";
import { defineCommand } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { fit, oneLine } from "../format.ts";
import { glyphOf, LEVEL_GLYPHS, TONES, toneOf } from "../view/journal-lines.ts";
import { readCount, readSince, type Since } from "../view/parsers.ts";
import { iso } from "../view/run-rows.ts";
import { toned } from "../view/standing.ts";
import { nameColumn } from "../view/step-lines.ts";
import { fetched, summary, valuesOf } from "../view/stored-values.ts";
import { watching } from "../view/watch.ts";

const FOLLOW_MS = 300;
/** More than a store keeps of a run. */
const MOST_LINES = 10_000;

interface Wanted {
  readonly step: string | undefined;
  readonly level: LogLevel;
  readonly since: Since | undefined;
  readonly attempt: number | undefined;
}

/** `holdfast logs`: the journal as lines, and what the workflow wrote with `ctx.log`. */
export const command = defineCommand({
  name: "logs",
  summary: "Print what happened in a run, line by line",
  args: ["<run[:step]>"],
  options: {
    follow: { flag: "-f, --follow", summary: "Follow until the run ends or Ctrl-C" },
    level: { flag: "--level <level>", summary: "This level and above (default info)", choices: LOG_LEVELS },
    since: { flag: "--since <time>", summary: "From this time on, such as 10m or a date", parse: readSince },
    attempt: { flag: "--attempt <n>", summary: "Only this attempt of the step", parse: readCount },
  },
  examples: ["logs recon-88 -f", "logs recon-88:pay --level debug", "logs @last --jsonl"],
  async run(context) {
    const { args, options, out, host } = context;
    const addresses = await context.addresses();
    const { run, step } = await addresses.step(args[0] ?? "");
    const { since, attempt } = options;
    const store = await context.store();
    const { reports } = await context.engine();
    const written = async () => (await reports.logs(run.id, { limit: MOST_LINES })).lines;
    const tail = new Tail(context, store, { step, level: options.level ?? "info", since, attempt }, written);
    // A stream prints as it goes; a document contains everything so far.
    const isStream = !context.globals.json || context.globals.jsonl;
    const look = async (): Promise<boolean> => {
      const row = await readRow(store, run.id);
      for (const line of await tail.read(row)) {
        out.record(line.record);
        if (isStream && !out.isJson) host.stdout.write(out.plain(`${line.text}\n`));
      }
      return !ended(row.status);
    };
    if (options.follow) await watching(host, FOLLOW_MS, look);
    else await look();
    const { status } = await readRow(store, run.id);
    const events = isStream ? {} : { events: tail.records };
    return { data: { run: run.id, status, count: tail.records.length, ...events } };
  },
});

interface Row {
  readonly at: number;
  /** Its position in the journal. */
  readonly place: string;
  readonly glyph: string;
  readonly step: string;
  readonly words: string;
}

interface Line {
  readonly at: number;
  readonly record: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Reads on from where it last stopped. */
class Tail {
  readonly records: Readonly<Record<string, unknown>>[] = [];
  readonly #context: CommandContext<unknown>;
  readonly #store: Store;
  readonly #wanted: Wanted;
  /** The current attempt of each step. */
  readonly #attempts = new Map<string, number>();
  #next = 1;
  /** What the workflow wrote, as far as it was shown. */
  readonly #shown = new Set<string>();
  readonly #written: () => Promise<readonly LogLine[]>;

  constructor(
    context: CommandContext<unknown>,
    store: Store,
    wanted: Wanted,
    written: () => Promise<readonly LogLine[]>,
  ) {
    this.#context = context;
    this.#store = store;
    this.#wanted = wanted;
    this.#written = written;
  }

  async read(row: RunRow): Promise<readonly Line[]> {
    const { since } = this.#wanted;
    const oldest = since?.(await this.#store.now()) ?? 0;
    const lines: Line[] = [];
    for await (const event of journalOf(this.#store, row, this.#next)) {
      this.#next = event.seq + 1;
      if (event.kind === "step_started") this.#attempts.set(event.step, event.meta.attempt);
      if (event.at >= oldest && this.#isWanted(event)) lines.push(await this.#line(row.id, event));
    }
    for (const line of await this.#written()) {
      const known = JSON.stringify(line);
      if (line.at < oldest || this.#shown.has(known) || !this.#isWantedLine(line)) continue;
      this.#shown.add(known);
      lines.push(this.#logged(row.id, line));
    }
    lines.sort((a, b) => a.at - b.at);
    this.records.push(...lines.map(({ record }) => record));
    return lines;
  }

  #isWanted(event: JournalEvent): boolean {
    const { step, level, attempt } = this.#wanted;
    if (step !== undefined && !isOf(event.step, step)) return false;
    if (attempt !== undefined && this.#attempts.get(event.step) !== attempt) return false;
    return isAtLeast(levelOf(event), level);
  }

  #isWantedLine({ step = "", level, attempt }: LogLine): boolean {
    const { step: wanted, level: least, attempt: only } = this.#wanted;
    if (wanted !== undefined && !isOf(step, wanted)) return false;
    return isAtLeast(level, least) && (only === undefined || attempt === only);
  }

  #logged(runId: string, line: LogLine): Line {
    const { at, level, message, step = "", attempt, fields } = line;
    const record = {
      type: "log",
      run: runId,
      at: iso(at),
      level,
      step,
      message,
      ...defined({ attempt, fields }),
    };
    const more = fields === undefined ? "" : ` ${JSON.stringify(fields)}`;
    const glyph = toned(this.#context.out.paint, TONES[level])(LEVEL_GLYPHS[level]);
    return { at, record, text: this.#row({ at, place: "log", glyph, step, words: message + more }) };
  }

  async #line(runId: string, event: JournalEvent): Promise<Line> {
    const { kind, step, meta, seq, at, actor } = event;
    const error = kind === "step_failed" ? await this.#errorAt(runId, seq) : "";
    const record = {
      type: kind,
      run: runId,
      seq,
      at: iso(at),
      level: levelOf(event),
      step,
      ...defined({ actor }),
      meta,
      ...(error === "" ? {} : { error }),
    };
    return { at, record, text: this.#text(event, error) };
  }

  #text(event: JournalEvent, error: string): string {
    const why = error === "" ? "" : `: ${error}`;
    const glyph = toned(this.#context.out.paint, toneOf(event))(glyphOf(event));
    const { at, seq, step } = event;
    return this.#row({ at, place: `#${seq}`, glyph, step, words: wordsOf(event) + why });
  }

  #row({ at, place, glyph, step, words }: Row): string {
    const { host, out } = this.#context;
    const { isTTY, columns } = host.stdout;
    const time = isTTY ? iso(at).slice(11, 23) : iso(at);
    const name = nameColumn(step === "" ? "run" : step);
    const line = `${out.paint.dim(`${time} ${place.padStart(5)}`)} ${glyph} ${name} ${oneLine(words)}`;
    return isTTY ? fit(line, columns) : line;
  }

  async #errorAt(runId: string, seq: number): Promise<string> {
    const found = await fetched(() => valuesOf(this.#store).at(runId, seq));
    return "value" in found ? summary(found.value, 300) : "";
  }
}

/** The step, its inner steps, and the members of a group of that name. */
const isOf = (step: string, wanted: string): boolean =>
  step === wanted || isInside(step, wanted) || isWithin(step, wanted) || isLaterOf(step, wanted);
