import type { Engine } from "../../core/engine/engine.ts";
import { HoldfastError } from "../../core/errors.ts";
import { addressOf } from "../../core/journal/address.ts";
import { isForeign } from "../../core/journal/foreign.ts";
import { isUndo } from "../../core/keys.ts";
import type { RunReport } from "../../core/manage/status/run-status.ts";
import type { RunRow, Waiting } from "../../core/types.ts";
import { shownUsage } from "../../core/types.ts";
import type { CommandContext } from "../context.ts";
import type { ErrorDocument } from "../error-document.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { duration, oneLine, plural, spent, usd } from "../format.ts";
import { GithubLog } from "../github.ts";
import type { Outcome } from "../outcome.ts";
import { readOrigin } from "../run-origin.ts";
import { doubtWays, type Rerun, rerunNote } from "../view/doubt-ways.ts";
import { spoken } from "../view/standing.ts";
import { answersTo } from "../view/step-lines.ts";
import { stackOf } from "../view/stored-errors.ts";
import { unaskedOf, unaskedText } from "../view/unasked.ts";
import type { Code } from "../workflows.ts";
import { adviceFor, thrownBy } from "./advice.ts";
import type { Driven } from "./drive.ts";
import { failure, meantEnd } from "./failure.ts";

/** The outcome of a command that advanced a run: its result, or why there is none yet and what to do about it. */
export async function ending(
  context: CommandContext<unknown>,
  engine: Engine,
  driven: Driven,
  { code, isCancel = false }: { readonly code: Code; readonly isCancel?: boolean },
): Promise<Outcome> {
  const { row } = driven.view;
  if (row.status === "cancelled" && isCancel) return cancelled(context, driven);
  if (context.unsaved !== undefined && row.status !== "completed") return lost(context, engine, driven);
  if (row.status === "failed" && isRolledBack(code)) return rolledBack(context, engine, driven);
  if (row.status === "completed") return completed(context, await engine.result(row.id), driven);
  if (row.status === "failed" || row.status === "cancelled") return failed(context, engine, row, driven);
  if (row.status === "waiting" && driven.exit === undefined)
    return waiting(context, await engine.status(row.id), driven, await driven.store.now());
  return paused(context, driven);
}

/** An unsaved run that didn't end well: nothing of it is left to continue. */
async function lost(context: CommandContext<unknown>, engine: Engine, driven: Driven): Promise<Outcome> {
  const { row } = driven.view;
  const isFailed = row.status === "failed" || row.status === "cancelled";
  const error = isFailed ? await engine.result(row.id).catch((thrown: unknown) => thrown) : undefined;
  const known = HoldfastError.is(error) ? error : undefined;
  const what = isFailed
    ? failure(context, error, driven, false)
    : {
        code: "HF-4032",
        why: `${(await engine.status(row.id)).headline}.`,
        message: `${row.id} didn't finish`,
      };
  return {
    data: { ...runData(driven), checkpoint: null, saved: false },
    error: {
      code: known?.code ?? what.code,
      message: what.message,
      why: what.why,
      safe: `None of it is saved (${context.unsaved}), so it can't be resumed.`,
      fix: ["Run it again. With enabled: true, a run is saved and can be resumed."],
      docs: `holdfast explain ${(known?.code ?? what.code).slice(3)}`,
    },
    exit: (driven.exit ?? EXIT.failed) as ExitCode,
  };
}

/** True when a failure should leave nothing behind: `on_failure: rollback` in a workflow file. */
const isRolledBack = ({ yaml, workflow }: Code): boolean =>
  yaml !== undefined && workflow.compensateOnFailure && yaml.checkpoint.onFailure !== "continue";

async function rolledBack(
  context: CommandContext<unknown>,
  engine: Engine,
  driven: Driven,
): Promise<Outcome> {
  const { row } = driven.view;
  const error = await engine.result(row.id).catch((thrown: unknown) => thrown);
  const { message, code, why } = failure(context, error, driven, false);
  const { file } = await readOrigin(driven.store, row.id);
  await engine.retention.prune(
    { maxAge: 0, failedMaxAge: 0, onExpiry: "delete", tombstone: true },
    { run: row.id, workflow: row.workflow, reason: "on_failure: rollback" },
  );
  const told: ErrorDocument = {
    code,
    message,
    why,
    safe: "The run and its checkpoints are deleted, because of on_failure: rollback. What its steps did outside remains.",
    fix: [context.cli(`run ${file ?? row.workflow}`)],
    docs: `holdfast explain ${code.slice(3)}`,
  };
  new GithubLog(context.host, context.out).failed(told, file);
  return { data: { ...runData(driven), checkpoint: null, rolledBack: true }, error: told, exit: EXIT.failed };
}

/** The facts about a run for programs, as plain data. */
export function runData({ view, before, ms }: Driven): Readonly<Record<string, unknown>> {
  const { row, progress } = view;
  return {
    run: row.id,
    workflow: row.workflow,
    status: row.status,
    checkpoint: addressOf(row.id, row.seq),
    progress: progress.text,
    stepsDone: row.stepsDone,
    usage: shownUsage(row.usage),
    waiting: row.waiting,
    reused: before,
    ms: Math.round(ms),
  };
}

