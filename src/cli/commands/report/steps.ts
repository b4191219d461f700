import { defineCommand } from "../../command.ts";
import { count, plural } from "../../format.ts";
import type { Column } from "../../view/table.ts";
import { framed, periodOptions, readQuery, spanData, tabled } from "./period.ts";

const right = (title: string): Column => ({ title, align: "right" });
const COLUMNS: readonly Column[] = [
  { title: "WORKFLOW", least: 10 },
  { title: "STEP", least: 12, isName: true },
  ...["STEPS", "ATTEMPTS", "FAILED", "FOR GOOD", "IN DOUBT"].map(right),
];

export const steps = defineCommand({
  name: "steps",
  summary: "How often each step was called and failed, the one that fails most first",
  options: periodOptions,
  examples: ["report steps --since 24h"],
  async run(context) {
    const report = await (await context.engine()).reports.steps(await readQuery(context));
    const rows = report.steps.map((one) => [
      one.workflow,
      one.step,
      ...[one.steps, one.attempts, one.failedAttempts, one.failed, one.inDoubt].map(count),
    ]);
    const seen = `  ${plural(report.runs, "run")}${report.more ? ", and there are more" : ""}`;
    return {
      data: { ...report, ...spanData(report) },
      text: framed(context, "Steps", report, [seen, ...tabled(context, COLUMNS, rows)]),
    };
  },
});
