import { Link } from "wouter";
import type { AnswerOf } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { Badge } from "../../ui/badge.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { spanText, When } from "../../ui/time.tsx";

type Incident = AnswerOf<"reportRecoveries">["incidents"][number];

const T = TEXT.reliability;
const TONES = {
  "went on": "good",
  waits: "waits",
  parked: "waits",
  "died again": "bad",
  "under way": "busy",
} as const satisfies Readonly<Record<Incident["result"], string>>;

/** Takeovers from lost workers, newest first. */
export function Incidents({ incidents }: { readonly incidents: readonly Incident[] }) {
  if (incidents.length === 0) return <p className="px-4 py-3 text-soft">{T.noIncidents}</p>;
  return (
    <Table
      label={T.incidents}
      rows={incidents.toReversed().slice(0, 100)}
      keyOf={({ run, seq }) => `${run} ${seq}`}
      columns={COLUMNS}
    />
  );
}

const C = T.incidentColumns;
const COLUMNS: readonly Column<Incident>[] = [
  { title: C.at, cell: ({ at }) => <When at={at} /> },
  {
    title: C.run,
    grows: true,
    cell: ({ run, workflow }) => (
      <>
        <Link href={`/r/${run}`} className="font-mono underline">
          {run}
        </Link>
        <span className="block text-[0.87rem] text-soft">{workflow}</span>
      </>
    ),
  },
  {
    title: C.lost,
    spare: "lg",
    cell: ({ lost }) => <code className="block max-w-48 truncate text-[0.87rem]">{lost ?? "–"}</code>,
  },
  { title: C.silent, align: "right", cell: ({ silentMs }) => spanText(silentMs) },
  {
    title: C.resumed,
    align: "right",
    spare: "sm",
    cell: ({ resumedAfterMs }) => (resumedAfterMs === null ? T.notYet : spanText(resumedAfterMs)),
  },
  {
    title: C.underWay,
    spare: "md",
    wraps: true,
    cell: ({ interrupted }) => (
      <span className="text-soft">
        {interrupted.map(({ step, effect }) => `${step} (${effect})`).join(", ") || "–"}
      </span>
    ),
  },
  { title: C.result, cell: ({ result }) => <Badge tone={TONES[result]}>{T.results[result]}</Badge> },
];
