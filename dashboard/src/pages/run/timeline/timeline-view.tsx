import { ZoomIn, ZoomOut } from "lucide-react";
import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";
import { TEXT } from "../../../text.ts";
import { Button } from "../../../ui/button.tsx";
import { useLetters } from "../../../ui/letters.ts";
import { spanText, useNow } from "../../../ui/time.tsx";
import { useRows } from "../../../ui/virtual.ts";
import { leavesOf } from "../outline/rows.ts";
import type { Node, Outline } from "../outline/tree.ts";
import { lookOf, StateIcon } from "../states.tsx";
import { AttemptTable } from "./attempt-table.tsx";
import { Axis } from "./axis.tsx";
import { type Bar, criticalOf, type Line, linesOf } from "./bars.ts";
import { type Scale, scaleOf } from "./scale.ts";

const LINE_PX = 26;
const MOST_ZOOM = 64;

export interface TimelineViewProps {
  readonly run: string;
  readonly outline: Outline;
  readonly tree: readonly Node[];
  readonly selected: string | null;
  readonly onSelect: (key: string, attempt: number | null) => void;
}

/** When each attempt and each wait was. Only the lines in view are drawn. */
export default function TimelineView({ run, outline, tree, selected, onSelect }: TimelineViewProps) {
  const [zoom, setZoom] = useState(1);
  const [isTable, setTable] = useState(false);
  const [failedOnly, setFailedOnly] = useState(false);
  const [criticalOnly, setCriticalOnly] = useState(false);
  const tick = useNow();
  const isMoving = useMemo(() => [...leavesOf(tree)].some(({ state }) => state === "under way"), [tree]);
  // Nothing grows in a run that has ended, so nothing is drawn again.
  const now = isMoving ? tick : (outline.marks.at(-1)?.at ?? 0);
  const lines = useMemo(() => {
    const shown = linesOf(leavesOf(tree), now, failedOnly);
    if (!criticalOnly) return shown;
    const path = new Set(criticalOf(linesOf(leavesOf(tree), now, false)).map(({ step }) => step.step));
    return shown.filter(({ step }) => path.has(step.step));
  }, [tree, now, failedOnly, criticalOnly]);
  return (
    <div>
      <div className="flex flex-wrap items-center gap-1 border-b border-line px-2 py-1">
        <Button small look="quiet" aria-pressed={failedOnly} onClick={() => setFailedOnly(!failedOnly)}>
          <Check on={failedOnly} /> {TEXT.run.timeline.failedOnly}
        </Button>
        <Button
          small
          look="quiet"
          title={TEXT.run.timeline.criticalNote}
          aria-pressed={criticalOnly}
          onClick={() => setCriticalOnly(!criticalOnly)}
        >
          <Check on={criticalOnly} /> {TEXT.run.timeline.criticalOnly}
        </Button>
        <Button small look="quiet" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          <Check on={isTable} /> {TEXT.run.timeline.table}
        </Button>
        {isTable ? null : (
          <span className="ml-auto flex items-center">
            <Button small look="quiet" disabled={zoom <= 1} onClick={() => setZoom(zoom / 2)}>
              <ZoomOut aria-hidden className="size-4" />
              <span className="sr-only">{TEXT.run.timeline.out}</span>
            </Button>
            <Button small look="quiet" disabled={zoom >= MOST_ZOOM} onClick={() => setZoom(zoom * 2)}>
              <ZoomIn aria-hidden className="size-4" />
              <span className="sr-only">{TEXT.run.timeline.in}</span>
            </Button>
          </span>
        )}
      </div>
      {lines.length === 0 ? (
        <p className="p-4 text-soft">{failedOnly ? TEXT.run.timeline.noFailed : TEXT.run.timeline.empty}</p>
      ) : isTable ? (
        <AttemptTable lines={lines} onSelect={onSelect} />
      ) : (
        <>
          <Chart
            run={run}
            outline={outline}
            lines={lines}
            zoom={zoom}
            selected={selected}
            onSelect={onSelect}
          />
          <Legend />
        </>
      )}
    </div>
  );
}

const Check = ({ on }: { readonly on: boolean }) => (
  <span
    aria-hidden
    className={`size-3 rounded-sm border ${on ? "border-accent bg-accent" : "border-line-strong"}`}
  />
);

function Legend() {
  return (
    <ul className="flex flex-wrap gap-x-4 border-t border-line px-3 py-1.5 text-[0.82rem] text-soft">
      {(["done", "failed", "in doubt", "wait", "retry"] as const).map((kind) => (
        <li key={kind} className="flex items-center gap-1">
          <svg aria-hidden width={18} height={8}>
            <rect width={18} height={8} rx={2} className={FILL[kind]} />
          </svg>
          {TEXT.run.timeline.kinds[kind]}
        </li>
      ))}
    </ul>
  );
}

type ChartProps = Pick<TimelineViewProps, "run" | "outline" | "selected" | "onSelect"> & {
  readonly lines: readonly Line[];
  readonly zoom: number;
};

function useWidth(): readonly [React.RefObject<HTMLElement | null>, number] {
  const box = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [box, width];
}

