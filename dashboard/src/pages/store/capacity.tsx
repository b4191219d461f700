import { Link } from "wouter";
import type { AnswerOf } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { Chart } from "../../ui/chart.tsx";
import { CommandLine } from "../../ui/copy.tsx";
import { Bar } from "../../ui/figures.tsx";
import { bytesText, countText } from "../../ui/numbers.ts";
import { Card, Empty } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";

type Report = AnswerOf<"reportCapacity">;

const T = TEXT.store;

/** The content of the store by workflow and by day. */
export function Capacity({ report }: { readonly report: Report }) {
  const { total, byWorkflow, days, largest } = report;
  if (total.runs === 0)
    return (
      <Empty title={T.empty}>
        <CommandLine command={T.command} />
      </Empty>
    );
  const rows = Object.entries(byWorkflow)
    .map(([name, one]) => ({ name, ...one, bytes: one.valueBytes + one.headBytes }))
    .toSorted((a, b) => b.bytes - a.bytes);
  const all = total.valueBytes + total.headBytes;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 xl:grid-cols-2">
      <div className="min-w-0">
        <Chart
          title={T.chart}
          by={TEXT.chart.day}
          format={bytesText}
          steps="binary"
          data={{
            labels: days.map(({ day }) => day),
            series: [{ name: T.written, colour: "accent", values: days.map(({ bytes }) => bytes) }],
          }}
        />
        <Card title={T.largest}>
          <Table
            label={T.largest}
            rows={largest.slice(0, 5)}
            keyOf={({ run }) => run}
            columns={[
              {
                title: T.previewColumns.run,
                grows: true,
                cell: ({ run, workflow }) => (
                  <>
                    <Link href={`/r/${run}`} className="font-mono break-all underline">
                      {run}
                    </Link>{" "}
                    <span className="text-soft">{workflow}</span>
                  </>
                ),
              },
              { title: T.size, align: "right", cell: ({ bytes }) => bytesText(bytes) },
            ]}
          />
        </Card>
      </div>
      <Card title={T.byWorkflow}>
        <Table
          label={T.byWorkflow}
          rows={rows}
          keyOf={({ name }) => name}
          columns={[
            {
              title: T.columns.workflow,
              grows: true,
              cell: ({ name, bytes }) => (
                <>
                  <span className="break-all">{name}</span>
                  <Bar part={all > 0 ? bytes / all : 0} className="mt-1 max-w-sm" />
                </>
              ),
            },
            { title: T.columns.runs, align: "right", cell: ({ runs }) => countText(runs) },
            {
              title: T.columns.entries,
              align: "right",
              spare: "sm",
              cell: ({ entries }) => countText(entries),
            },
            { title: T.columns.values, align: "right", cell: ({ valueBytes }) => bytesText(valueBytes) },
            {
              title: T.columns.record,
              align: "right",
              spare: "sm",
              cell: ({ headBytes }) => bytesText(headBytes),
            },
          ]}
        />
      </Card>
    </div>
  );
}
