import {
  ChevronLeft,
  ChevronRight,
  ChevronsLeft,
  ChevronsRight,
  GitCompare,
  GitFork,
  Pin,
  Tag,
} from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { useAct, useDialog } from "../acts/provider.tsx";
import { useApi } from "../api/use-api.ts";
import { useKeys } from "../keys.tsx";
import { useSession } from "../session.tsx";
import { TEXT } from "../text.ts";
import { Button } from "../ui/button.tsx";
import { later } from "../ui/later.tsx";
import { When } from "../ui/time.tsx";
import { useLater } from "../ui/use-later.ts";
import { type CheckpointItem, LabelDialog, pinCheckpointAct } from "./checkpoint-acts.tsx";
import { diffPath, setMarked, useMarked } from "./marked.ts";
import { Moment, MomentState } from "./moment.tsx";
import { newerWindow, otherWindow, WINDOW } from "./window.ts";

const ForkDialog = later(() => import("../acts/fork/fork-dialog.tsx"));

const { checkpoints: words } = TEXT;
const CARD = "mt-4 rounded-lg border border-line bg-surface px-4 py-3";

export interface ScrubberProps {
  readonly run: string;
  /** The run's newest position. */
  readonly newest: number;
  /** The position that is looked at; `null`: now. */
  readonly at: number | null;
  readonly onAt: (at: number | null) => void;
}

/** A slider over the checkpoints of a run, and what stood at the chosen one. */
export function Scrubber({ run, newest, at, onAt }: ScrubberProps) {
  // The window ends before this position; `undefined`: now.
  const [end, setEnd] = useState<number>();
  const { data } = useApi("listCheckpoints", {
    run,
    limit: WINDOW,
    ...(end === undefined ? {} : { before: end }),
  });
  const items = (data?.checkpoints ?? []).toReversed();
  // Moved only when somebody goes elsewhere: the window may be turned without choosing a checkpoint in it.
  const [met, setMet] = useState<number | null>(null);
  if (data && at !== met) {
    setMet(at);
    const other = otherWindow(items, at, end, newest);
    if (other !== null) setEnd(other);
  }
  const index = indexOf(items, at);
  const chosen = index === null ? undefined : items[index];
  const isAtEnd = end === undefined;
  const step = (by: number): void => {
    const next = (index ?? items.length) + by;
    const item = items[next];
    if (item) onAt(item.seq);
    else if (next >= items.length && isAtEnd) onAt(null);
  };
  useKeys([
    { keys: "[", name: words.previous, act: () => step(-1) },
    { keys: "]", name: words.next, act: () => step(1) },
  ]);
  if (!data) return <p className={`${CARD} text-soft`}>{TEXT.page.loading}</p>;
  if (items.length === 0) return <p className={`${CARD} text-soft`}>{words.none}</p>;
  return (
    <section aria-label={words.title} className={`${CARD} flex flex-col gap-3`}>
      <div className="flex items-center gap-1.5">
        {items.length === WINDOW ? (
          <IconButton label={words.older} icon={ChevronsLeft} onClick={() => setEnd(items[0]?.seq)} />
        ) : null}
        <IconButton label={`${words.previous} ([)`} icon={ChevronLeft} onClick={() => step(-1)} />
        <Slider
          items={items}
          index={index}
          hasNow={isAtEnd}
          onIndex={(next) => onAt(items[next]?.seq ?? null)}
        />
        <IconButton label={`${words.next} (])`} icon={ChevronRight} onClick={() => step(1)} />
        {isAtEnd ? null : (
          <IconButton
            label={words.newer}
            icon={ChevronsRight}
            onClick={() => setEnd(newerWindow(items, newest))}
          />
        )}
      </div>
      <Line chosen={chosen} index={index} all={items.length} onNow={() => onAt(null)} />
      {chosen ? <Chosen run={run} item={chosen} /> : null}
    </section>
  );
}

/** The checkpoint at a position, or the last before it. */
export function indexOf(items: readonly CheckpointItem[], at: number | null): number | null {
  if (at === null || items.length === 0) return null;
  const found = items.findLastIndex(({ seq }) => seq <= at);
  return Math.max(0, found);
}

