import { isCheckpoint } from "../../core/journal/address.ts";
import type { JournalEvent } from "../../core/journal/events.ts";
import { retryWait } from "../../core/journal/records.ts";
import { usageOf } from "../../core/journal/spent.ts";
import type { StepUnderWay } from "../../core/manage/checkpoints/progress.ts";
import { duration, fit, fitMiddle, oneLine, seconds, tokens, usd, width, word, wrap } from "../format.ts";
import type { Paint } from "../paint.ts";
import type { RunView } from "./run-view.ts";
import { endedAgent } from "./units.ts";

/** The width of step names, so that what follows is aligned. */
const NAME = 18;
/** A longer name shifts the rest of its line, up to this width. */
const LONGEST_NAME = 48;

/**
 * The width of names on a terminal: constant, so that everything after them is aligned, and small enough for that to
 * fit.
 */
const nameRoom = (columns: number): number => Math.min(30, Math.max(NAME, columns - 46));

/** A step's name as the first column of a line on a terminal of this width; unlimited in a file. */
const nameIn = (step: string, columns: number): string => {
  if (columns === Number.POSITIVE_INFINITY) return nameColumn(step);
  const room = nameRoom(columns);
  return nameColumn(fitMiddle(oneLine(step), room), room);
};

/** A step's name as the first column of a line. */
export const nameColumn = (step: string, least = NAME): string => {
  const name = fit(oneLine(step), LONGEST_NAME);
  return name + " ".repeat(Math.max(0, least - width(name)));
};

interface Told {
  readonly paint: Paint;
  /** Why it failed. */
  readonly why?: string | undefined;
  readonly isSaved?: boolean;
  /** The width of the terminal; without one, lines are unlimited. */
  readonly columns?: number;
}

/** The permanent line for an event: one for each step that ended, failed or began to wait for a person. */
export function lineOf(event: JournalEvent, view: RunView, how: Told): string | undefined {
  const { paint, why, isSaved = true, columns = Number.POSITIVE_INFINITY } = how;
  const { step, seq } = event;
  const unit = view.nameOf(step);
  const name = nameIn(unit, columns);
  const agent = view.nameOf(`${step}[0]/model`) === step ? endedAgent(event) : undefined;
  if (agent !== undefined || (view.isResult(event) && unit === step)) {
    const own = view.unit(step);
    const used = agent === undefined ? (usageOf(event) ?? own) : own;
    const ms = agent === undefined ? view.log.find(step)?.attempts.at(-1)?.ms : undefined;
    const since = agent === undefined ? view.state.find(step)?.since : own?.since;
    const took = ms ?? (since === undefined ? 0 : event.at - since);
    const facts = [
      duration(took).padStart(6),
      used?.tokens ? tokens(used.tokens).padStart(10) : "",
      used?.costUsd ? usd(used.costUsd).padStart(6) : "",
    ].filter((fact) => fact !== "");
    const answer = event.kind === "gate_answered" ? `  ${fit(oneLine(event.meta.choice), LONGEST_NAME)}` : "";
    const line = `${paint.green("✓")} ${name} ${facts.join("  ")}${answer}`;
    const place = isSaved && isCheckpoint(event) ? `   ${paint.dim(`checkpoint #${seq}`)}` : "";
    return width(line + place) <= columns ? line + place : fit(line, columns);
  }
  if (event.kind === "step_failed") {
    // A failure inside a unit fails the unit, which reports it itself.
    if (unit !== step && event.meta.retryAt === undefined && view.state.find(unit)) return undefined;
    const { attempt, retryAt } = event.meta;
    const then = retryAt === undefined ? "" : ` · retry in ${seconds(retryWait(event))}`;
    const glyph = retryAt === undefined ? paint.red("✗") : paint.yellow("!");
    const line = `${glyph} ${name} attempt ${attempt} failed${why === undefined ? "" : `: ${why}`}`;
    return fit(line, columns - width(then)) + paint.dim(then);
  }
  if (event.kind === "run_waiting") return retryLine(event, view, paint, isSaved);
  if (event.kind === "step_in_doubt")
    return fit(
      `${paint.yellow("!")} ${name} outcome unknown: it was started, and no outcome is recorded`,
      columns,
    );
  return undefined;
}

