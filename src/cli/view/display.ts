import type { JournalEvent } from "../../core/journal/events.ts";
import type { StepUnderWay } from "../../core/manage/checkpoints/progress.ts";
import { fitMiddle, oneLine, plural, seconds, tokens, usd, width } from "../format.ts";
import type { Host } from "../host.ts";
import type { Output } from "../output.ts";
import type { Display } from "../surroundings.ts";
import { LiveBlock } from "./live-block.ts";
import type { RunView } from "./run-view.ts";
import { lineOf, openLine } from "./step-lines.ts";

const MOST_OPEN = 8;
const MOST_PENDING = 3;
/** How often the clock in the block is updated. */
const TICK_MS = 1_000;

interface Given {
  readonly host: Host;
  readonly display: Display;
  /** Builds a command to copy; missing when the run isn't saved, because no command could find it. */
  readonly cli: ((command: string) => string) | undefined;
}

/** Shows a running run on standard error: as a changing block, as one line per step, or not at all. */
export class RunDisplay {
  readonly #view: RunView;
  readonly #out: Output;
  readonly #block: LiveBlock | undefined;
  readonly #cli: Given["cli"];
  readonly #stderr: Host["stderr"];
  readonly #isShown: boolean;
  readonly #offDraw: (() => void) | undefined;
  readonly #ticker: NodeJS.Timeout | undefined;
  readonly #startedAt: number;
  /** Shown below the block until it is replaced: how to stop, that it pauses. */
  #hint = "Ctrl-C pauses after the current step";
  #gates = new Set<string>();
  #isOver = false;

  constructor(view: RunView, out: Output, given: Given) {
    const { host, display, cli } = given;
    this.#cli = cli;
    this.#stderr = host.stderr;
    this.#view = view;
    this.#out = out;
    this.#startedAt = Date.now();
    this.#isShown = display !== "none";
    if (display !== "live") return;
    const block = new LiveBlock(host.stderr);
    this.#block = block;
    this.#offDraw = out.drawThrough((text) => block.print(text));
    this.#ticker = setInterval(() => this.draw(), TICK_MS);
    this.#ticker.unref();
  }

  /** How wide the terminal is now. */
  get #columns(): number {
    const { isTTY, columns } = this.#stderr;
    return isTTY ? columns : Number.POSITIVE_INFINITY;
  }

  /** Shows events, with the reasons of failures by position. */
  tell(events: readonly JournalEvent[], reasons: ReadonlyMap<number, string>): void {
    const isSaved = this.#cli !== undefined;
    for (const event of events) {
      const { kind, seq, at, step } = event;
      this.#out.record({ type: kind, run: this.#view.runId, seq, at: new Date(at).toISOString(), step });
      const how = { paint: this.#out.note, why: reasons.get(seq), isSaved, columns: this.#columns };
      const line = this.#isShown ? lineOf(event, this.#view, how) : undefined;
      if (line !== undefined) this.#out.say(line);
    }
    this.#tellGates();
    this.draw();
  }

  /** Without a block, a wait for a person is reported once. */
  #tellGates(): void {
    if (this.#block || !this.#isShown) return;
    for (const open of this.#view.open) {
      if (open.type !== "gate" || this.#gates.has(open.step)) continue;
      this.#gates.add(open.step);
      this.#out.say(this.#openLine(open, open.since));
    }
  }

  /** `soon`: a more exact message follows, so only a block shows this one. */
  hint(text: string, soon = false): void {
    this.#hint = text;
    if (this.#isOver) return;
    if (this.#block) this.draw();
    else if (!soon) this.#out.say(text);
  }

  #openLine(open: StepUnderWay, now: number): string {
    return openLine(open, this.#view, { now, paint: this.#out.note, cli: this.#cli, columns: this.#columns });
  }

  draw(): void {
    if (!this.#isOver) this.#block?.draw(this.#lines().map((line) => this.#out.plain(line)));
  }

  #lines(): string[] {
    const { note } = this.#out;
    const { row, progress, open, pending } = this.#view;
    const now = Date.now();
    const { usage } = row;
    const facts = [
      progress.total === undefined ? `${plural(row.stepsDone, "step")} done` : progress.text,
      seconds(now - this.#startedAt),
      usage.tokens > 0 ? tokens(usage.tokens) : "",
      usage.costUsd > 0 ? usd(usage.costUsd) : "",
    ].filter((part) => part !== "");
    const rest = `   ${facts.join(" · ")}`;
    // The glyph, two spaces, and the last column, which stays free.
    const room = this.#columns - width(rest) - 4;
    const id = fitMiddle(row.id, Math.max(8, room - 8));
    const workflow = fitMiddle(oneLine(row.workflow), Math.min(40, Math.max(8, room - width(id))));
    const head = `${note.cyan("▶")} ${note.bold(workflow)} ${id}${rest}`;
    const shown = open
      .slice(0, MOST_OPEN)
      .flatMap((one) => this.#openLine(one, now).split("\n"))
      .map((line) => `  ${line}`);
    const more = open.length > MOST_OPEN ? [note.dim(`  … and ${open.length - MOST_OPEN} more`)] : [];
    const next = pending
      .slice(0, MOST_PENDING)
      .map((step) => `  ${note.dim(`○ ${fitMiddle(oneLine(step), this.#columns - 6)}`)}`);
    return [head, ...shown, ...more, ...next, `  ${note.dim(this.#hint)}`];
  }

  /** Nothing is drawn or printed after this. */
  end(): void {
    this.#isOver = true;
    if (this.#ticker) clearInterval(this.#ticker);
    this.#offDraw?.();
    this.#block?.end();
  }
}
