import type { JournalEvent } from "../../core/journal/events.ts";
import type { StepUnderWay } from "../../core/manage/checkpoints/progress.ts";
import { fit, oneLine, seconds, tokens, usd } from "../format.ts";
import type { Host } from "../host.ts";
import type { Output } from "../output.ts";
import type { Display } from "../surroundings.ts";
import { LiveBlock } from "./live-block.ts";
import type { RunView } from "./run-view.ts";
import { lineOf, openLine } from "./step-lines.ts";

const MOST_OPEN = 8;
const MOST_PENDING = 3;
/** How often the clock in the block goes on. */
const TICK_MS = 1_000;

interface Given {
  readonly host: Host;
  readonly display: Display;
  /** A command to copy; nothing where the run is not saved, so that none could find it. */
  readonly cli: ((command: string) => string) | undefined;
}

/** Shows a run under way on standard error: as a block that changes, as one line per step, or not at all. */
export class RunDisplay {
  readonly #view: RunView;
  readonly #out: Output;
  readonly #block: LiveBlock | undefined;
  readonly #cli: Given["cli"];
  readonly #isShown: boolean;
  readonly #offDraw: (() => void) | undefined;
  readonly #ticker: NodeJS.Timeout | undefined;
  readonly #startedAt: number;
  /** Said below the block until something else is: how to stop, that it pauses. */
  #hint = "Ctrl-C pauses after the current step";
  #gates = new Set<string>();
  #isOver = false;

  constructor(view: RunView, out: Output, given: Given) {
    const { host, display, cli } = given;
    this.#cli = cli;
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

  /** What has happened, with the reasons of failures by position. */
  tell(events: readonly JournalEvent[], reasons: ReadonlyMap<number, string>): void {
    const isSaved = this.#cli !== undefined;
    for (const event of events) {
      const { kind, seq, at, step } = event;
      this.#out.record({ type: kind, run: this.#view.runId, seq, at: new Date(at).toISOString(), step });
      const line = this.#isShown
        ? lineOf(event, this.#view, this.#out.note, reasons.get(seq), isSaved)
        : undefined;
      if (line !== undefined) this.#out.say(line);
    }
    this.#tellGates();
    this.draw();
  }

  /** Where nothing is drawn anew, a wait for a person is said once. */
  #tellGates(): void {
    if (this.#block || !this.#isShown) return;
    for (const open of this.#view.open) {
      if (open.type !== "gate" || this.#gates.has(open.step)) continue;
      this.#gates.add(open.step);
      this.#out.say(this.#openLine(open, open.since));
    }
  }

  /** `soon`: something more exact follows, so that only a block that is drawn anew shows it. */
  hint(text: string, soon = false): void {
    this.#hint = text;
    if (this.#isOver) return;
    if (this.#block) this.draw();
    else if (!soon) this.#out.say(text);
  }

  #openLine(open: StepUnderWay, now: number): string {
    return openLine(open, this.#view, { now, paint: this.#out.note, cli: this.#cli });
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
      progress.total === undefined ? `${row.stepsDone} steps done` : progress.text,
      seconds(now - this.#startedAt),
      usage.tokens > 0 ? tokens(usage.tokens) : "",
      usage.costUsd > 0 ? usd(usage.costUsd) : "",
    ].filter((part) => part !== "");
    const head = `${note.cyan("▶")} ${note.bold(fit(oneLine(row.workflow), 40))} ${row.id}   ${facts.join(" · ")}`;
    const shown = open.slice(0, MOST_OPEN).map((one) => `  ${this.#openLine(one, now)}`);
    const more = open.length > MOST_OPEN ? [note.dim(`  … and ${open.length - MOST_OPEN} more`)] : [];
    const next = pending.slice(0, MOST_PENDING).map((step) => `  ${note.dim(`○ ${oneLine(step)}`)}`);
    return [head, ...shown, ...more, ...next, `  ${note.dim(this.#hint)}`];
  }

  /** Nothing is drawn or said after this, whatever is still under way. */
  end(): void {
    this.#isOver = true;
    if (this.#ticker) clearInterval(this.#ticker);
    this.#offDraw?.();
    this.#block?.end();
  }
}
