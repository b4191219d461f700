import { ChartColumn, Table2 } from "lucide-react";
import { useState } from "react";
import { TEXT } from "../text.ts";
import { Button } from "./button.tsx";
import { type ChartData, type Steps, summaryOf } from "./chart-data.ts";
import { later } from "./later.tsx";
import { Card } from "./page.tsx";
import { Table } from "./table.tsx";

const Canvas = later(() => import("./chart-canvas.tsx"), <div className="h-[13.9rem]" />);

const SWATCH = {
  accent: "bg-accent",
  bad: "bg-bad",
  good: "bg-good",
  busy: "bg-busy",
  waits: "bg-waits",
} as const;

export interface ChartProps {
  readonly title: string;
  readonly data: ChartData;
  /** The name of what the labels are, such as Day. */
  readonly by: string;
  readonly format: (value: number) => string;
  /** The steps of the axis: powers of two for bytes, whole numbers for counts. */
  readonly steps?: Steps;
}

/** Columns over time, or the same as a table. The drawing is loaded when a chart is shown. */
export function Chart({ title, data, by, format, steps = "any" }: ChartProps) {
  const [isTable, setTable] = useState(false);
  const rows = data.labels.map((label, at) => ({ label, at }));
  const Icon = isTable ? ChartColumn : Table2;
  return (
    <Card
      title={title}
      className="mb-5"
      acts={
        <Button small look="quiet" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          <Icon aria-hidden className="size-4" />
          {isTable ? TEXT.chart.chart : TEXT.chart.table}
        </Button>
      }
    >
      {isTable ? (
        <div className="max-h-72 overflow-y-auto">
          <Table
            label={title}
            rows={rows}
            keyOf={({ label }) => label}
            columns={[
              { title: by, cell: ({ label }) => label, grows: true },
              ...data.series.map(({ name, values }) => ({
                title: name,
                align: "right" as const,
                cell: ({ at }: { readonly at: number }) => {
                  const value = values[at] ?? null;
                  return value === null ? TEXT.chart.none : format(value);
                },
              })),
            ]}
          />
        </div>
      ) : (
        <figure className="px-3 pt-2 pb-3">
          <Canvas data={data} format={format} steps={steps} label={summaryOf(data, format)} />
          <figcaption className="mt-1 flex flex-wrap gap-x-4 gap-y-1 px-1 text-[0.87rem] text-soft">
            {data.series.map(({ name, colour }) => (
              <span key={name} className="inline-flex items-center gap-1.5">
                <span aria-hidden className={`size-2.5 rounded-sm ${SWATCH[colour]}`} />
                {name}
              </span>
            ))}
          </figcaption>
        </figure>
      )}
    </Card>
  );
}
