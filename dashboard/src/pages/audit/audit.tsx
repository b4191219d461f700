import { useState } from "react";
import { Link } from "wouter";
import type { AnswerOf } from "../../api/client.ts";
import { useApi } from "../../api/use-api.ts";
import { useSession } from "../../session.tsx";
import { TEXT } from "../../text.ts";
import { SelectField } from "../../ui/field.tsx";
import { Card, Loaded, Page, Teach } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { When } from "../../ui/time.tsx";
import { RangePicker, useRange } from "../range.tsx";
import { actWord } from "./act-words.ts";
import { Evidence } from "./evidence.tsx";
import { Heads } from "./heads.tsx";
import { Verify } from "./verify.tsx";

type Line = AnswerOf<"listActs">["acts"][number];

const T = TEXT.audit;
const AUDIT = "audit:read";

/** Who did what, when and why, over all runs; and whether the record of it is intact. */
export default function Audit() {
  const { may } = useSession();
  return (
    <Page title={TEXT.nav.audit} lead={T.lead}>
      {may(AUDIT) ? <Acts /> : <p className="py-6 text-soft">{TEXT.allowed.seeing(AUDIT)}</p>}
    </Page>
  );
}

function Acts() {
  const range = useRange("week");
  const [actor, setActor] = useState("");
  const [kind, setKind] = useState("");
  const query = useApi(
    "listActs",
    {
      ...(range.since === undefined ? {} : { since: range.since }),
      ...(actor === "" ? {} : { actor }),
      ...(kind === "" ? {} : { kind }),
    },
    { refetchMs: 10_000 },
  );
  const { data } = query;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 xl:grid-cols-[minmax(0,1fr)_24rem]">
      <div className="min-w-0">
        <div className="mb-3 flex flex-wrap items-end gap-3">
          <SelectField
            label={T.actor}
            className="w-44"
            value={actor}
            choices={choicesOf(T.anyone, data?.actors, (name) => name, actor)}
            onChange={setActor}
          />
          <SelectField
            label={T.act}
            className="w-48"
            value={kind}
            choices={choicesOf(T.anything, data?.kinds, actWord, kind)}
            onChange={setKind}
          />
          <RangePicker range={range} />
        </div>
        <Loaded query={query}>
          {({ acts, runs, more }) =>
            acts.length === 0 ? (
              <Teach words={T} />
            ) : (
              <>
                <Card>
                  <Table
                    label={TEXT.nav.audit}
                    rows={acts}
                    keyOf={({ run, seq }) => `${run} ${seq}`}
                    columns={COLUMNS}
                  />
                </Card>
                <p className="mt-2 text-soft">
                  {T.looked(runs)} {more ? T.more : ""}
                </p>
              </>
            )
          }
        </Loaded>
      </div>
      <div className="flex flex-col gap-5">
        <Heads />
        <Verify />
        <Evidence />
      </div>
    </div>
  );
}

/** What there is to choose from, each with how often; what is chosen stays even if it is gone. */
function choicesOf(
  any: string,
  counts: Readonly<Record<string, number>> | undefined,
  named: (name: string) => string,
  chosen: string,
) {
  const found = Object.entries(counts ?? {}).toSorted(([a], [b]) => a.localeCompare(b));
  const missing = chosen !== "" && !found.some(([name]) => name === chosen) ? [[chosen, 0] as const] : [];
  return [
    { value: "", name: any },
    ...[...found, ...missing].map(([value, count]) => ({ value, name: `${named(value)} (${count})` })),
  ];
}

const COLUMNS: readonly Column<Line>[] = [
  { title: T.columns.at, cell: ({ at }) => <When at={at} /> },
  { title: T.columns.actor, cell: ({ actor }) => <span className="font-medium">{actor}</span> },
  {
    title: T.columns.act,
    cell: ({ kind, step }) => (
      <>
        {actWord(kind)}
        {step === "" ? null : <code className="block text-[0.87rem] break-all text-soft">{step}</code>}
      </>
    ),
  },
  {
    title: T.columns.run,
    cell: ({ run, workflow }) => (
      <>
        <Link href={`/r/${run}`} className="block max-w-60 truncate font-mono underline" title={run}>
          {run}
        </Link>
        <span className="block text-[0.87rem] text-soft">{workflow}</span>
      </>
    ),
  },
  {
    title: T.columns.reason,
    grows: true,
    spare: "sm",
    cell: ({ reason }) => reason ?? <span className="text-faint">{T.noReason}</span>,
  },
];
