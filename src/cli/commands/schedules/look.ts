import { HoldfastError } from "../../../core/errors.ts";
import type { Schedule } from "../../../core/flow/schedule-types.ts";
import { defineCommand } from "../../command.ts";
import { coarse, when, word } from "../../format.ts";
import { readCount } from "../../view/parsers.ts";
import { type Column, listText } from "../../view/table.ts";

const COLUMNS: readonly Column[] = [
  { title: "SCHEDULE", least: 12, isName: true },
  { title: "WORKFLOW", least: 8 },
  { title: "WHEN", least: 12 },
  { title: "STATUS" },
  { title: "NEXT" },
  { title: "LAST", least: 10 },
];

export const list = defineCommand({
  name: "list",
  summary: "List all schedules",
  examples: ["schedules list"],
  async run(context) {
    const schedules = await (await context.engine()).schedules.list();
    const now = await (await context.store()).now();
    const { isTTY } = context.host.stdout;
    const rows = schedules.map((schedule) => [
      schedule.name,
      schedule.definition.workflow,
      timing(schedule),
      schedule.status,
      schedule.nextTick === null ? "" : when(schedule.nextTick, now, isTTY),
      lastOf(schedule, now, isTTY),
    ]);
    const [first] = schedules;
    return {
      data: { schedules },
      text: listText(context, COLUMNS, rows, "There are no schedules."),
      next: first ? [`schedules show ${word(first.name)}`] : [],
    };
  },
});

export const show = defineCommand({
  name: "show",
  summary: "Show a schedule, its last ticks and who changed it",
  args: ["<schedule>"],
  examples: ["schedules show nightly"],
  async run(context) {
    const [name = ""] = context.args;
    const schedule = await (await context.engine()).schedules.get(name);
    if (!schedule) throw new HoldfastError("HF-5100", { kind: "schedule", name });
    const now = await (await context.store()).now();
    return { data: { schedule }, text: described(schedule, now, context.host.stdout.isTTY) };
  },
});

export const next = defineCommand({
  name: "next",
  summary: "Print the next ticks of a schedule",
  args: ["<schedule>"],
  options: { count: { flag: "--count <n>", summary: "How many (default 5)", parse: readCount } },
  examples: ["schedules next nightly --count 3"],
  async run(context) {
    const [name = ""] = context.args;
    const { count = 5 } = context.options;
    const ticks = await (await context.engine()).schedules.next(name, { count });
    const times = ticks.map((tick) => new Date(tick).toISOString());
    return { data: { schedule: name, next: times }, text: times.join("\n") || "It won't tick again." };
  },
});

/** When it ticks, in a few words. */
export function timing({
  definition: { cron, timezone, everyMs, at },
}: Pick<Schedule, "definition">): string {
  if (cron !== undefined) return timezone === undefined ? cron : `${cron} (${timezone})`;
  return everyMs === undefined ? `once at ${new Date(at ?? 0).toISOString()}` : `every ${coarse(everyMs)}`;
}

function lastOf({ ticks }: Schedule, now: number, isTTY: boolean): string {
  const last = ticks.at(-1);
  return last ? `${last.outcome} ${when(last.tick, now, isTTY)}` : "";
}

function described(schedule: Schedule, now: number, isTTY: boolean): string {
  const { name, status, definition, nextTick, ticks, history, queued, paused } = schedule;
  const until = nextTick === null ? "" : `, next ${when(nextTick, now, isTTY)}`;
  const why = paused?.reason === undefined ? "" : `: ${paused.reason}`;
  return [
    `${name}   ${status}${why}${until}`,
    `  starts ${definition.workflow}, ${timing(schedule)}, overlap ${definition.overlap}`,
    ...(queued.length > 0 ? [`  ${queued.length} waiting for the run before`] : []),
    ...ticks.map(
      ({ tick, outcome, runId, to, why: reason }) =>
        `  ${new Date(tick).toISOString()}  ${outcome}${to === undefined ? "" : ` up to ${new Date(to).toISOString()}`}${runId === undefined ? "" : `  ${runId}`}${reason === undefined ? "" : `  ${reason}`}`,
    ),
    ...history.map(
      ({ at, act, actor, reason, changed }) =>
        `  ${new Date(at).toISOString()}  ${act}${actor === undefined ? "" : ` by ${actor}`}${changed ? ` (${changed.join(", ")})` : ""}${reason === undefined ? "" : `: ${reason}`}`,
    ),
  ].join("\n");
}
