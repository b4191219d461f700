import { CornerDownRight, GitFork, Workflow } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useApi } from "../../api/use-api.ts";
import { TEXT } from "../../text.ts";
import { Badge } from "../../ui/badge.tsx";
import { runsWith } from "./runs-with.ts";

/** The most children that are named; the list of runs shows the others. */
const SHOWN = 5;

/** Where the run comes from, and what came of it. */
export function Lineage({ run }: { readonly run: string }) {
  const { data } = useApi("getLineage", { run });
  if (!data) return null;
  const { forkedFrom, parents, forks, children } = data;
  const [origin] = forkedFrom;
  const [parent] = parents;
  if (!origin && !parent && forks.length === 0 && children.length === 0) return null;
  const { lineage } = TEXT.run;
  return (
    <ul
      className="mt-2 flex flex-wrap items-center gap-x-5 gap-y-1 text-[0.93rem]"
      aria-label={lineage.label}
    >
      {origin ? (
        <li className="flex min-w-0 items-center gap-1.5">
          <GitFork aria-hidden className="size-4 shrink-0 text-faint" />
          {lineage.forkedFrom}
          <RunLink id={origin.run} query={`?at=${origin.seq}`}>{`${origin.run}@${origin.seq}`}</RunLink>
        </li>
      ) : null}
      {parent ? (
        <li className="flex min-w-0 items-center gap-1.5">
          <CornerDownRight aria-hidden className="size-4 shrink-0 text-faint" />
          {lineage.startedBy}
          <RunLink id={parent.run} query={`?step=${encodeURIComponent(parent.step)}`}>
            {`${parent.run}:${parent.step}`}
          </RunLink>
        </li>
      ) : null}
      {forks.slice(0, SHOWN).map((fork) => (
        <li key={fork.run} className="flex min-w-0 items-center gap-1.5">
          <GitFork aria-hidden className="size-4 shrink-0 text-faint" />
          {lineage.fork}
          <RunLink id={fork.run}>{fork.run}</RunLink>
          <span className="text-soft">@{fork.seq}</span>
        </li>
      ))}
      {children.length > 0 ? <Children run={run} /> : null}
    </ul>
  );
}

/** The runs that it has started: an agent of a team is one of them, with its subtasks. */
function Children({ run }: { readonly run: string }) {
  const { data } = useApi("listRuns", { parent: run, limit: SHOWN + 1 });
  const children = data?.runs ?? [];
  const ids = children.slice(0, SHOWN).map(({ id }) => id);
  const { data: progress } = useApi(
    "getProgress",
    { run: ids },
    { enabled: ids.length > 0, refetchMs: 5_000 },
  );
  const known = new Map(progress?.runs.map((one) => [one.run, one.text]));
  return (
    <>
      {children.slice(0, SHOWN).map((child) => (
        <li key={child.id} className="flex min-w-0 items-center gap-1.5">
          <Workflow aria-hidden className="size-4 shrink-0 text-faint" />
          <RunLink id={child.id}>{child.parent?.step ?? child.id}</RunLink>
          <span className="text-soft tabular-nums">{known.get(child.id) ?? child.progress.text}</span>
          {child.tone === "good" ? null : <Badge tone={child.tone}>{child.word}</Badge>}
        </li>
      ))}
      {children.length > SHOWN ? (
        <li>
          <Link href={runsWith("parent", run)} className="text-accent underline">
            {TEXT.run.lineage.all}
          </Link>
        </li>
      ) : null}
    </>
  );
}

const RunLink = ({
  id,
  query = "",
  children,
}: {
  readonly id: string;
  readonly query?: string;
  readonly children: ReactNode;
}) => (
  <Link href={`/r/${id}${query}`} className="max-w-80 truncate font-medium text-accent hover:underline">
    {children}
  </Link>
);