function Chart({ run, outline, lines, zoom, selected, onSelect }: ChartProps) {
  const [box, boxWidth] = useWidth();
  // All lengths are those with letters of the usual size; drawings and boxes grow together.
  const letters = useLetters();
  const width = boxWidth / letters;
  const labelPx = width < 480 ? 120 : width < 900 ? 180 : 260;
  const scale = useMemo(() => {
    const bars = lines.flatMap((line) => line.bars);
    const all = { from: Math.min(...ends(bars, "from")), to: Math.max(...ends(bars, "to")) };
    const work = bars.filter(({ kind }) => kind !== "wait" && kind !== "retry");
    return scaleOf(work, all, Math.max(200, width - labelPx - 24) * zoom);
  }, [lines, width, labelPx, zoom]);
  const virtual = useRows({
    count: lines.length,
    box,
    rowPx: LINE_PX * letters,
    keyOf: (at) => lines[at]?.step.step ?? at,
  });
  return (
    <section
      ref={box}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must reach it
      tabIndex={0}
      aria-label={TEXT.run.timeline.label}
      className="max-h-[max(24rem,calc(100dvh-15rem))] overflow-auto overscroll-contain"
    >
      <div style={{ width: (labelPx + scale.width + 24) * letters }}>
        <Axis run={run} outline={outline} scale={scale} labelPx={labelPx} letters={letters} />
        <ul className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const line = lines[item.index];
            if (!line) return null;
            const isSelected = line.step.step === selected;
            return (
              <li
                key={item.key}
                className={`absolute inset-x-0 flex items-center ${isSelected ? "bg-accent-soft" : "hover:bg-sunken"}`}
                style={{ top: item.start, height: LINE_PX * letters }}
              >
                <LineLabel
                  line={line}
                  width={labelPx * letters}
                  isSelected={isSelected}
                  onSelect={onSelect}
                />
                <Bars line={line} scale={scale} letters={letters} onSelect={onSelect} />
              </li>
            );
          })}
        </ul>
      </div>
    </section>
  );
}

/** Not `Math.min(...)` of 20,000 arguments at once. */
function* chunks(values: readonly number[]): Generator<readonly number[]> {
  for (let at = 0; at < values.length; at += 5_000) yield values.slice(at, at + 5_000);
}

const ends = (bars: readonly Bar[], end: "from" | "to"): readonly number[] =>
  [...chunks(bars.map((bar) => bar[end]))].map((some) =>
    end === "from" ? Math.min(...some) : Math.max(...some),
  );

type Select = TimelineViewProps["onSelect"];

function LineLabel({
  line: { node, step },
  width,
  isSelected,
  onSelect,
}: {
  readonly line: Line;
  readonly width: number;
  readonly isSelected: boolean;
  readonly onSelect: Select;
}): ReactNode {
  return (
    <button
      type="button"
      aria-current={isSelected ? "true" : undefined}
      title={step.step}
      onClick={() => onSelect(step.step, null)}
      className={`sticky left-0 z-10 flex h-full shrink-0 items-center gap-1.5 px-3 text-left ${isSelected ? "bg-accent-soft" : "bg-surface"}`}
      style={{ width }}
    >
      <StateIcon look={lookOf(node, 0)} />
      {/* The end of a key tells steps apart, so it is the beginning that gives way. */}
      <span dir="rtl" className="truncate text-[0.87rem]">
        <bdi>{step.step}</bdi>
      </span>
    </button>
  );
}

/** Written out, so that the style sheet holds them. */
const FILL: Readonly<Record<Bar["kind"], string>> = {
  done: "fill-good",
  failed: "fill-bad",
  "in doubt": "fill-waits",
  "under way": "fill-busy",
  wait: "fill-calm-soft stroke-line-strong [stroke-dasharray:3_2]",
  retry: "fill-none stroke-waits [stroke-dasharray:3_2]",
};

function Bars({
  line,
  scale,
  letters,
  onSelect,
}: {
  readonly line: Line;
  readonly scale: Scale;
  readonly letters: number;
  readonly onSelect: Select;
}) {
  return (
    <svg
      aria-hidden
      width={(scale.width + 12) * letters}
      height={LINE_PX * letters}
      viewBox={`0 0 ${scale.width + 12} ${LINE_PX}`}
      className="shrink-0"
    >
      {scale.pieces.map((piece) =>
        piece.isBreak ? (
          <rect
            key={piece.from}
            x={piece.left}
            width={piece.width}
            height={LINE_PX}
            className="fill-sunken"
          />
        ) : null,
      )}
      {line.bars.map((bar) => {
        const x = scale.x(bar.from);
        const isThin = bar.kind === "retry" || bar.kind === "wait";
        return (
          // oxlint-disable-next-line jsx-a11y/no-static-element-interactions, jsx-a11y/click-events-have-key-events -- the label does the same by keyboard
          <rect
            key={`${bar.attempt}-${bar.from}-${bar.kind}`}
            x={x}
            y={isThin ? 9 : 6}
            width={Math.max(3, scale.x(bar.to) - x)}
            height={isThin ? 8 : 14}
            rx={2}
            onClick={() => onSelect(line.step.step, bar.attempt)}
            className={`cursor-pointer ${FILL[bar.kind]}`}
          >
            <title>{`${line.step.step} · ${TEXT.run.timeline.bar(bar.kind, bar.attempt)} · ${spanText(bar.to - bar.from)}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}