function completed(context: CommandContext<unknown>, result: unknown, driven: Driven): Outcome {
  const { out } = context;
  const { ms, recoveredMs, before, view } = driven;
  const unasked = unaskedOf(view.state);
  const reused = Math.max(0, before.steps - unasked.length);
  const isReused = reused > 0;
  const facts = [
    `completed in ${duration(ms)}`,
    isReused && recoveredMs !== undefined ? `recovered in ${duration(recoveredMs)}` : "",
    isReused ? `reused ${plural(reused, "step")}${savings(before)}` : "",
    isReused ? "" : spent(view.row.usage),
  ].filter((fact) => fact !== "");
  out.say(`${out.note.green("✓")} ${facts.join(" · ")}`);
  const warning = unaskedText(unasked);
  if (warning !== undefined) out.warn(warning);
  new GithubLog(context.host, out).completed(`${view.row.workflow} ${view.row.id} ${facts.join(" · ")}`);
  const data = { ...runData(driven), ...(unasked.length > 0 ? { unasked } : {}), result: result ?? null };
  return { data, text: shown(result), isValue: true, exit: EXIT.done };
}

/** It ended as requested. */
function cancelled({ out }: CommandContext<unknown>, driven: Driven): Outcome {
  const { row } = driven.view;
  const undone = [...driven.view.state.steps()].filter(
    ([step, { status }]) => isUndo(step) && status === "completed",
  );
  out.say(`${out.note.green("✓")} ${row.id} is cancelled · ${plural(undone.length, "step")} undone`);
  return { data: { ...runData(driven), undone: undone.map(([step]) => step) }, exit: EXIT.done };
}

function savings({ ms, costUsd }: Driven["before"]): string {
  const saved = [ms >= 50 ? duration(ms) : "", costUsd > 0 ? usd(costUsd) : ""].filter((one) => one !== "");
  return saved.length === 0 ? "" : `, saved ${saved.join(" and ")}`;
}

/** A text as it is, anything else as JSON. */
export const shown = (result: unknown): string =>
  result === undefined ? "" : typeof result === "string" ? result : JSON.stringify(result, null, 2);

async function failed(
  context: CommandContext<unknown>,
  engine: Engine,
  row: RunRow,
  driven: Driven,
): Promise<Outcome> {
  const error = await engine.result(row.id).catch((thrown: unknown) => thrown);
  const { can } = await engine.status(row.id);
  const isResumable = can.includes("resume");
  const told = failure(context, error, driven, isResumable);
  const { file } = await readOrigin(driven.store, row.id);
  new GithubLog(context.host, context.out).failed(told, file);
  const isWorthwhile = isResumable && meantEnd(error) === undefined && !adviceFor(thrownBy(error)).isMistake;
  const stack = stackOf(thrownBy(error));
  if (stack.length > 0) context.out.detail(stack.join("\n"));
  const next = isWorthwhile ? [`resume ${row.id}`] : [];
  return { data: runData(driven), error: told, exit: isWorthwhile ? EXIT.resumable : EXIT.failed, next };
}

function paused(context: CommandContext<unknown>, driven: Driven): Outcome {
  const { out } = context;
  const { view, isCut, exit } = driven;
  const { row, open } = view;
  if (isCut && open.length > 0)
    out.say(
      `${out.note.yellow("!")} ${open.map(({ step }) => step).join(", ")} was still running; resume finds out how it ended`,
    );
  out.say(`${out.note.yellow("‖")} Paused at #${row.seq} · resume: ${context.cli(`resume ${row.id}`)}`);
  return {
    data: { ...runData(driven), resume: context.cli(`resume ${row.id}`) },
    exit: (exit ?? EXIT.resumable) as ExitCode,
    next: [`resume ${row.id}`],
  };
}

function waiting(
  context: CommandContext<unknown>,
  { run, headline }: RunReport,
  driven: Driven,
  now: number,
): Outcome {
  const { out } = context;
  const { view } = driven;
  const rerunOf = (step: string): Rerun => ({ rerunAfter: view.state.find(step)?.rerunAfter, now });
  const next = run.waiting.flatMap((wait) =>
    waysOut(run.id, wait, { choices: view.choices.get(wait.step), ...rerunOf(wait.step) }),
  );
  out.say(`${out.note.yellow("‖")} ${spoken(headline, now)}`);
  for (const { kind, step } of run.waiting) {
    const note = kind === "decision" ? rerunNote(rerunOf(step)) : "";
    if (note !== "") out.say(`  ${oneLine(step)}: ${note}`);
  }
  for (const one of next) out.say(`  ${out.note.dim("→")} ${context.cli(one)}`);
  return { data: { ...runData(driven), headline, next }, exit: EXIT.resumable, next };
}

interface Known extends Rerun {
  readonly choices?: readonly string[] | undefined;
}

/** The commands that end a wait. */
export function waysOut(id: string, waiting: Waiting, known: Known): string[] {
  const { kind, step } = waiting;
  if (isForeign(waiting)) return [`accept ${id}`];
  switch (kind) {
    case "gate":
      return answersTo(id, step, known.choices);
    case "decision":
      return doubtWays(id, known);
    case "budget":
      return [`resume ${id} --budget-usd <more>`];
    case "migration":
      return [`resume ${id} --allow-changed`];
    case "review":
    case "policy":
    case "content":
      return [`resume ${id}`];
    default:
      return [`resume ${id}`];
  }
}
