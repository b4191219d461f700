import { ChevronsDownUp, ChevronsUpDown, Crosshair, LocateFixed } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { useKeys } from "../../../keys.tsx";
import { TEXT } from "../../../text.ts";
import { Button } from "../../../ui/button.tsx";
import { useGrown } from "../../../ui/letters.ts";
import { useNow } from "../../../ui/time.tsx";
import { useRows } from "../../../ui/virtual.ts";
import { OutlineRow, ROW_PX } from "./outline-row.tsx";
import { type Folds, firstFailed, isOpen, pathTo, type Row, rowsOf } from "./rows.ts";
import type { Node } from "./tree.ts";

export interface OutlineViewProps {
  readonly tree: readonly Node[];
  readonly selected: string | null;
  readonly onSelect: (key: string) => void;
  readonly onOpen: (key: string) => void;
  /** How far the runs are that steps have started, by their ids. */
  readonly progress: ReadonlyMap<string, string>;
}

/** The steps as a tree. Only the lines in view are in the page, so 10,000 of them cost no more than 30. */
export function OutlineView({ tree, selected, onSelect, onOpen, progress }: OutlineViewProps) {
  const [folds, setFolds] = useState<Folds>(new Map());
  const [isFollowing, setFollowing] = useState(false);
  const now = useNow();
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const rows = useMemo(() => rowsOf(tree, folds), [tree, folds]);
  const index = rows.findIndex(({ node }) => node.key === selected);
  const rowPx = useGrown(ROW_PX);
  const virtual = useRows({
    count: rows.length,
    box,
    rowPx,
    keyOf: (at) => rows[at]?.node.key ?? at,
  });
  const fold = (key: string, open: boolean): void => setFolds((old) => new Map(old).set(key, open));

  // A step that the address names is shown, wherever it is.
  const [shown, setShown] = useState<string | null>(null);
  if (selected !== null && selected !== shown) {
    const path = pathTo(tree, selected);
    if (path.length > 0) {
      setShown(selected);
      const closed = path.slice(0, -1).filter((node) => !isOpen(node, folds));
      if (closed.length > 0) setFolds(new Map([...folds, ...closed.map(({ key }) => [key, true] as const)]));
    }
  }
  useEffect(() => {
    if (index >= 0) virtual.scrollToIndex(index, { align: "auto" });
  }, [index, virtual]);

  const newest = rows.findLastIndex(({ node }) => node.state === "under way" && node.children.length === 0);
  useEffect(() => {
    if (isFollowing && newest >= 0) virtual.scrollToIndex(newest, { align: "center" });
  }, [isFollowing, newest, virtual]);

  const move = (to: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, to))];
    if (row) onSelect(row.node.key);
  };
  const failed = useMemo(() => firstFailed(tree), [tree]);
  useKeys([
    { keys: "j", name: TEXT.run.keys.next, act: () => move(index + 1) },
    { keys: "k", name: TEXT.run.keys.previous, act: () => move(index < 0 ? rows.length - 1 : index - 1) },
  ]);
  const hear = treeKeys(rows, index, { move, fold, open: onOpen });

  return (
    <div>
      <Tools
        failed={failed}
        onFailed={(node) => {
          setShown(null);
          onSelect(node.key);
        }}
        isFollowing={isFollowing}
        onFollow={() => setFollowing(!isFollowing)}
        onFold={(open) => setFolds(new Map(groups(tree).map((node) => [node.key, open])))}
      />
      <div
        ref={box}
        role="tree"
        aria-label={TEXT.run.outline.label}
        tabIndex={0}
        aria-activedescendant={index >= 0 ? `${id}-${index}` : undefined}
        onKeyDown={hear}
        className="max-h-[max(24rem,calc(100dvh-15rem))] overflow-auto overscroll-contain"
      >
        <div role="presentation" className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <OutlineRow
                key={item.key}
                id={`${id}-${item.index}`}
                row={row}
                top={item.start}
                height={rowPx}
                now={now}
                child={progress.get(row.node.step?.child ?? "")}
                isSelected={row.node.key === selected}
                onFold={fold}
                onSelect={onOpen}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

const groups = (nodes: readonly Node[]): readonly Node[] =>
  nodes.flatMap((node) => (node.children.length > 0 ? [node, ...groups(node.children)] : []));

interface Moves {
  readonly move: (to: number) => void;
  readonly fold: (key: string, open: boolean) => void;
  readonly open: (key: string) => void;
}

/** The keys of a tree, as everywhere. */
function treeKeys(rows: readonly Row[], index: number, { move, fold, open }: Moves) {
  return (event: KeyboardEvent): void => {
    const row = rows[index];
    const acts: Readonly<Record<string, () => void>> = {
      ArrowDown: () => move(index + 1),
      ArrowUp: () => move(index - 1),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      PageDown: () => move(index + 15),
      PageUp: () => move(index - 15),
      ArrowRight: () => {
        if (row && row.node.children.length > 0 && !row.isOpen) fold(row.node.key, true);
        else move(index + 1);
      },
      ArrowLeft: () => {
        if (row?.isOpen) fold(row.node.key, false);
        else move(rows.findLastIndex((one, at) => at < index && one.level < (row?.level ?? 0)));
      },
      Enter: () => row && open(row.node.key),
      " ": () => row && row.node.children.length > 0 && fold(row.node.key, !row.isOpen),
    };
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  };
}

function Tools({
  failed,
  onFailed,
  isFollowing,
  onFollow,
  onFold,
}: {
  readonly failed: Node | undefined;
  readonly onFailed: (node: Node) => void;
  readonly isFollowing: boolean;
  readonly onFollow: () => void;
  readonly onFold: (open: boolean) => void;
}) {
  return (
    <div className="flex flex-wrap gap-1 border-b border-line px-2 py-1">
      <Button small look="quiet" aria-pressed={isFollowing} onClick={onFollow}>
        <LocateFixed aria-hidden className={`size-4 ${isFollowing ? "text-accent" : ""}`} />{" "}
        {TEXT.run.outline.follow}
      </Button>
      {failed ? (
        <Button small look="quiet" onClick={() => onFailed(failed)}>
          <Crosshair aria-hidden className="size-4 text-bad" /> {TEXT.run.outline.failed}
        </Button>
      ) : null}
      <span className="ml-auto flex">
        <Button small look="quiet" onClick={() => onFold(true)}>
          <ChevronsUpDown aria-hidden className="size-4" />
          <span className="max-sm:sr-only">{TEXT.run.outline.unfold}</span>
        </Button>
        <Button small look="quiet" onClick={() => onFold(false)}>
          <ChevronsDownUp aria-hidden className="size-4" />
          <span className="max-sm:sr-only">{TEXT.run.outline.fold}</span>
        </Button>
      </span>
    </div>
  );
}
