import { closeSync, mkdirSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";
import { defined } from "../../core/defined.ts";
import type { Engine } from "../../core/engine/engine.ts";
import { HoldfastError } from "../../core/errors.ts";
import { systemIds } from "../../core/ids.ts";
import type { Act } from "../../core/journal/act.ts";
import type { StartOptions } from "../../core/options.ts";
import type { Store } from "../../core/store/contract.ts";
import type { Run } from "../../core/types.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { defineCommand, type Values } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { advance } from "../drive/advance.ts";
import { drive } from "../drive/drive.ts";
import { dryRun } from "../drive/dry-run.ts";
import { ending, shown } from "../drive/ending.ts";
import { engineFor } from "../drive/ready.ts";
import { driveSkipping } from "../drive/skip-gates.ts";
import { usage } from "../globals.ts";
import { splitPair, writtenInput } from "../inputs.ts";
import { logOptions, openLog } from "../log-options.ts";
import type { Outcome } from "../outcome.ts";
import { openToAppend } from "../output-file.ts";
import { ownerName } from "../owner.ts";
import { ORIGIN_KEY, type RunOrigin } from "../run-origin.ts";
import { readLater, readSpan, readWhole } from "../view/parsers.ts";
import { type Code, keepingOf } from "../workflows.ts";
import { instructionTexts } from "../workspace-instructions.ts";
import { checkSealing } from "../yaml-code.ts";

const options = {
  input: { flag: "-i, --input <k=v>", summary: "One input value, or the whole input as JSON", list: true },
  inputFile: {
    flag: "--input-file <file>",
    summary: "Read the input from a JSON or YAML file; - reads standard input",
  },
  id: { flag: "--id <id>", summary: "The run's id; starting the same id again continues that run" },
  name: { flag: "--name <name>", summary: "A name to find the run by" },
  label: { flag: "--label <k=v>", summary: "Label the run and the runs that it starts", list: true },
  queue: { flag: "--queue <queue>", summary: "The queue whose limits apply to the run" },
  key: { flag: "--key <key>", summary: "What the run is about, such as a customer; limits can go by it" },
  priority: {
    flag: "--priority <n>",
    summary: "From -100 to 100; higher ones are taken first (default 0)",
    parse: readWhole,
  },
  startAt: { flag: "--start-at <time>", summary: "Begin later, such as 2h or a date", parse: readLater },
  singleton: {
    flag: "--singleton <how>",
    summary: "What to do while another run of the workflow and --key hasn't ended",
    choices: ["join", "refuse"],
  },
  debounceMs: {
    flag: "--debounce <span>",
    summary: "Begin once this long has passed without another start of --key",
    parse: readSpan,
  },
  detach: { flag: "--detach", summary: "Keep running in the background" },
  dryRun: { flag: "--dry-run", summary: "Print what would be started, and start nothing" },
  budgetUsd: {
    flag: "--budget-usd <amount>",
    summary: "Wait for you once the run has cost this much",
    parse: readAmount,
  },
  onFailure: {
    flag: "--on-failure <how>",
    summary: "What to do when the run fails",
    choices: ["pause", "continue", "rollback"],
  },
  keep: { flag: "--keep", summary: "Pin the run, so that retention keeps its values" },
  breakAt: { flag: "--break-at <step>", summary: "Pause before this step", list: true },
  skipGates: {
    flag: "--skip-gates",
    summary: "Answer every gate of a workflow file with its first choice",
  },
  provider: {
    flag: "--provider <name>",
    summary: "Use this provider instead of those the workflow file names",
  },
  instructions: {
    flag: "--instructions <file>",
    summary: "Put this file's text before the prompt of every agent of a workflow file",
    list: true,
  },
  workspaceInstructions: {
    flag: "--workspace-instructions",
    summary: "The same with AGENTS.md, CLAUDE.md and the like, from this folder upwards",
  },
  logFile: { flag: "--log-file <file>", summary: "Append every event to this file, one JSON line each" },
  ...logOptions,
  noCheckpoint: { flag: "--no-checkpoint", summary: "Save nothing" },
} as const;

type Given = CommandContext<Values<typeof options>>;

export function readAmount(text: string): number {
  const amount = Number(text.replace(/^\$/, ""));
  if (Number.isFinite(amount) && amount > 0) return amount;
  throw usage(`${text} isn't a valid amount`, "It must be a number above 0.", "--budget-usd 2.50");
}

/** `holdfast run <workflow>`: starts a run, or continues the one with this id, and stays with it. */
export const command = defineCommand({
  name: "run",
  summary: "Start a workflow and follow it",
  args: ["<workflow>"],
  options,
  examples: [
    'run flow.ts -i question="Should we buy?"',
    "run nightly --id nightly-2026-01-17",
    "run flow.ts --break-at pay",
  ],
  async run(context) {
    const [named = ""] = context.args;
    const { provider, logFile } = context.options;
    await openLog(context);
    const instructions = instructionTexts(context.options, context.host.cwd);
    const workflows = await context.workflows({
      ...defined({ provider }),
      ...(instructions.length === 0 ? {} : { instructions }),
    });
    const found = await workflows.find(named);
    if (!found.yaml && (context.options.skipGates || provider !== undefined || instructions.length > 0))
      throw usage(
        "--skip-gates, --provider and instructions are only for workflow files",
        `${named} is a program.`,
        "Leave these options out.",
      );
    if (logFile !== undefined) {
      const opened = openToAppend(resolve(context.host.cwd, logFile));
      context.atEnd(async () => closeSync(opened));
      context.out.logTo((line) => writeSync(opened, line));
    }
    for (const warning of found.yaml?.warnings ?? []) context.out.warn(warning);
    const written = await writtenInput(context.options, context.host, found.yaml !== undefined);
    const input = found.yaml
      ? found.yaml.parseInputs((written ?? {}) as Readonly<Record<string, unknown>>)
      : written;
    const file = found.file === undefined ? undefined : workflows.remembered(found.file);
    const origin: RunOrigin = defined({ file, onFailure: context.options.onFailure });
    const code = workflows.withOnFailure(found, origin.onFailure);
    if (context.options.dryRun) return dryRun(context, code, input);
    return start(context, { code, input, isGiven: written !== undefined, origin });
  },
});

interface Start {
  readonly code: Code;
  readonly input: unknown;
  readonly isGiven: boolean;
  readonly origin: RunOrigin;
}

/** How it is named, found and queued. */
function tagsOf(
  { options: { name, label, queue, key, priority, startAt, singleton, debounceMs } }: Given,
  now: number,
): StartOptions {
  const labels = label && Object.fromEntries(label.map((text) => splitPair(text, "--label")));
  return defined({ name, labels, queue, key, priority, startAt: startAt?.(now), singleton, debounceMs });
}

async function start(context: Given, { code, input, isGiven, origin }: Start): Promise<Outcome> {
  const { workflow } = code;
  const { budgetUsd, keep, breakAt, detach } = context.options;
  // A start needs no reason: it was asked for.
  const act = await context.who();
  const store = await placeFor(context, code);
  const runId = context.options.id ?? newId(workflow.name);
  const known = context.options.id === undefined ? null : await store.read(runId);
  // The engine returns the run that exists, or refuses: an id has one workflow and one input (HF-1041).
  if (known && isGiven) await (await context.engine({ store })).start(workflow, input, { id: runId });
  if (known) return goOn(context, { store, code, run: known, act });
  const engine = detach
    ? await context.engine({ store })
    : await engineFor(context, { store, code, runId, act, breakAt });
  const { id } = await engine.start(workflow, input ?? {}, {
    id: runId,
    ...act,
    config: { [ORIGIN_KEY]: origin },
    ...tagsOf(context, await store.now()),
    ...(budgetUsd === undefined ? {} : { budget: { costUsd: budgetUsd } }),
  });
  const run = await store.read(id);
  // Another process has started it in the meantime, or it is another run of the same key.
  const isOthers = id !== runId || (run && run.claim.owner !== null && run.claim.owner !== ownerName());
  if (run && isOthers && !detach) return goOn(context, { store, code, run, act });
  if (keep) await engine.checkpoints.pin(id, { ...act, reason: act.reason ?? "run --keep" });
  if (detach) return leave(context, id);
  const driving = { engine, store, runId, act };
  const driven = await (context.options.skipGates ? driveSkipping : drive)(context, driving);
  return ending(context, engine, driven, { code });
}

/** The store of the run; in memory only when saving is turned off. */
async function placeFor(context: Given, code: Code): Promise<Store> {
  const { workflow, file } = code;
  const keeping = keepingOf(code);
  for (const note of workflow.settings?.notes ?? []) context.out.warn(note);
  const settings = await context.settings();
  const { enabled } = settings.values;
  if (keeping) checkSealing(keeping, file ?? workflow.name, settings);
  const why = context.options.noCheckpoint
    ? "--no-checkpoint"
    : !enabled || keeping?.saving === false
      ? "enabled: false"
      : undefined;
  if (why === undefined) return context.store({ create: true, workflow: workflow.name, place: keeping });
  if (context.options.detach)
    throw usage(
      "nothing would be saved",
      `${why} can't be combined with --detach.`,
      "Leave one of the two out.",
    );
  context.unsaved = why;
  context.out.warn(`nothing is saved (${why}): after a crash or Ctrl-C this run starts from the beginning`);
  return createMemoryStore();
}

const MOST_OF_NAME = 40;

/** `ten-agents-7k2m9x4q`: readable, easy to type in part, and unique. */
function newId(workflow: string): string {
  const name = workflow
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return `${name.slice(0, MOST_OF_NAME) || "run"}-${systemIds.id().slice(0, 8)}`;
}

interface Known {
  readonly store: Store;
  readonly code: Code;
  readonly run: Run;
  readonly act: Act;
}

/** The id is taken, so this is that run. */
async function goOn(context: Given, { store, code, run, act }: Known): Promise<Outcome> {
  const { out } = context;
  const { id, workflow } = run;
  if (workflow !== code.workflow.name) throw new HoldfastError("HF-1002", { run: id, workflow });
  if (run.status === "completed") {
    const result = await (await context.engine({ store })).result(id);
    out.say(`${out.note.green("✓")} ${id} was completed before; nothing was run`);
    return {
      data: { run: id, workflow, status: run.status, result: result ?? null },
      text: shown(result),
      isValue: true,
    };
  }
  if (context.options.detach) return leave(context, id);
  const isHeld = run.status === "paused" || run.status === "failed" || run.control === "pausing";
  const { breakAt } = context.options;
  const go = async (engine: Engine) => (isHeld ? engine.resume(id, act) : engine.recover());
  return advance(context, { store, code, runId: id, act, breakAt, go, decide: { how: "ask", act } });
}

/** Leaves the run to another process. */
async function leave(context: Given, runId: string): Promise<Outcome> {
  const { root, values } = await context.settings();
  const folder = join(root, ".holdfast");
  mkdirSync(folder, { recursive: true });
  const log = join(folder, `${runId}.log`);
  const { store, config, profile } = context.globals;
  const same = Object.entries({ store, config, profile, as: values.actor });
  const flags = same.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  const reason = values.actor === undefined ? [] : ["--reason", "run --detach"];
  const pid = context.host.detach(["resume", runId, "--ui", "lines", ...flags, ...reason], log);
  context.out.say(`▶ ${runId} continues in process ${pid ?? "?"} · log: ${log}`);
  return { data: { run: runId, pid, log }, text: runId, next: [`show ${runId} --watch`, `pause ${runId}`] };
}
