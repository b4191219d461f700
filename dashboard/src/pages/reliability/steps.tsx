import type { AnswerOf } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { Bar } from "../../ui/figures.tsx";
import { countText } from "../../ui/numbers.ts";
import { type Column, Table } from "../../ui/table.tsx";

type Report = AnswerOf<"reportSteps">;
type Step = Report["steps"][number];

const T = TEXT.reliability;

/** The steps that fail most, with how many attempts they need. */
export function FailingSteps({ report }: { readonly report: Report }) {
  const failing = report.steps.filter(({ failedAttempts, inDoubt }) => failedAttempts + inDoubt > 0);
  return (
    <>
      {failing.length === 0 ? (
        <p className="px-4 py-3 text-soft">{T.noFailing}</p>
      ) : (
        <Table
          label={T.failing}
          rows={failing.slice(0, 20)}
          keyOf={({ workflow, step }) => `${workflow} ${step}`}
          columns={COLUMNS}
        />
      )}
      {report.more ? <p className="px-4 pb-3 text-soft">{TEXT.range.partial(report.runs)}</p> : null}
    </>
  );
}

const C = T.stepColumns;
const COLUMNS: readonly Column<Step>[] = [
  {
    title: C.step,
    grows: true,
    cell: ({ workflow, step, failedAttempts, attempts }) => (
      <>
        <span className="break-all">{step}</span> <span className="text-soft">· {workflow}</span>
        <Bar part={failedAttempts / attempts} tone="bad" className="mt-1 max-w-sm" />
      </>
    ),
  },
  { title: C.calls, align: "right", spare: "md", cell: ({ steps }) => countText(steps) },
  { title: C.attempts, align: "right", spare: "sm", cell: ({ attempts }) => countText(attempts) },
  {
    title: C.failed,
    align: "right",
    cell: ({ failedAttempts, attempts }) =>
      `${countText(failedAttempts)} (${Math.round((failedAttempts / attempts) * 100)} %)`,
  },
  { title: C.p95, align: "right", spare: "md", cell: ({ attemptsP95 }) => countText(attemptsP95) },
  {
    title: C.forGood,
    align: "right",
    cell: ({ failed }) => (failed > 0 ? <span className="text-bad">{countText(failed)}</span> : "–"),
  },
  {
    title: C.doubt,
    align: "right",
    spare: "sm",
    cell: ({ inDoubt }) => (inDoubt > 0 ? <span className="text-waits">{countText(inDoubt)}</span> : "–"),
  },
];
