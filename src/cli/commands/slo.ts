import { defined } from "../../core/defined.ts";
import type { SloFigure, SloReport } from "../../core/manage/slo/slo.ts";
import { SLO_NAMES, type SloKind, type SloName, type TargetChange } from "../../core/manage/slo/targets.ts";
import { defineCommand, type Values } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { count, duration, usd } from "../format.ts";
import { usage } from "../globals.ts";
import type { Outcome } from "../outcome.ts";
import { type Column, roomOf, table } from "../view/table.ts";

const readFigure = (text: string): number | null => {
  if (text === "none") return null;
  const figure = Number(text);
  if (text.trim() === "" || !Number.isFinite(figure))
    throw usage(`${text} is not a figure`, "It is a number, or none.", "holdfast slo write --goal 20");
  return figure;
};

const options = {
  check: { flag: "--check", summary: "Exit with 1 when a goal is missed" },
  goal: { flag: "--goal <figure>", summary: "Change the goal (none: only watch it)", parse: readFigure },
  alarm: {
    flag: "--alarm <figure>",
    summary: "Change the line beyond which somebody is called",
    parse: readFigure,
  },
  severity: { flag: "--severity <P1|P2>", summary: "Change how urgent that is", choices: ["P1", "P2"] },
  reset: { flag: "--reset", summary: "Go back to the built-in target" },
} as const;

type Given = CommandContext<Values<typeof options>>;

/** `holdfast slo`: service levels beside their targets; with a name, changes a target. */
export const command = defineCommand({
  name: "slo",
  summary: "Show service levels beside their targets, or change a target",
  args: ["[slo]"],
  options,
  examples: ["slo", "slo --check --json", "slo write --goal 20 --alarm 80", "slo cost --goal 0.5"],
  async run(context) {
    const { goal, alarm, severity, reset, check } = context.options;
    const change = defined({ goal, alarm, severity });
    const [name] = context.args;
    if (name !== undefined) return setTarget(context, nameOf(name), reset ? null : change);
    if (reset || Object.keys(change).length > 0)
      throw usage("a target needs a name", `One of ${SLO_NAMES.join(", ")}.`, "holdfast slo write --goal 20");
    const report = await (await context.engine()).slo.report();
    const exit = check && !report.ok ? EXIT.failed : EXIT.done;
    return { data: { ...report }, text: textOf(context, report), exit };
  },
});

function nameOf(name: string): SloName {
  const found = SLO_NAMES.find((one) => one === name);
  if (found) return found;
  throw usage(`there is no objective ${name}`, `There are ${SLO_NAMES.join(", ")}.`, "holdfast slo");
}

async function setTarget(context: Given, name: SloName, change: TargetChange | null): Promise<Outcome> {
  const { slo } = await context.engine();
  if (change !== null && Object.keys(change).length === 0) {
    const { objectives } = await slo.report();
    const found = objectives.find((one) => one.name === name);
    return { data: { objective: found }, text: found ? line(found).join("  ") : name };
  }
  const target = await slo.setTarget(name, change, await context.act("slo"));
  return { data: { name, target }, text: `✓ the target of ${name} is changed`, next: ["slo"] };
}

const COLUMNS: readonly Column[] = [
  { title: "" },
  { title: "OBJECTIVE", least: 13 },
  { title: "NOW", least: 9 },
  { title: "GOAL", least: 9 },
  { title: "ALARM", least: 9 },
  { title: "WITHIN" },
  { title: "BUDGET LEFT" },
];

const MARKS = { met: "✓", missed: "✗", alarm: "✗", unknown: "–", watched: "·" } as const;

const shown = (value: number | null, unit: SloKind["unit"]): string => {
  if (value === null) return "–";
  if (unit === "ms") return value < 1_000 ? `${Math.round(value * 10) / 10} ms` : duration(value);
  if (unit === "share") return `${Math.floor(value * 1_000_000) / 10_000} %`;
  return unit === "usd" ? usd(value) : count(Math.round(value * 10) / 10);
};

const line = (one: SloFigure): string[] => [
  MARKS[one.state],
  one.name,
  shown(one.value, one.unit),
  shown(one.goal, one.unit),
  `${shown(one.alarm, one.unit)}${one.alarm === null ? "" : ` ${one.severity}`}`,
  `${duration(one.windowMs)}${one.state === "alarm" ? "  ALARM" : ""}`,
  one.budgetLeft === null ? "–" : `${Math.floor(one.budgetLeft * 1_000) / 10} %`,
];

function textOf({ host, out }: CommandContext<unknown>, report: SloReport): string {
  const [head = "", ...lines] = table(COLUMNS, report.objectives.map(line), { room: roomOf(host) });
  const { runs, writeFailures } = report;
  const notes = [
    `${runs.completed} runs completed within a day, ${runs.completedAfterRecovery} of them after a recovery; ${runs.failed} failed`,
    ...(runs.unrecovered > 0
      ? [`${runs.unrecovered} lost their worker, and nobody has taken them over`]
      : []),
    ...(writeFailures.count > 0 ? [`${writeFailures.count} writes failed within an hour`] : []),
    ...(runs.more ? [`only the newest ${count(runs.looked)} runs were looked at`] : []),
  ];
  return [out.paint.dim(head), ...lines, ...notes.map((note) => out.paint.dim(note))].join("\n");
}
