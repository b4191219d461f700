import { useMemo, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import type { AnswerOf } from "../../api/client.ts";
import { useApi } from "../../api/use-api.ts";
import { BulkDialog } from "../../bulk/bulk-dialog.tsx";
import { useSession } from "../../session.tsx";
import { TEXT } from "../../text.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy.tsx";
import { countText, plural } from "../../ui/numbers.ts";
import { Empty, Loaded, Page } from "../../ui/page.tsx";
import { When } from "../../ui/time.tsx";
import { OverTime } from "./over-time.tsx";
import { isRange, RANGES, type Range, sinceOf } from "./range.ts";

const T = TEXT.errors;
type Group = AnswerOf<"listErrors">["groups"][number];

/** Failed runs, alike with alike, and one button for all of a kind. */
export default function Errors() {
  const [range, setRange] = useRange();
  const since = useMemo(() => sinceOf(range), [range]);
  const query = useApi("listErrors", since === null ? {} : { since }, { refetchMs: 30_000 });
  const [group, setGroup] = useState<Group | null>(null);
  return (
    <Page
      title={TEXT.nav.errors}
      lead={T.lead}
      acts={
        <label className="flex items-center gap-2 text-soft">
          {T.range}
          <select
            value={range}
            onChange={(event) => setRange(event.target.value)}
            className="min-h-9 rounded-md border border-line-strong/60 bg-surface px-2 py-1.5 text-ink"
          >
            {RANGES.map((one) => (
              <option key={one} value={one}>
                {T.ranges[one]}
              </option>
            ))}
          </select>
        </label>
      }
    >
      <Loaded query={query}>
        {({ groups, runs, more, from, to }) =>
          groups.length === 0 ? (
            <NoErrors range={range} />
          ) : (
            <>
              <p className="mb-2 text-soft tabular-nums">
                {T.summary(plural(runs, "failed run"), plural(groups.length, "group"))}
                {more ? ` · ${T.more(countText(runs))}` : ""}
              </p>
              <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
                {groups.map((one) => (
                  <GroupRow key={one.id} group={one} time={{ from, to }} onResume={() => setGroup(one)} />
                ))}
              </ul>
            </>
          )
        }
      </Loaded>
      {group ? (
        <BulkDialog act="resume" chosen={{ errorGroup: group.id }} onClose={() => setGroup(null)} />
      ) : null}
    </Page>
  );
}

interface GroupRowProps {
  readonly group: Group;
  readonly time: { readonly from: number; readonly to: number };
  readonly onResume: () => void;
}

function GroupRow({ group, time, onResume }: GroupRowProps) {
  const { may } = useSession();
  const { id, workflow, steps, code, shape, message, count, first, newest, examples } = group;
  const [example] = examples;
  const n = countText(count);
  return (
    <li className="grid gap-x-5 gap-y-3 p-4 sm:grid-cols-[3.5rem_1fr_auto]">
      <p className="flex items-baseline gap-1.5 sm:flex-col sm:gap-0">
        <span className="text-2xl leading-tight font-semibold text-bad tabular-nums">{n}</span>
        <span className="text-[0.87rem] text-soft">{T.runs(count)}</span>
      </p>
      <div className="min-w-0">
        <h2 className="line-clamp-3 font-medium break-words" title={message}>
          {shape === "" ? message : shape}
        </h2>
        <p className="mt-1 flex flex-wrap gap-x-4 gap-y-0.5 text-[0.93rem] text-soft">
          <span>{workflow}</span>
          {steps.length === 0 ? null : (
            <span>
              {T.at} <span className="font-mono text-[0.87rem]">{steps.slice(0, 3).join(", ")}</span>
            </span>
          )}
          {code === null ? null : <span className="font-mono text-[0.87rem]">{code}</span>}
          <span>
            {T.first} <When at={first} />
          </span>
          <span>
            {T.last} <When at={newest} />
          </span>
        </p>
        {example === undefined ? null : (
          <p className="mt-1 truncate text-[0.87rem] text-soft">
            {T.example}{" "}
            <Link href={`/r/${example}`} className="font-mono text-ink hover:underline">
              {example}
            </Link>{" "}
            {shape === "" || shape === message ? null : message}
          </p>
        )}
      </div>
      <div className="flex flex-wrap items-center gap-2 sm:self-center">
        <OverTime counts={group.overTime} {...time} />
        <Link
          href={`/runs?${new URLSearchParams({ q: `error:${id}` })}`}
          className="rounded-md px-2 py-1.5 whitespace-nowrap text-soft hover:bg-sunken hover:text-ink"
        >
          {T.show(`${n} ${T.runs(count)}`)}
        </Link>
        <Button look="primary" disabled={!may("runs:act")} onClick={onResume}>
          {count === 1 ? T.resumeOne : T.resumeAll(n)}
        </Button>
      </div>
    </li>
  );
}

function NoErrors({ range }: { readonly range: Range }) {
  return (
    <Empty title={range === "" ? T.emptyAny : T.empty(T.ranges[range])}>
      <p className="mb-4">{T.emptyLead}</p>
      <CommandLine command={TEXT.needsYou.crashTest} />
    </Empty>
  );
}

/** The range, which is in the address. */
function useRange(): readonly [Range, (range: string) => void] {
  const given = new URLSearchParams(useSearch()).get("within");
  const [, go] = useLocation();
  return [given !== null && isRange(given) ? given : "24h", (range) => go(`/errors?within=${range}`)];
}
