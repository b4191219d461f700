import type { AnswerOf } from "../../api/client.ts";
import { useApi } from "../../api/use-api.ts";
import { TEXT } from "../../text.ts";
import { Badge } from "../../ui/badge.tsx";
import { Bar } from "../../ui/figures.tsx";
import { Card, Loaded, Page, Teach } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Since, When } from "../../ui/time.tsx";

type Worker = AnswerOf<"listWorkers">["workers"][number];

const T = TEXT.workers;

/** The processes that advance runs, and whether they are alive. */
export default function Workers() {
  const query = useApi("listWorkers", {}, { refetchMs: 3_000 });
  return (
    <Page title={TEXT.nav.workers} lead={T.lead}>
      <Loaded query={query}>
        {({ workers }) =>
          workers.length === 0 ? (
            <Teach words={T} />
          ) : (
            <Card>
              <Table label={TEXT.nav.workers} rows={workers} keyOf={({ owner }) => owner} columns={COLUMNS} />
            </Card>
          )
        }
      </Loaded>
    </Page>
  );
}

function stateOf({ isStale, isStopping }: Worker): "working" | "stopping" | "stale" {
  return isStale ? "stale" : isStopping ? "stopping" : "working";
}
const TONES = { working: "good", stopping: "waits", stale: "bad" } as const;

const COLUMNS: readonly Column<Worker>[] = [
  {
    title: T.columns.process,
    cell: ({ host, pid, owner }) => (
      <>
        <span className="font-medium break-all">{host}</span>
        <span className="block text-[0.87rem] text-soft">{T.pid(pid)}</span>
        {owner === `${host}:${pid}` ? null : (
          <code className="block max-w-60 truncate text-[0.82rem] text-faint" title={owner}>
            {owner}
          </code>
        )}
      </>
    ),
  },
  {
    title: T.columns.workflows,
    grows: true,
    spare: "sm",
    cell: ({ workflows }) => (
      <ul className="flex flex-wrap gap-1.5">
        {workflows.map(({ name, version }) => (
          <li key={name} className="rounded bg-calm-soft px-1.5 py-0.5 text-[0.87rem]">
            {name} <span className="text-soft">v{version}</span>
          </li>
        ))}
      </ul>
    ),
  },
  {
    title: T.columns.runs,
    spare: "sm",
    cell: ({ running, concurrency }) => (
      <span className="inline-block min-w-24 tabular-nums">
        {T.of(running, concurrency)}
        <Bar part={running / concurrency} className="mt-1" />
      </span>
    ),
  },
  { title: T.columns.beat, spare: "sm", cell: ({ beat }) => <When at={beat} /> },
  { title: T.columns.since, spare: "md", cell: ({ since }) => <Since at={since} /> },
  {
    title: T.columns.status,
    cell: (worker) => (
      <>
        <Badge tone={TONES[stateOf(worker)]}>{T.status[stateOf(worker)]}</Badge>
        <span className="mt-0.5 block text-[0.87rem] text-soft sm:hidden">
          <When at={worker.beat} />
        </span>
      </>
    ),
  },
];
