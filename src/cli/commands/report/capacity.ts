import type { Stored } from "../../../core/manage/reports/capacity.ts";
import { defineCommand } from "../../command.ts";
import { count, plural } from "../../format.ts";
import { bytes } from "../../view/sizes.ts";
import type { Column } from "../../view/table.ts";
import { documentOptions, documentOutcome, wantsDocument } from "./documents.ts";
import { framed, periodOptions, readQuery, readSpanOf, spanData, tabled } from "./period.ts";

const right = (title: string): Column => ({ title, align: "right" });
const BY_WORKFLOW: readonly Column[] = [
  { title: "WORKFLOW", least: 12 },
  ...["RUNS", "ENTRIES", "VALUES", "RECORD"].map(right),
];
const BY_DAY: readonly Column[] = [
  { title: "DAY" },
  ...["RUNS", "ENTRIES", "WRITTEN", "EXPIRED", "DROPPED"].map(right),
];

export const capacity = defineCommand({
  name: "capacity",
  summary: "What the store holds, how it grows, and what retention removed",
  options: { ...periodOptions, ...documentOptions },
  examples: ["report capacity --since 30d"],
  async run(context) {
    if (wantsDocument(context.options))
      return documentOutcome(context, { ...(await readSpanOf(context)), artefacts: ["capacity"] });
    const report = await (await context.engine()).reports.capacity(await readQuery(context));
    const { total, byStatus, byWorkflow, days, largest } = report;
    const states = Object.entries(byStatus).map(([status, many]) => `${many} ${status}`);
    const [first] = largest;
    return {
      data: { ...report, ...spanData(report) },
      text: framed(context, "Capacity", report, [
        `  ${plural(total.runs, "run")}${states.length === 0 ? "" : `: ${states.join(", ")}`}`,
        `  ${bytes(total.valueBytes)} of values (${plural(total.blobs, "blob")}), ${bytes(total.headBytes)} of record that stays`,
        ...(first ? [`  the largest run is ${first.run} with ${bytes(first.bytes)}`] : []),
        ...tabled(
          context,
          BY_WORKFLOW,
          Object.entries(byWorkflow)
            .sort(([, a], [, b]) => size(b) - size(a))
            .map(([name, one]) => [
              name,
              count(one.runs),
              count(one.entries),
              bytes(one.valueBytes),
              bytes(one.headBytes),
            ]),
        ),
        ...tabled(
          context,
          BY_DAY,
          days.map((one) => [
            one.day,
            count(one.runs),
            count(one.entries),
            bytes(one.bytes),
            count(one.expired),
            count(one.dropped),
          ]),
        ),
      ]),
    };
  },
});

const size = ({ headBytes, valueBytes }: Stored): number => headBytes + valueBytes;
