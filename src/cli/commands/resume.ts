import { defined } from "../../core/defined.ts";
import type { Engine } from "../../core/engine/engine.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Act } from "../../core/journal/act.ts";
import { isHeld, isRetrying, isStopped } from "../../core/journal/going-on.ts";
import type { ForkOptions } from "../../core/manage/fork/fork.ts";
import { estimateRest } from "../../core/manage/plan/estimate.ts";
import type { Store } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { defineCommand, type Values } from "../command.ts";
import { readDuration } from "../config/engine-settings.ts";
import type { CommandContext } from "../context.ts";
import { advance } from "../drive/advance.ts";
import type { Decide } from "../drive/doubts.ts";
import { shown } from "../drive/ending.ts";
import { recoverAll } from "../drive/recover-all.ts";
import { readEdits } from "../edits.ts";
import { duration } from "../format.ts";
import { usage } from "../globals.ts";
import { readJson } from "../inputs.ts";
import type { Outcome } from "../outcome.ts";
import { planText } from "../plan-text.ts";
import { unitOf } from "../view/units.ts";
import type { Code } from "../workflows.ts";
import { previewText } from "./fork.ts";
import { startFresh } from "./resume/fresh.ts";
import { readAmount } from "./run.ts";

const options = {
  checkpointId: {
    flag: "--checkpoint-id <checkpoint>",
    summary: "Continue from an earlier checkpoint as a fork; the run itself stays as it is",
  },
  from: { flag: "--from <checkpoint>", summary: "The same" },
  all: { flag: "--all", summary: "Resume every run that a crash interrupted" },
  plan: { flag: "--plan", summary: "Print what would happen, and do nothing" },
  after: { flag: "--after <time>", summary: "Wait first, such as 10m", parse: readTime },
  inject: { flag: "--inject <text>", summary: "Context for the run, read with ctx.inbox()" },
  set: {
    flag: "--set <path=json>",
    summary: "Change a value: memory.k, steps.k, loops.k, config.k or input",
    list: true,
  },
  inDoubt: {
    flag: "--in-doubt <how>",
    summary: "What to do with steps whose outcome is unknown",
    choices: ["ask", "rerun", "verify", "mark-done"],
  },
  result: {
    flag: "--result <json>",
    summary: "With mark-done: what the step returned",
    parse: (text: string) => readJson(text, "--result"),
  },
  fresh: {
    flag: "--fresh",
    summary: "Start over as a new run, after listing what could happen twice",
  },
  retryFailed: { flag: "--retry-failed", summary: "Try every failed step again" },
  now: { flag: "--now", summary: "Try at once, even if the receiver asked to wait" },
  allowChanged: { flag: "--allow-changed", summary: "Continue with changed code as it is" },
  budgetUsd: { flag: "--budget-usd <amount>", summary: "Raise the cost limit", parse: readAmount },
  breakAt: { flag: "--break-at <step>", summary: "Pause before this step", list: true },
  file: { flag: "--file <file>", summary: "The file with its workflow" },
} as const;

type Given = CommandContext<Values<typeof options>>;

function readTime(text: string): number {
  const ms = readDuration(text);
  if (ms !== undefined) return ms;
  throw usage(`'${text}' isn't a valid duration`, "A duration is a number with a unit.", "--after 10m");
}

/** `holdfast resume <run>`: continues a stored run. Finished work isn't repeated. */
export const command = defineCommand({
  name: "resume",
  summary: "Resume a run; finished steps are not repeated",
  args: ["[run]"],
  options,
  examples: ["resume aapl --plan", "resume aapl --after 10m", "resume recon-87@phase1", "resume --all"],
  async run(context) {
    if (context.options.all) return recoverAll(context);
    const store = await context.store();
    const place = placeOf(context);
    if (context.options.plan && place !== undefined) return planFork(context, place);
    const { run, isFork } = await target(context, store);
    if (run === undefined) return { data: { run: null }, text: "Nothing to resume." };
    if (context.options.fresh) return startFresh(context, store, run);
    if (context.options.plan) return plan(context, run);
    if (run.status === "completed") return already(context, run);
    const act = await context.act("resume");
    const code = await codeOf(context, run);
    if (context.options.after !== undefined) await rest(context, context.options.after);
    const { breakAt } = context.options;
    const go = (engine: Engine): Promise<unknown> => goOn(context, engine, { run, code, act, isFork });
    return advance(context, {
      store,
      code,
      runId: run.id,
      act,
      breakAt,
      go,
      decide: decisionOf(context, act),
    });
  },
});

const codeOf = (context: Given, run: RunRow): Promise<Code> =>
  context.codeOf(run, { file: context.options.file, changed: context.options.allowChanged });

interface Target {
  readonly run: RunRow | undefined;
  /** True when this command created it, including its edits. */
  readonly isFork: boolean;
}

/** The checkpoint to continue from, as typed. */
function placeOf({
  args: [named],
  options: { checkpointId, from = checkpointId },
}: Given): string | undefined {
  if (from === undefined) return named?.includes("@", 1) ? named : undefined;
  return from.includes("@", 1) || named === undefined ? from : `${named}@${from}`;
}

