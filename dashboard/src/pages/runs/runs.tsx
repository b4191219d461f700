import { ArrowUp } from "lucide-react";
import { useCallback, useMemo, useRef, useState } from "react";
import { useLocation, useSearch } from "wouter";
import { useApi } from "../../api/use-api.ts";
import type { BulkAct } from "../../bulk/bulk.ts";
import { BulkDialog, type Chosen } from "../../bulk/bulk-dialog.tsx";
import { TEXT } from "../../text.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy.tsx";
import { countText } from "../../ui/numbers.ts";
import { Empty, Page } from "../../ui/page.tsx";
import { ProblemView } from "../../ui/problem.tsx";
import { StartRun } from "../start/start-run.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { Choice, StatusFacet, SyntaxHelp } from "./facets.tsx";
import { countableOf } from "./filter.ts";
import type { RunItem } from "./run-list.ts";
import { RunTable } from "./run-table.tsx";
import { SearchBox } from "./search-box.tsx";
import { extend, isNothing, NOTHING, type Selection, toggle } from "./selection.ts";
import { useRowKeys } from "./use-row-keys.ts";
import { useListed, useShown } from "./use-run-list.ts";
import { Views } from "./views.tsx";

const T = TEXT.runs;

/** The filter, which is in the address and nowhere else. */
function useFilter(): readonly [text: string, set: (text: string) => void] {
  const text = new URLSearchParams(useSearch()).get("q")?.trim() ?? "";
  const [, go] = useLocation();
  const set = useCallback(
    (next: string) => go(next === "" ? "/runs" : `/runs?${new URLSearchParams({ q: next })}`),
    [go],
  );
  return [text, set];
}

/** All runs, newest first: find some of them, look at them, act on them. */
export default function Runs() {
  const [text, setText] = useFilter();
  return (
    <Page title={TEXT.nav.runs} acts={<StartRun />}>
      <RunsOf key="runs" text={text} onText={setText} />
    </Page>
  );
}

function RunsOf({ text, onText }: { readonly text: string; readonly onText: (text: string) => void }) {
  const { list, query } = useListed(text);
  const countable = useMemo(() => countableOf(query), [query]);
  const counts = useApi("countRuns", countable, { refetchMs: 15_000 });
  const { shown, look } = useShown(list, counts.dataUpdatedAt);
  const [selection, setSelection] = useState<Selection>(NOTHING);
  const [bulk, setBulk] = useState<{ readonly act: BulkAct; readonly chosen: Chosen } | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const { rows, newer, isWhole, isLoading, error } = shown;
  const ids = useCallback(() => list.shown().rows.map(({ id }) => id), [list]);
  const select = useCallback(
    (id: string, isRange: boolean) => setSelection((now) => (isRange ? extend : toggle)(now, id, ids())),
    [ids],
  );
  const more = useCallback(() => void list.loadMore(), [list]);
  const act = (which: BulkAct, one?: string): void => {
    const named = one !== undefined && isNothing(selection) ? [one] : [...selection.ids];
    const chosen = selection.isAll ? query : named;
    if (selection.isAll || named.length > 0) setBulk({ act: which, chosen });
  };
  const current = useRowKeys({ ids, search, onSelect: select, onAct: act });
  return (
    <>
      <Toolbar text={text} onText={onText} rows={rows} search={search} counts={counts.data} />
      {error !== null && rows.length > 0 ? <p className="mb-2 text-waits">{T.failedToLoad}</p> : null}
      {newer.length === 0 ? null : <NewRuns n={newer.length} onShow={() => void list.reload()} />}
      {rows.length > 0 ? (
        <RunTable
          rows={rows}
          isWhole={isWhole}
          selection={selection}
          current={current}
          onSelect={select}
          onSelectShown={() =>
            setSelection((now) =>
              rows.every(({ id }) => now.ids.has(id)) || now.isAll
                ? NOTHING
                : { ids: new Set(ids()), isAll: false, from: null },
            )
          }
          onLook={look}
          onEnd={more}
        />
      ) : isLoading ? (
        <p className="py-8 text-soft">{T.loading}</p>
      ) : error === null ? (
        <NoRuns text={text} onText={onText} />
      ) : (
        <ProblemView error={error} retry={more} />
      )}
      {rows.length === 0 ? null : (
        <p className="mt-2 text-[0.87rem] text-soft tabular-nums">
          {isWhole ? T.end(countText(rows.length)) : T.shown(countText(rows.length))}
        </p>
      )}
      <BulkBar
        selection={selection}
        total={isWhole ? rows.length : null}
        canChooseAll={!isWhole || selection.ids.size < rows.length}
        onAct={(which) => act(which)}
        onAll={() => setSelection({ ...NOTHING, isAll: true })}
        onClear={() => setSelection(NOTHING)}
      />
      {bulk ? <BulkDialog {...bulk} onClose={() => setBulk(null)} /> : null}
    </>
  );
}

