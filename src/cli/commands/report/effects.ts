import type { EffectFinding } from "../../../core/manage/reports/effects.ts";
import { defineCommand } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { plural } from "../../format.ts";
import { iso } from "../../view/run-rows.ts";
import type { Column } from "../../view/table.ts";
import { documentOptions, documentOutcome, wantsDocument } from "./documents.ts";
import { framed, periodOptions, readQuery, readSpanOf, spanData, tabled } from "./period.ts";

const COLUMNS: readonly Column[] = [
  { title: "AT" },
  { title: "STEP", least: 16 },
  { title: "EFFECT", spare: true },
  { title: "WHAT" },
  { title: "CAUSE", least: 16 },
  { title: "SETTLED", least: 12 },
];

export const effects = defineCommand({
  name: "effects",
  summary: "Calls with effects that weren't plainly made once, with cause and decision",
  options: { ...periodOptions, ...documentOptions },
  examples: ["report effects --since 30d", "report effects --since 2026-10-01 --until 2026-11-01 --json"],
  async run(context) {
    if (wantsDocument(context.options))
      return documentOutcome(context, { ...(await readSpanOf(context)), artefacts: ["effects"] });
    const { paint } = context.out;
    const report = await (await context.engine()).reports.effects(await readQuery(context));
    const { findings, begun, unknown, calledAgain, violations } = report;
    const rows = findings.map((one) => [
      iso(one.at).slice(0, 19),
      one.step === "" ? one.run : `${one.run}:${one.step}`,
      one.effect,
      one.isViolation ? paint.red(one.concern) : one.concern,
      one.cause,
      settledText(one),
    ]);
    const verdict =
      violations === 0
        ? paint.green("✓ no promise was broken")
        : paint.red(`✗ ${plural(violations, "broken promise")}`);
    return {
      exit: violations === 0 ? EXIT.done : EXIT.failed,
      data: {
        ...report,
        ...spanData(report),
        findings: findings.map((one) => ({ ...one, at: iso(one.at) })),
      },
      text: framed(context, "Effects", report, [
        `  begun: ${begun.keyed} keyed, ${begun.once} once · ${unknown} with an unknown outcome · ${calledAgain} called again`,
        `  ${verdict}`,
        ...tabled(context, COLUMNS, rows),
      ]),
    };
  },
});

function settledText({ settled, concern }: EffectFinding): string {
  if (!settled) return concern === "unknown" ? "open" : "";
  const { how, actor, reason } = settled;
  return `${how}${actor === undefined ? "" : ` by ${actor}`}${reason === undefined ? "" : `: ${reason}`}`;
}
