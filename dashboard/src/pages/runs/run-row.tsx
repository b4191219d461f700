import { GitFork, LifeBuoy, Pin, Split } from "lucide-react";
import { type MouseEvent, memo } from "react";
import { Link } from "wouter";
import { TEXT } from "../../text.ts";
import { Badge } from "../../ui/badge.tsx";
import { Headline } from "../../ui/headline.tsx";
import { costText } from "../../ui/numbers.ts";
import { Since, spanText } from "../../ui/time.tsx";
import type { RunItem } from "./run-list.ts";

const T = TEXT.runs;

/** One set of columns for the head and all rows. On a phone a row has four lines. */
export const COLUMNS =
  "grid gap-x-3 grid-cols-[1.25rem_1fr_auto] md:grid-cols-[1.25rem_9.25rem_10rem_minmax(0,1fr)_4.5rem_4.5rem] xl:grid-cols-[1.25rem_9.25rem_minmax(9.5rem,1fr)_minmax(5rem,10.5rem)_minmax(12rem,2.4fr)_5.5rem_4.25rem_2.5rem_4rem] text-[0.93rem]";

export interface RowProps {
  readonly run: RunItem;
  readonly index: number;
  readonly isSelected: boolean;
  readonly isCurrent: boolean;
  readonly top: number;
  readonly height: number;
  readonly progress: RunItem["progress"];
  readonly onSelect: (id: string, isRange: boolean) => void;
}

/** What the run does, or how long it took: the status beside it says the rest. */
function Sentence({ run: { headline, status, createdAt, finishedAt } }: { readonly run: RunItem }) {
  if (headline !== status) return <Headline text={headline} />;
  return finishedAt === null ? null : T.took(spanText(finishedAt - createdAt));
}

export const RunRow = memo(function RunRow({
  run,
  index,
  isSelected,
  isCurrent,
  top,
  height,
  progress,
  onSelect,
}: RowProps) {
  return (
    <tr
      aria-rowindex={index + 2}
      data-selected={isSelected}
      data-run={run.id}
      style={{ height, transform: `translateY(${top}px)` }}
      className={`absolute inset-x-0 content-center items-center border-b border-line px-3 ${COLUMNS} ${isSelected ? "bg-accent-soft" : "hover:bg-sunken"} ${isCurrent ? "shadow-[inset_3px_0_0_var(--accent)]" : ""}`}
    >
      <td className="flex items-center max-md:col-start-1 max-md:row-span-4 max-md:row-start-1 max-md:self-start max-md:pt-1">
        <input
          type="checkbox"
          aria-label={T.select(run.id)}
          checked={isSelected}
          onChange={() => undefined}
          onClick={(event: MouseEvent) => onSelect(run.id, event.shiftKey)}
          className="size-4 accent-accent"
        />
      </td>
      <td className="min-w-0 overflow-hidden max-md:col-start-2 max-md:row-start-1">
        <Badge tone={run.tone}>{run.word}</Badge>
      </td>
      <td className="flex min-w-0 items-center gap-1.5 max-md:col-span-2 max-md:col-start-2 max-md:row-start-2">
        <Link
          href={`/r/${run.id}`}
          title={run.name ?? run.id}
          className="truncate font-mono text-[0.9rem] font-medium hover:underline"
        >
          {run.name ?? run.id}
        </Link>
        <Lineage run={run} />
      </td>
      <td className="truncate text-soft max-xl:hidden" title={run.workflow}>
        {run.workflow}
      </td>
      <td
        title={run.headline === run.status ? undefined : run.headline}
        className={`truncate max-md:col-span-2 max-md:col-start-2 max-md:row-start-3 ${run.tone === "bad" ? "text-bad" : "text-soft"}`}
      >
        <Sentence run={run} />
      </td>
      <td className="min-w-0 max-xl:hidden">
        <Done progress={progress} />
      </td>
      <td className="text-right whitespace-nowrap text-soft tabular-nums max-md:col-start-3 max-md:row-start-1">
        <Since at={run.createdAt} />
      </td>
      <td className="text-right text-soft tabular-nums max-xl:hidden">
        <Recoveries n={run.recoveries} />
      </td>
      <td className="text-right text-soft tabular-nums max-md:hidden">
        {run.usage.costUsd === 0 ? "–" : costText(run.usage)}
      </td>
      <td className="col-span-2 col-start-2 row-start-4 truncate text-[0.87rem] text-faint md:hidden">
        {run.workflow} · {progress.text}
      </td>
    </tr>
  );
});

function Lineage({ run: { origin, parent, pinned } }: { readonly run: RunItem }) {
  const marks = [
    ...(origin ? [{ Icon: GitFork, text: T.forked(`${origin.runId}@${origin.seq}`) }] : []),
    ...(parent ? [{ Icon: Split, text: T.child(parent.runId) }] : []),
    ...(pinned ? [{ Icon: Pin, text: T.pinned }] : []),
  ];
  return marks.map(({ Icon, text }) => (
    <span key={text} title={text} className="shrink-0 text-faint">
      <Icon aria-hidden className="size-3.5" />
      <span className="sr-only">{text}</span>
    </span>
  ));
}

function Done({ progress }: Pick<RowProps, "progress">) {
  const { done, total } = progress;
  return (
    <div className="flex items-center gap-2" title={progress.text}>
      {total === undefined ? null : (
        <div aria-hidden className="h-1.5 w-12 shrink-0 overflow-hidden rounded-full bg-sunken">
          <div
            className="h-full rounded-full bg-accent"
            style={{ width: `${total === 0 ? 0 : Math.min(100, (100 * done) / total)}%` }}
          />
        </div>
      )}
      <span className="truncate text-[0.87rem] text-soft tabular-nums">
        {total === undefined ? progress.text : `${done}/${total}`}
      </span>
    </div>
  );
}

function Recoveries({ n }: { readonly n: number }) {
  if (n === 0) return "–";
  return (
    <span title={T.recoveries(n)} className="inline-flex items-center gap-1 text-waits">
      <LifeBuoy aria-hidden className="size-3.5" />
      {n}
      <span className="sr-only">{T.recoveries(n)}</span>
    </span>
  );
}