function Toolbar({
  text,
  onText,
  rows,
  search,
  counts,
}: {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly rows: readonly RunItem[];
  readonly search: React.RefObject<HTMLInputElement | null>;
  readonly counts: Parameters<typeof StatusFacet>[0]["counts"];
}) {
  const all = useApi("countRuns", {}, { refetchMs: 60_000 });
  const { data: queues } = useApi("listQueues", {});
  const workflows = Object.entries(all.data?.byWorkflow ?? {}).sort(([a], [b]) => a.localeCompare(b));
  const labels = [
    ...new Set(rows.flatMap((run) => Object.entries(run.labels).map(([name, value]) => `${name}=${value}`))),
  ].sort();
  return (
    <div className="mb-3 flex flex-col gap-1.5">
      <Views text={text} onText={onText} />
      <div className="flex items-start gap-2 max-md:flex-wrap">
        <SearchBox text={text} onText={onText} input={search} />
        <div className="flex gap-2 max-md:order-last max-md:w-full max-md:overflow-x-auto max-md:pb-1">
          <Choice
            text={text}
            onText={onText}
            of="workflow"
            name={T.workflow}
            any={T.any.workflow}
            options={workflows.map(([name, n]) => [name, `${name} (${countText(n)})`] as const)}
          />
          <Choice
            text={text}
            onText={onText}
            of="queue"
            name={T.queue}
            any={T.any.queue}
            options={(queues?.queues ?? []).map(({ name }) => [name, name] as const)}
          />
          <Choice
            text={text}
            onText={onText}
            of="label"
            name={T.label}
            any={T.any.label}
            options={labels.slice(0, 100).map((label) => [label, label] as const)}
          />
          <Choice
            text={text}
            onText={onText}
            of="since"
            name={T.time}
            any={T.times[""]}
            options={(["1h", "24h", "7d", "30d"] as const).map((span) => [span, T.times[span]] as const)}
          />
        </div>
        <SyntaxHelp />
      </div>
      <StatusFacet text={text} onText={onText} counts={counts} />
    </div>
  );
}

function NewRuns({ n, onShow }: { readonly n: number; readonly onShow: () => void }) {
  return (
    <div className="pointer-events-none sticky top-10 z-20 -mb-3 flex justify-center">
      <button
        type="button"
        aria-live="polite"
        onClick={() => {
          window.scrollTo({ top: 0 });
          onShow();
        }}
        className="pointer-events-auto inline-flex items-center gap-1 rounded-full bg-accent px-3 py-1 text-[0.87rem] font-medium text-accent-ink shadow"
      >
        <ArrowUp aria-hidden className="size-3.5" />
        {T.fresh(n)}
      </button>
    </div>
  );
}

function NoRuns({ text, onText }: { readonly text: string; readonly onText: (text: string) => void }) {
  if (text !== "")
    return (
      <Empty title={T.noMatchTitle}>
        <p className="mb-3">{T.noMatchLead}</p>
        <Button onClick={() => onText("")}>{T.clearFilter}</Button>
      </Empty>
    );
  return (
    <Empty title={T.emptyTitle}>
      <p className="mb-3">{T.emptyLead}</p>
      <div className="flex flex-col gap-1 text-left">
        {T.quickStart.map((line) => (
          <CommandLine key={line} command={line} />
        ))}
      </div>
    </Empty>
  );
}
