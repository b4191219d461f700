import { defined } from "../../../core/defined.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import { HoldfastError } from "../../../core/errors.ts";
import { OVERLAPS, type ScheduleOptions } from "../../../core/schedule-options.ts";
import { defineCommand, type Values } from "../../command.ts";
import type { CommandContext } from "../../context.ts";
import { plural, word } from "../../format.ts";
import { usage } from "../../globals.ts";
import { writtenInput } from "../../inputs.ts";
import { readSpan } from "../../view/parsers.ts";
import { changeNamed, deleteNamed } from "../flow-acts.ts";
import { timing } from "./look.ts";

const INPUT = {
  input: { flag: "-i, --input <k=v>", summary: "One input value, or the whole input as JSON", list: true },
  inputFile: { flag: "--input-file <file>", summary: "Read the input from a JSON or YAML file" },
} as const;

/** When a schedule ticks, and what it starts. */
const OPTIONS = {
  cron: { flag: "--cron <line>", summary: "Five fields, or six with seconds first" },
  timezone: { flag: "--timezone <name>", summary: "The time zone of --cron (default UTC)" },
  every: { flag: "--every <span>", summary: "The time between two ticks, such as 10m", parse: readSpan },
  at: { flag: "--at <time>", summary: "One moment, such as 2027-01-31T09:00:00Z" },
  overlap: {
    flag: "--overlap <policy>",
    summary: "While a run is in progress: skip (default), queue, cancel or allow",
    choices: OVERLAPS,
  },
  jitter: { flag: "--jitter <span>", summary: "Start up to this much later", parse: readSpan },
  ...INPUT,
} as const;

const DRY_RUN = { flag: "--dry-run", summary: "Say what would happen, and change nothing" } as const;

export const create = defineCommand({
  name: "create",
  summary: "Create a schedule for a workflow",
  args: ["<schedule>", "<workflow>"],
  options: { ...OPTIONS, dryRun: DRY_RUN },
  examples: [
    'schedules create nightly reconcile --cron "0 2 * * *" --timezone Europe/Berlin',
    "schedules create poll inbox --every 10m --overlap queue",
  ],
  async run(context) {
    const [name = "", workflow = ""] = context.args;
    const { cron, every, at } = context.options;
    if ([cron, every, at].filter((way) => way !== undefined).length !== 1)
      throw usage(
        "it doesn't say when the schedule ticks",
        "Exactly one of --cron, --every and --at is needed.",
        `holdfast schedules create ${word(name)} ${word(workflow)} --cron "0 2 * * *"`,
      );
    const given = await optionsOf(context);
    await context.store({ create: true });
    const { schedules } = await context.engine();
    if (context.options.dryRun) {
      const ticks = await schedules.preview(given, { count: 5 });
      const next = ticks.map((tick) => new Date(tick).toISOString());
      return { data: { schedule: name, next }, text: next.join("\n") || "It would never tick." };
    }
    const act = await context.act("schedules create");
    const made = await schedules.create(name, { workflow, ...given }, act);
    const first =
      made.nextTick === null ? "" : `; the first tick is at ${new Date(made.nextTick).toISOString()}`;
    return {
      data: { schedule: made },
      text: `✓ ${name} starts ${workflow}, ${timing(made)}${first}`,
      next: [`schedules show ${word(name)}`],
    };
  },
});

export const update = defineCommand({
  name: "update",
  summary: "Change options of a schedule; the others stay",
  args: ["<schedule>"],
  options: OPTIONS,
  examples: ['schedules update nightly --cron "30 2 * * *" --reason "after the backup"'],
  async run(context) {
    const [name = ""] = context.args;
    const { schedules } = await context.engine();
    const changes = await optionsOf(context);
    const schedule = await schedules.update(name, changes, await context.act("schedules update"));
    return { data: { schedule }, text: `✓ ${name} ticks ${timing(schedule)}` };
  },
});

export const pause = defineCommand({
  name: "pause",
  summary: "Stop a schedule's ticks; its runs continue",
  args: ["<schedule>"],
  examples: ['schedules pause nightly --reason "maintenance"'],
  run: (context) => changeNamed(context, "schedule", "pause", "is paused"),
});

export const resume = defineCommand({
  name: "resume",
  summary: "Let a schedule tick again; the time between isn't made up for",
  args: ["<schedule>"],
  examples: ["schedules resume nightly"],
  run: (context) => changeNamed(context, "schedule", "resume", "ticks again"),
});

export const remove = defineCommand({
  name: "delete",
  summary: "Delete a schedule; its runs stay",
  args: ["<schedule>"],
  examples: ["schedules delete nightly"],
  run: (context) => deleteNamed(context, "schedule"),
});

export const trigger = defineCommand({
  name: "trigger",
  summary: "Start a schedule's run now",
  args: ["<schedule>"],
  options: { file: { flag: "--file <file>", summary: "Where its workflow is" }, ...INPUT },
  examples: ["schedules trigger nightly"],
  async run(context) {
    const [name = ""] = context.args;
    const engine = await withCode(context, name, context.options.file);
    const input = await writtenInput(context.options, context.host);
    const act = await context.act("schedules trigger");
    const run = await engine.schedules.trigger(name, { ...act, ...defined({ input }) });
    return {
      data: { run: run.id, status: run.status },
      text: `✓ ${run.id} is queued`,
      next: [`show ${run.id}`],
    };
  },
});

export const backfill = defineCommand({
  name: "backfill",
  summary: "Start the runs of a range of ticks that have none",
  args: ["<schedule>"],
  options: {
    from: { flag: "--from <time>", summary: "The first moment, such as 2027-01-01T00:00:00Z" },
    to: { flag: "--to <time>", summary: "The last moment" },
    file: { flag: "--file <file>", summary: "Where its workflow is" },
    dryRun: DRY_RUN,
  },
  examples: ["schedules backfill nightly --from 2027-01-01T00:00:00Z --to 2027-01-08T00:00:00Z"],
  async run(context) {
    const [name = ""] = context.args;
    const { from = "", to = "", file, dryRun } = context.options;
    const engine = dryRun ? await context.engine() : await withCode(context, name, file);
    const act = await context.act("schedules backfill");
    const report = await engine.schedules.backfill(name, { from, to }, { ...act, dryRun });
    const { started, existing } = report;
    const done = dryRun ? "would be started" : "started";
    return {
      data: { schedule: name, ...report },
      text: `${dryRun ? "" : "✓ "}${plural(started.length, "run")} ${done}, ${existing.length} existed already`,
      next: started[0] === undefined || dryRun ? [] : [`show ${started[0]}`],
    };
  },
});

/** The options of a schedule, as they were given. */
async function optionsOf({
  options,
  host,
}: Pick<CommandContext<Values<typeof OPTIONS>>, "options" | "host">): Promise<ScheduleOptions> {
  const { cron, timezone, every: everyMs, at, overlap, jitter: jitterMs } = options;
  const input = await writtenInput(options, host);
  return defined({ cron, timezone, everyMs, at, overlap, jitterMs, input });
}

/** An engine with the code of a schedule's workflow, which only creates runs: workers advance them. */
async function withCode(
  context: CommandContext<unknown>,
  name: string,
  file: string | undefined,
): Promise<Engine> {
  const schedule = await (await context.engine()).schedules.get(name);
  if (!schedule) throw new HoldfastError("HF-5100", { kind: "schedule", name });
  const workflows = await context.workflows();
  const { all } = await workflows.find(file ?? schedule.definition.workflow);
  return context.engine({ workflows: all });
}