function Slider({
  items,
  index,
  hasNow,
  onIndex,
}: {
  readonly items: readonly CheckpointItem[];
  readonly index: number | null;
  readonly hasNow: boolean;
  readonly onIndex: (index: number) => void;
}) {
  const last = hasNow ? items.length : Math.max(0, items.length - 1);
  const value = index ?? last;
  const item = items[value];
  return (
    <div className="relative min-w-0 flex-1">
      <input
        type="range"
        min={0}
        max={last}
        step={1}
        value={value}
        aria-label={words.slider}
        aria-valuetext={item ? `${item.id} ${item.step}` : words.now}
        onChange={(event) => onIndex(Number(event.target.value))}
        className="block h-6 w-full accent-(--accent)"
      />
      <div aria-hidden className="pointer-events-none absolute inset-x-2 top-full h-1.5">
        {items.map(({ id, labels, pinned }, place) =>
          labels.length > 0 || pinned ? (
            <span
              key={id}
              title={labels.join(", ")}
              className="absolute h-1.5 w-1 -translate-x-1/2 rounded-full bg-waits"
              style={{ left: `${last === 0 ? 0 : (place / last) * 100}%` }}
            />
          ) : null,
        )}
      </div>
    </div>
  );
}

function Line({
  chosen,
  index,
  all,
  onNow,
}: {
  readonly chosen: CheckpointItem | undefined;
  readonly index: number | null;
  readonly all: number;
  readonly onNow: () => void;
}) {
  if (!chosen)
    return (
      <p className="text-soft">
        <span className="font-medium text-ink">{words.now}.</span> {words.nowNote}
      </p>
    );
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <span className="font-mono font-medium">@{chosen.seq}</span>
      <span className="text-soft tabular-nums">{words.of((index ?? 0) + 1, all)}</span>
      <span className="min-w-0 break-words">
        {[chosen.step, chosen.trigger.replaceAll("_", " ")].filter((one) => one !== "").join(" · ")}
      </span>
      <span className="text-soft">
        <When at={chosen.at} />
      </span>
      {chosen.labels.map((label) => (
        <span key={label} className="rounded bg-waits-soft px-1.5 text-[0.87rem] text-waits">
          {label}
        </span>
      ))}
      {chosen.pinned ? <span className="text-[0.87rem] text-waits">{words.pinned}</span> : null}
      <Button small look="quiet" onClick={onNow}>
        {words.backToNow}
      </Button>
    </div>
  );
}

function Chosen({ run, item }: { readonly run: string; readonly item: CheckpointItem }) {
  const seq = useLater(item.seq, 120);
  const { data: head } = useApi("getCheckpoint", { run, at: String(seq) });
  return (
    <>
      <MomentActs run={run} item={item} />
      {head ? <Moment head={head} /> : null}
      <MomentState run={run} seq={item.seq} />
    </>
  );
}

function MomentActs({ run, item }: { readonly run: string; readonly item: CheckpointItem }) {
  const act = useAct();
  const show = useDialog();
  const { may } = useSession();
  const [, go] = useLocation();
  const marked = useMarked();
  const { id, seq } = item;
  const compare = (): void => {
    if (marked === null || marked === id) return setMarked(marked === id ? null : id);
    setMarked(null);
    go(diffPath(marked, id));
  };
  const name = marked === null ? words.mark : marked === id ? words.unmark : words.compareWith(marked);
  useKeys([{ keys: "d", name, act: compare }]);
  const fork = (): void => show((close) => <ForkDialog run={run} at={String(seq)} onClose={close} />);
  return (
    <div className="flex flex-wrap gap-2">
      {may("runs:act") ? (
        <Button small look="primary" onClick={fork}>
          <GitFork aria-hidden className="size-4" />
          {words.forkHere}
        </Button>
      ) : null}
      <Button small onClick={compare} aria-keyshortcuts="d">
        <GitCompare aria-hidden className="size-4" />
        {name}
      </Button>
      <Button small onClick={() => go(diffPath(id, `${run}@last`))}>
        {words.since}
      </Button>
      {may("runs:act") ? (
        <>
          <Button
            small
            onClick={() => show((close) => <LabelDialog run={run} checkpoint={item} onClose={close} />)}
          >
            <Tag aria-hidden className="size-4" />
            {words.label}
          </Button>
          <Button small onClick={() => act(pinCheckpointAct(run, item))}>
            <Pin aria-hidden className="size-4" />
            {item.pinned ? words.unpin : words.pin}
          </Button>
        </>
      ) : null}
    </div>
  );
}

function IconButton({
  label,
  icon: Icon,
  onClick,
}: {
  readonly label: string;
  readonly icon: typeof ChevronLeft;
  readonly onClick: () => void;
}) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={onClick}
      className="rounded p-1.5 text-soft hover:bg-sunken hover:text-ink"
    >
      <Icon aria-hidden className="size-4" />
    </button>
  );
}
