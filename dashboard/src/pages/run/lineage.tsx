import { CornerDownRight, GitFork } from "lucide-react";
import { Link } from "wouter";
import { useApi } from "../../api/use-api.ts";
import { TEXT } from "../../text.ts";
import { Badge } from "../../ui/badge.tsx";
import type { RunAnswer } from "./head.tsx";

/** The most children that are named; the list of runs shows the others. */
const SHOWN = 6;

/** Where the run comes from, and the runs that it has started. */
export function Lineage({ run }: { readonly run: RunAnswer["run"] }) {
  const { data } = useApi("listRuns", { parent: run.id, limit: SHOWN + 1 });
  const children = data?.runs ?? [];
  if (!run.parent && !run.origin && children.length === 0) return null;
  return (
    <ul
      className="mt-2 flex flex-wrap items-center gap-x-5 gap-y-1 text-[0.93rem]"
      aria-label={TEXT.run.lineage.label}
    >
      {run.origin ? (
        <li className="flex items-center gap-1.5">
          <GitFork aria-hidden className="size-4 text-faint" />
          {TEXT.run.lineage.forkedFrom}
          <RunLink id={run.origin.runId} query={`?at=${run.origin.seq}`}>
            {run.origin.runId}@{run.origin.seq}
          </RunLink>
        </li>
      ) : null}
      {run.parent ? (
        <li className="flex items-center gap-1.5">
          <CornerDownRight aria-hidden className="size-4 text-faint" />
          {TEXT.run.lineage.startedBy}
          <RunLink id={run.parent.runId} query={`?step=${encodeURIComponent(run.parent.step)}`}>
            {run.parent.runId}:{run.parent.step}
          </RunLink>
        </li>
      ) : null}
      {children.slice(0, SHOWN).map((child) => (
        <li key={child.id} className="flex items-center gap-1.5">
          <RunLink id={child.id}>{child.parent?.step ?? child.id}</RunLink>
          <span className="text-soft tabular-nums">{child.progress.text}</span>
          {child.tone === "good" ? null : <Badge tone={child.tone}>{child.word}</Badge>}
        </li>
      ))}
      {children.length > SHOWN ? (
        <li>
          <Link href={`/runs?parent=${run.id}`} className="text-accent underline">
            {TEXT.run.lineage.all}
          </Link>
        </li>
      ) : null}
    </ul>
  );
}

const RunLink = ({
  id,
  query = "",
  children,
}: {
  readonly id: string;
  readonly query?: string;
  readonly children: React.ReactNode;
}) => (
  <Link href={`/r/${id}${query}`} className="max-w-80 truncate font-medium text-accent hover:underline">
    {children}
  </Link>
);
