import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { TEXT } from "../../text.ts";
import type { Tone } from "../../ui/badge.tsx";
import { groupSteps } from "./group-steps.ts";

/** So many of a group are listed when it is opened; the rest is counted. */
const MOST = 200;

const DOTS: Readonly<Record<Tone, string>> = {
  good: "bg-good",
  bad: "bg-bad",
  waits: "bg-waits",
  busy: "bg-busy",
  calm: "bg-calm",
};

/** One kind of thing in a plan: its name, how many, and which. */
export function PlanPart({
  title,
  count,
  tone,
  note,
  children,
}: {
  readonly title: string;
  readonly count?: number;
  readonly tone: Tone;
  readonly note?: ReactNode;
  readonly children?: ReactNode;
}) {
  return (
    <section className="grid gap-x-4 gap-y-1 border-t border-line py-2.5 first:border-t-0 sm:grid-cols-[9.5rem_1fr]">
      <h3 className="flex items-center gap-2 self-start font-medium">
        <span aria-hidden className={`size-2 shrink-0 rounded-full ${DOTS[tone]}`} />
        {title}
        {count === undefined ? null : <span className="text-soft tabular-nums">{count}</span>}
      </h3>
      <div className="min-w-0">
        {note === undefined ? null : <p className="text-soft">{note}</p>}
        {children}
      </div>
    </section>
  );
}

/** The steps of a part; many of the same kind are one line that opens. */
export function StepList<Row extends { readonly step: string }>({
  rows,
  note,
}: {
  readonly rows: readonly Row[];
  readonly note: (row: Row) => ReactNode;
}) {
  return (
    <ul className="flex flex-col gap-0.5">
      {groupSteps(rows).map(({ name, rows: [first, ...others] }) => (
        <li key={name} className="min-w-0">
          {first === undefined ? null : others.length === 0 ? (
            <StepLine step={first.step}>{note(first)}</StepLine>
          ) : (
            <details className="group">
              <summary className="flex list-none items-center gap-1.5">
                <ChevronRight aria-hidden className="size-4 text-faint group-open:rotate-90" />
                <StepLine step={name}>
                  <span className="tabular-nums">{TEXT.plan.times(others.length + 1)}</span>
                </StepLine>
              </summary>
              <ul className="my-1 ml-2 max-h-64 overflow-y-auto border-l border-line pl-3.5">
                {[first, ...others].slice(0, MOST).map((row) => (
                  <li key={row.step}>
                    <StepLine step={row.step}>{note(row)}</StepLine>
                  </li>
                ))}
                {others.length + 1 > MOST ? (
                  <li className="text-soft">{TEXT.json.more(others.length + 1 - MOST)}</li>
                ) : null}
              </ul>
            </details>
          )}
        </li>
      ))}
    </ul>
  );
}

const StepLine = ({ step, children }: { readonly step: string; readonly children: ReactNode }) => (
  <span className="flex min-w-0 flex-wrap items-baseline gap-x-2">
    <span className="font-mono text-[0.93rem] break-all">{step}</span>
    <span className="text-[0.93rem] text-soft">{children}</span>
  </span>
);
