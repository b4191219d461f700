import { type Objective, reliabilityOf } from "../../../core/manage/reports/reliability.ts";
import { defineCommand } from "../../command.ts";
import { duration, plural } from "../../format.ts";
import { framed, periodOptions, readQuery, spanData } from "./period.ts";

const share = (value: number): string => `${Math.floor(value * 1_000) / 10} %`;

function line(name: string, { value, goal, state }: Objective, shown: (value: number) => string): string {
  const word = state === "met" ? "✓" : state === "unknown" ? "–" : "✗";
  const figure = value === null ? "nothing to measure" : shown(value);
  return `  ${word} ${name.padEnd(12)} ${figure.padEnd(20)} goal ${shown(goal)}${state === "alarm" ? "  ALARM" : ""}`;
}

export const reliability = defineCommand({
  name: "reliability",
  summary: "How many runs complete and how fast recoveries are, beside their goals",
  options: periodOptions,
  examples: ["report reliability --since 7d"],
  async run(context) {
    const engine = await context.engine();
    const found = reliabilityOf(await engine.reports.recoveries(await readQuery(context)), engine.health());
    const { completed, failed, completedAfterRecovery } = found.runs;
    const lines = [
      line("completion", found.completion, share),
      line("recovery", found.recovery, duration),
      line("write", found.write, duration),
      `  ${completed} completed, ${completedAfterRecovery} of them after a recovery; ${failed} failed`,
      `  ${plural(found.looked, "run")}${found.more ? ", and there are more" : ""}`,
    ];
    return { data: { ...found, ...spanData(found) }, text: framed(context, "Reliability", found, lines) };
  },
});
