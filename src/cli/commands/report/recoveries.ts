import type { RecoveryReport } from "../../../core/manage/reports/recoveries.ts";
import { defineCommand } from "../../command.ts";
import { duration, plural } from "../../format.ts";
import { iso } from "../../view/run-rows.ts";
import type { Column } from "../../view/table.ts";
import { documentOptions, documentOutcome, wantsDocument } from "./documents.ts";
import { framed, periodOptions, readQuery, readSpanOf, spanData, tabled } from "./period.ts";

const COLUMNS: readonly Column[] = [
  { title: "AT" },
  { title: "RUN", least: 12, isName: true },
  { title: "LOST", least: 10, spare: true },
  { title: "SILENT", align: "right" },
  { title: "THEN", align: "right" },
  { title: "UNDER WAY", least: 12 },
  { title: "RESULT" },
];

export const recoveries = defineCommand({
  name: "recoveries",
  summary: "Runs taken over from lost workers: how long it took, what was in progress, how it ended",
  options: { ...periodOptions, ...documentOptions },
  examples: ["report recoveries --since 24h", "report recoveries --workflow reconcile --json"],
  async run(context) {
    if (wantsDocument(context.options))
      return documentOutcome(context, { ...(await readSpanOf(context)), artefacts: ["recoveries"] });
    const report = await (await context.engine()).reports.recoveries(await readQuery(context));
    const { incidents, ...rest } = report;
    const rows = incidents.map((one) => [
      iso(one.at).slice(0, 19),
      one.run,
      one.lost ?? "",
      duration(one.silentMs),
      one.resumedAfterMs === null ? "–" : duration(one.resumedAfterMs),
      one.interrupted.map(({ step, effect }) => `${step} (${effect})`).join(", "),
      one.attempt > 1 ? `${one.result} (${one.attempt})` : one.result,
    ]);
    return {
      data: {
        ...rest,
        ...spanData(report),
        incidents: incidents.map((one) => ({ ...one, at: iso(one.at) })),
      },
      text: framed(context, "Recoveries", report, [...summary(report), ...tabled(context, COLUMNS, rows)]),
    };
  },
});

function summary({ incidents, runs, ms }: RecoveryReport): string[] {
  const { completed, completedAfterRecovery, failed, cancelled, completionRate } = runs;
  const rate = completionRate === null ? "" : ` · ${(completionRate * 100).toFixed(1)} % completed`;
  return [
    `  ended: ${completed} completed (${completedAfterRecovery} after a recovery), ${failed} failed, ${cancelled} cancelled${rate}`,
    ms
      ? `  ${plural(incidents.length, "takeover")}: half within ${duration(ms.p50)}, 95 % within ${duration(ms.p95)}, the longest ${duration(ms.most)}`
      : "  ✓ No worker was lost.",
  ];
}