/** A run that only waits for its next attempt says until when, and how to retry now. */
function retryLine(
  { meta, at }: JournalEvent & { kind: "run_waiting" },
  view: RunView,
  paint: Paint,
  isSaved: boolean,
): string | undefined {
  const [first] = meta.waiting
    .filter(({ kind, until }) => kind === "retry" && until !== undefined)
    .sort((a, b) => (a.until ?? 0) - (b.until ?? 0));
  if (!first) return undefined;
  const ms = (first.until ?? at) - at;
  const now = isSaved ? paint.dim(` · now: holdfast resume ${word(view.runId)} --now`) : "";
  return `${paint.dim("◌")} ${nameColumn(view.nameOf(first.step))} waits ${duration(ms)} for its next try${now}`;
}

/** The commands that answer a gate. */
export function answersTo(runId: string, gate: string, choices: readonly string[] = []): string[] {
  const address = word(`${runId}:${gate}`);
  if (choices.length === 0) return [`gate show ${address}`];
  const verbs = choices.filter(isVerb);
  return (verbs.length > 0 ? verbs : choices).map((choice) => answerTo(address, choice));
}

const isVerb = (choice: string): boolean => choice === "approve" || choice === "reject";

/** The command that answers a gate with one of its choices. */
export const answerTo = (address: string, choice: string): string =>
  isVerb(choice) ? `gate ${choice} ${address}` : `gate answer ${address} --choice ${word(choice)}`;

interface Line {
  readonly now: number;
  readonly paint: Paint;
  /** Builds a command to copy; missing when no command could find the run. */
  readonly cli: ((command: string) => string) | undefined;
  readonly columns?: number;
}

/** A step in progress: what it does, or what it waits for. */
export function openLine(
  open: StepUnderWay,
  view: RunView,
  { now, paint, cli, columns = Number.POSITIVE_INFINITY }: Line,
): string {
  const { step, type, status, attempt, since, until } = open;
  const name = nameIn(step, columns);
  const age = seconds(now - since);
  const left = until === undefined ? "" : seconds(until - now);
  const again = attempt > 1 ? `attempt ${attempt} · ` : "";
  if (status === "in_doubt") return `${paint.yellow("!")} ${name} outcome unknown`;
  if (status === "failed") return `${paint.yellow("●")} ${name} attempt ${attempt} failed · retry in ${left}`;
  if (type === "gate") {
    const line = `${paint.yellow("‖")} ${name} waiting for you ${age}`;
    const [answer = ""] = answersTo(view.runId, step, view.choices.get(step));
    return cli ? withCommand(line, cli(answer), columns) : line;
  }
  if (type === "timer") return `${paint.dim("◌")} ${name} sleeping · ${left} left`;
  if (type === "signal") return `${paint.dim("◌")} ${name} waiting for a signal ${age}`;
  if (type === "child") return `${paint.cyan("●")} ${name} child run · ${age}`;
  return `${paint.cyan("●")} ${name} ${again}running ${age}`;
}

/** A command is there to be copied, so it gets lines of its own where it doesn't fit. */
function withCommand(line: string, command: string, columns: number): string {
  const together = `${line} → ${command}`;
  // Two columns of indent, and the last one, which stays free.
  if (width(together) <= columns - 3) return together;
  return `${line}\n  → ${wrap(command, columns - 7).join("\n    ")}`;
}

/** The names of steps in progress, for sentences: `load, match and 3 more`. */
export function namesOf(open: readonly StepUnderWay[]): string {
  const names = open
    .filter(({ type }) => type === "call" || type === "child")
    .map(({ step }) => fit(oneLine(step), LONGEST_NAME));
  const shown = names.slice(0, 2).join(", ");
  return names.length > 2 ? `${shown} and ${names.length - 2} more` : shown;
}
