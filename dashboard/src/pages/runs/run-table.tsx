import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ComponentProps, type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { TEXT } from "../../text.ts";
import { useGrown } from "../../ui/letters.ts";
import { useMedia } from "../../ui/use-media.ts";
import type { RunItem } from "./run-list.ts";
import { COLUMNS, RunRow } from "./run-row.tsx";
import { isSelected, type Selection } from "./selection.ts";
import { useProgress } from "./use-progress.ts";
import type { Visible } from "./use-run-list.ts";

const T = TEXT.runs;

/** The next page is asked for when so few rows are left below the screen. */
const AHEAD = 60;

export interface RunTableProps {
  readonly rows: readonly RunItem[];
  readonly isWhole: boolean;
  readonly selection: Selection;
  readonly current: string | null;
  readonly onSelect: (id: string, isRange: boolean) => void;
  readonly onSelectShown: () => void;
  readonly onLook: (visible: Visible) => void;
  readonly onEnd: () => void;
}

/** Any number of rows, of which only those on the screen exist. The page itself scrolls. */
export function RunTable({
  rows,
  isWhole,
  selection,
  current,
  onSelect,
  onSelectShown,
  onLook,
  onEnd,
}: RunTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const margin = useTop(body);
  const height = useRowHeight();
  // oxlint-disable-next-line react/incompatible-library -- the rows are memoised by themselves
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => height,
    overscan: 15,
    scrollMargin: margin,
    getItemKey: useCallback((index: number) => rows[index]?.id ?? index, [rows]),
  });
  useEffect(() => virtual.measure(), [virtual, height]);
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    onLook({ first, last });
    if (!isWhole && last >= rows.length - AHEAD) onEnd();
  }, [first, last, rows.length, isWhole, onLook, onEnd]);
  useCurrent(current, rows, virtual, body);
  const progress = useProgress(rows, first, last);
  return (
    <table
      aria-label={TEXT.nav.runs}
      aria-rowcount={isWhole ? rows.length + 1 : -1}
      className="block rounded-lg border border-line bg-surface"
    >
      <Head rows={rows} selection={selection} onSelectShown={onSelectShown} />
      <tbody ref={body} className="relative block" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start, key }) => {
          const run = rows[index];
          return run ? (
            <RunRow
              key={key}
              run={run}
              index={index}
              isSelected={isSelected(selection, run.id)}
              isCurrent={run.id === current}
              top={start - margin}
              height={height}
              progress={progress.get(run.id) ?? run.progress}
              onSelect={onSelect}
            />
          ) : null;
        })}
      </tbody>
    </table>
  );
}

/** Brings the row that the keys are on onto the screen, and gives it the focus. */
function useCurrent(
  current: string | null,
  rows: readonly RunItem[],
  virtual: { readonly scrollToIndex: (index: number, options: { align: "auto" }) => void },
  body: RefObject<HTMLElement | null>,
): void {
  const moved = useRef<string | null>(null);
  useEffect(() => {
    // Only a change of the current row moves the page, not a change of the rows.
    if (current === moved.current) return;
    moved.current = current;
    const index = current === null ? -1 : rows.findIndex(({ id }) => id === current);
    if (index === -1) return;
    virtual.scrollToIndex(index, { align: "auto" });
    requestAnimationFrame(() =>
      body.current
        ?.querySelector<HTMLElement>(`[data-run="${CSS.escape(current ?? "")}"] a`)
        ?.focus({ preventScroll: true }),
    );
  }, [current, rows, virtual, body]);
}

function Head({
  rows,
  selection,
  onSelectShown,
}: Pick<RunTableProps, "rows" | "selection" | "onSelectShown">) {
  const isAll = rows.length > 0 && (selection.isAll || rows.every(({ id }) => selection.ids.has(id)));
  const names = T.columns;
  return (
    <thead className="sticky top-0 z-10 block max-md:hidden">
      <tr
        aria-rowindex={1}
        className={`items-center rounded-t-lg border-b border-line bg-surface px-3 py-1.5 text-soft ${COLUMNS}`}
      >
        <Th className="flex items-center">
          <input
            type="checkbox"
            aria-label={T.selectAll}
            checked={isAll}
            onChange={onSelectShown}
            className="size-4 accent-accent"
          />
        </Th>
        <Th className="text-left">{names.status}</Th>
        <Th className="text-left">{names.run}</Th>
        <Th className="text-left max-xl:hidden">{names.workflow}</Th>
        <Th className="text-left">{names.headline}</Th>
        <Th className="text-left max-xl:hidden">{names.progress}</Th>
        <Th className="text-right">{names.age}</Th>
        <Th className="truncate text-right max-xl:hidden" title={names.recoveries}>
          <span aria-hidden>↻</span>
          <span className="sr-only">{names.recoveries}</span>
        </Th>
        <Th className="text-right">{names.cost}</Th>
      </tr>
    </thead>
  );
}

const Th = ({ className = "", ...rest }: ComponentProps<"th">) => (
  <th scope="col" {...rest} className={`text-[0.82rem] font-medium ${className}`} />
);

/** Heights of rows with letters of the usual size. */
const ROW_PX = { wide: 36, phone: 100 } as const;

const useRowHeight = (): number => useGrown(useMedia("(min-width: 48rem)") ? ROW_PX.wide : ROW_PX.phone);

/** How far down the page an element begins. What stands above it may grow and shrink. */
function useTop(element: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useEffect(() => {
    const look = (): void =>
      setTop((element.current?.getBoundingClientRect().top ?? 0) + Math.round(window.scrollY));
    const observer = new ResizeObserver(look);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [element]);
  return top;
}
