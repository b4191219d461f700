import { useState } from "react";
import type { AnswerOf } from "../../api/client.ts";
import { useApi } from "../../api/use-api.ts";
import { TEXT } from "../../text.ts";
import { Chart } from "../../ui/chart.tsx";
import { Segments } from "../../ui/field.tsx";
import { Bar, Figures } from "../../ui/figures.tsx";
import { costText, countText, moneyText, percentText } from "../../ui/numbers.ts";
import { Card, Loaded, Page, Teach } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { spanText } from "../../ui/time.tsx";
import { RangePicker, useRange } from "../range.tsx";
import { Budgets } from "./budgets.tsx";
import { chartOf } from "./cost-figures.ts";
import { Prices } from "./prices.tsx";

type Report = AnswerOf<"listCosts">;
type Group = Report["groups"][number];
const GROUPS = ["workflow", "step", "model", "label"] as const;
/** The most runs that are added up for the page. */
const RUNS = 2_000;

const T = TEXT.cost;

/** Money: spent, wasted, saved; what has no price is never shown as nothing. */
export default function Cost() {
  const range = useRange("month");
  const [by, setBy] = useState<(typeof GROUPS)[number]>("workflow");
  const asked = { ...(range.since === undefined ? {} : { since: range.since }), limit: RUNS };
  const query = useApi("listCosts", { ...asked, by });
  const days = useApi("listCosts", { ...asked, by: "day" });
  return (
    <Page title={TEXT.nav.cost} lead={T.lead} acts={<RangePicker range={range} />}>
      <Loaded query={query}>
        {(report) =>
          report.total.tokens === 0 && report.total.costUsd === 0 ? (
            <Teach words={T} />
          ) : (
            <>
              <Totals report={report} />
              {days.data ? (
                <Chart
                  title={T.chart}
                  data={chartOf(days.data, range.since)}
                  by={TEXT.chart.day}
                  format={moneyText}
                />
              ) : null}
              <div className="mb-3 flex flex-wrap items-center gap-3">
                <Segments
                  label={T.by}
                  value={by}
                  choices={GROUPS.map((value) => ({ value, name: T.groups[value] }))}
                  onChange={setBy}
                />
                {report.more ? <p className="text-soft">{TEXT.range.partial(RUNS)}</p> : null}
              </div>
              <Card>
                <Table
                  label={T.groups[by]}
                  rows={report.groups}
                  keyOf={({ name }) => name}
                  columns={columnsOf(by, Math.max(...report.groups.map(({ costUsd }) => costUsd ?? 0)))}
                />
              </Card>
            </>
          )
        }
      </Loaded>
      <div className="mt-5 flex flex-col gap-5">
        <Budgets />
        <Prices />
      </div>
    </Page>
  );
}

function Totals({ report: { total, recovery } }: { readonly report: Report }) {
  const { wasted, saved } = total;
  return (
    <Figures
      figures={[
        {
          name: T.spent,
          value: costText(total),
          note: `${T.tokens(countText(total.tokens))} · ${T.runs(total.runs)}`,
        },
        {
          name: T.wasted,
          value: costText(wasted),
          tone: (wasted.costUsd ?? 0) > 0 ? "waits" : "plain",
          note: total.costUsd
            ? T.wastedShare(percentText((wasted.costUsd ?? 0) / total.costUsd))
            : T.tokens(countText(wasted.tokens)),
        },
        {
          name: T.saved,
          value: costText(saved),
          tone: (saved.costUsd ?? 0) > 0 ? "good" : "plain",
          note: [
            T.savedNote(saved.steps, spanText(saved.ms)),
            ...(recovery.interrupted && recovery.withoutRecovery
              ? [T.without(recovery.withoutRecovery.toFixed(2))]
              : []),
          ].join(" · "),
        },
        {
          name: T.unpriced,
          value: countText(total.unpriced),
          tone: total.unpriced > 0 ? "waits" : "plain",
          note: total.unpriced > 0 ? T.unpricedNote : T.allPriced,
        },
      ]}
    />
  );
}

const columnsOf = (by: (typeof GROUPS)[number], most: number): readonly Column<Group>[] => [
  {
    title: T.groups[by],
    grows: true,
    cell: ({ name, costUsd }) => (
      <>
        <span className="break-words">{name}</span>
        <Bar part={most > 0 ? (costUsd ?? 0) / most : 0} className="mt-1 max-w-md" />
      </>
    ),
  },
  {
    title: T.columns.spent,
    align: "right",
    cell: (one) => <span className="font-medium">{costText(one)}</span>,
  },
  { title: T.columns.tokens, align: "right", spare: "sm", cell: ({ tokens }) => countText(tokens) },
  { title: T.columns.wasted, align: "right", cell: ({ wasted }) => costText(wasted) },
  { title: T.columns.saved, align: "right", spare: "sm", cell: ({ saved }) => costText(saved) },
  {
    title: T.columns.unpriced,
    align: "right",
    spare: "md",
    cell: ({ unpriced }) => (unpriced > 0 ? <span className="text-waits">{countText(unpriced)}</span> : "–"),
  },
  { title: T.columns.runs, align: "right", spare: "sm", cell: ({ runs }) => countText(runs) },
];