async function target(context: Given, store: Store): Promise<Target> {
  const [named] = context.args;
  const addresses = await context.addresses();
  const place = placeOf(context);
  if (place !== undefined) return { run: await fork(context, place), isFork: true };
  if (named !== undefined) return { run: await addresses.run(named), isFork: false };
  const { runs } = await store.list({ status: ["paused", "failed", "running", "queued"], limit: 20 });
  const [only, ...others] = runs;
  if (others.length === 0) return { run: only, isFork: false };
  throw usage(
    "it isn't clear which run you mean",
    `It could be: ${runs.map(({ id }) => id).join(", ")}.`,
    "holdfast resume <run>, or holdfast resume --all",
  );
}

/** An earlier checkpoint is continued as a new run: what came after it stays recorded. */
async function fork(context: Given, place: string): Promise<RunRow> {
  const { run, address } = await (await context.addresses()).checkpoint(place);
  const act = await context.act("resume from a checkpoint");
  const engine = await context.engine();
  const { id } = await engine.fork(address, { ...act, ...changesOf(context) });
  context.out.say(`▶ ${id} continues from ${address}; ${run.id} is unchanged`);
  return (await (await context.store()).read(id)) as RunRow;
}

/** The values that replace recorded ones. */
function changesOf({ options: { set, budgetUsd } }: Given): Pick<ForkOptions, "set" | "budget"> {
  const edits = readEdits(set);
  return {
    ...defined({ set: edits }),
    ...(budgetUsd === undefined ? {} : { budget: { costUsd: budgetUsd } }),
  };
}

/** Previews a fork: its starting state, and the handling of calls made since. Creates nothing. */
async function planFork(context: Given, place: string): Promise<Outcome> {
  const { address } = await (await context.addresses()).checkpoint(place);
  const preview = await (await context.engine()).previewFork(address, changesOf(context));
  const now = await (await context.store()).now();
  return {
    data: { plan: null, fork: preview },
    text: previewText(preview, now, context.host.stdout.isTTY),
    next: [`resume ${address}`],
  };
}

interface GoOn {
  readonly run: RunRow;
  readonly code: Code;
  readonly act: Act;
  readonly isFork: boolean;
}

async function goOn(context: Given, engine: Engine, { run, code, act, isFork }: GoOn): Promise<void> {
  const { retryFailed, now, inject, set, budgetUsd, allowChanged } = context.options;
  // A cancelled run is refused, with the reason.
  const isEnded = run.status === "cancelled";
  const isResumed = isStopped(run) || isHeld(run) || isEnded || (now && isRetrying(run));
  const isOther =
    run.version !== code.workflow.version || run.waiting.some(({ kind }) => kind === "migration");
  if (allowChanged && isOther) await engine.migrations.asIs(run.id, act);
  const edits = isFork ? undefined : readEdits(set);
  if (isResumed || edits)
    await engine.resume(run.id, {
      ...act,
      // A pause has reached them, too.
      children: true,
      ...(retryFailed ? { retryFailed } : {}),
      ...(now ? { now } : {}),
      ...defined({ inject, set: edits }),
      ...(budgetUsd === undefined || isFork ? {} : { budget: { costUsd: budgetUsd } }),
    });
  else {
    if (run.waiting.some(({ kind }) => kind === "child")) await resumeBelow(engine, run.id, act);
    if (inject !== undefined) await engine.inject(run.id, inject, act);
  }
  await engine.recover();
}

/** A run that waits for others continues when they do. */
async function resumeBelow(engine: Engine, runId: string, act: Act): Promise<void> {
  try {
    await engine.resume(runId, { ...act, children: true });
  } catch (error) {
    if (!HoldfastError.is(error, "HF-1007")) throw error;
  }
}

const decisionOf = ({ options: { inDoubt = "ask", result } }: Given, act: Act): Decide => ({
  how: inDoubt,
  act,
  ...defined({ value: result }),
});

async function already(context: Given, { id, workflow, status }: RunRow): Promise<Outcome> {
  const result = await (await context.engine()).result(id);
  context.out.say(`${context.out.note.green("✓")} ${id} was completed before; nothing was run`);
  return { data: { run: id, workflow, status, result: result ?? null }, text: shown(result), isValue: true };
}

async function plan(context: Given, run: RunRow): Promise<Outcome> {
  const code = await codeOf(context, run);
  const engine = await context.engine({ workflows: code.all });
  const { retryFailed, now, inject } = context.options;
  const found = await engine.plan(run.id, {
    ...(retryFailed ? { retryFailed } : {}),
    ...(now ? { now } : {}),
    ...defined({ inject }),
    ...changesOf(context),
  });
  const guess = await estimateRest(await context.store(), run);
  return {
    data: { plan: found, estimate: guess ?? null },
    text: planText(
      found,
      guess,
      context.out.paint,
      code.yaml && !context.globals.verbose ? unitOf : undefined,
    ),
    next: found.blocked === null ? [`resume ${run.id}`] : [],
  };
}

async function rest({ out }: Given, ms: number): Promise<void> {
  out.say(`◌ resuming in ${duration(ms)}`);
  await new Promise((resolve) => setTimeout(resolve, ms));
}
