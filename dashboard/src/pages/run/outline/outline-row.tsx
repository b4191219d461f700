import {
  Bot,
  ChevronRight,
  CircleUser,
  Flag,
  Layers,
  type LucideIcon,
  Repeat,
  Rows3,
  Workflow,
} from "lucide-react";
import { memo } from "react";
import { TEXT } from "../../../text.ts";
import { costText, countText } from "../../../ui/numbers.ts";
import { spanText } from "../../../ui/time.tsx";
import { INK, lookOf, StateIcon } from "../states.tsx";
import { spentOf, tookOf } from "./figures.ts";
import type { Row } from "./rows.ts";
import type { Kind, Node } from "./tree.ts";

/** Measured with letters of the usual size. */
export const ROW_PX = 30;
const INDENT_REM = 1.2;

const ICONS: Readonly<Record<Kind | "gate" | "child", LucideIcon | null>> = {
  agent: Bot,
  phase: Flag,
  layer: Layers,
  loop: Repeat,
  items: Rows3,
  gate: CircleUser,
  child: Workflow,
  step: null,
  scope: null,
  item: null,
  turn: null,
  round: null,
};

const iconOf = ({ kind, step }: Node): keyof typeof ICONS =>
  step?.type === "gate" || step?.type === "child" ? step.type : kind;

export interface OutlineRowProps {
  readonly id: string;
  readonly row: Row;
  readonly top: number;
  readonly height: number;
  readonly now: number;
  /** How far the run is that the step has started. */
  readonly child: string | undefined;
  readonly isSelected: boolean;
  readonly onFold: (key: string, open: boolean) => void;
  readonly onSelect: (key: string) => void;
}

/** One line of the tree. It is drawn again only if its step moves. */
export const OutlineRow = memo(
  function OutlineRow({ id, row, top, height, now, child, isSelected, onFold, onSelect }: OutlineRowProps) {
    const { node, level, place, of, isOpen } = row;
    const isGroup = node.children.length > 0;
    const look = lookOf(node, now);
    const Icon = ICONS[iconOf(node)];
    return (
      // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the tree hears the keys for all its lines
      <div
        id={id}
        role="treeitem"
        aria-level={level}
        aria-posinset={place}
        aria-setsize={of}
        aria-expanded={isGroup ? isOpen : undefined}
        aria-selected={isSelected}
        tabIndex={-1}
        onClick={() => onSelect(node.key)}
        className={`absolute inset-x-0 flex cursor-default items-center gap-2 pr-3 focus-visible:-outline-offset-2 ${isSelected ? "bg-accent-soft" : "hover:bg-sunken"} ${node.state === "not started" ? "text-faint" : ""}`}
        style={{ top, height, paddingLeft: `${0.5 + (level - 1) * INDENT_REM}rem` }}
      >
        <span
          aria-hidden
          onClick={(event) => {
            if (!isGroup) return;
            event.stopPropagation();
            onFold(node.key, !isOpen);
          }}
          className="flex size-5 shrink-0 items-center justify-center rounded text-faint hover:text-ink"
        >
          {isGroup ? (
            <ChevronRight className={`size-4 transition-transform ${isOpen ? "rotate-90" : ""}`} />
          ) : null}
        </span>
        <StateIcon look={look} />
        {Icon ? <Icon aria-hidden className="size-4 shrink-0 text-soft" /> : null}
        <span className="truncate" title={node.key}>
          {TEXT.run.outline.name(node.kind, node.name)}
        </span>
        {isGroup ? <Count node={node} /> : null}
        {child === undefined ? null : (
          <span className="shrink-0 text-[0.87rem] text-soft tabular-nums">{child}</span>
        )}
        {node.notes.length > 0 ? (
          <span className="truncate text-[0.87rem] text-waits">{node.notes.join(", ")}</span>
        ) : null}
        <Figures node={node} now={now} />
      </div>
    );
  },
  (before, after) =>
    before.row.node === after.row.node &&
    before.row.isOpen === after.row.isOpen &&
    before.id === after.id &&
    before.top === after.top &&
    before.height === after.height &&
    before.child === after.child &&
    before.isSelected === after.isSelected &&
    (before.now === after.now || after.row.node.state !== "under way"),
);

function Count({ node: { kind, counts } }: { readonly node: Node }) {
  return (
    <span className="shrink-0 text-[0.87rem] whitespace-nowrap text-soft tabular-nums">
      {TEXT.run.outline.count(kind, countText(counts.done), countText(counts.total))}
      {counts.failed > 0 ? (
        <span className="text-bad"> · {TEXT.run.outline.failedCount(counts.failed)}</span>
      ) : null}
    </span>
  );
}

function Figures({ node, now }: { readonly node: Node; readonly now: number }) {
  const { step, state } = node;
  const look = lookOf(node, now);
  const took = tookOf(node, now);
  const spent = spentOf(node);
  const attempts = step?.attempts.length ?? 0;
  return (
    <span className="ml-auto flex shrink-0 items-center gap-3 pl-2 text-[0.87rem] text-soft tabular-nums">
      {step?.choice === undefined ? null : <span className="text-ink">{step.choice}</span>}
      {step?.instead === undefined ? null : <span>{TEXT.run.outline.instead[step.instead]}</span>}
      {state === "done" ? null : <span className={INK[look.tone]}>{look.word}</span>}
      {attempts > 1 ? <span className="text-waits">{TEXT.run.outline.attempts(attempts)}</span> : null}
      {spent.tokens > 0 ? (
        <span className="max-md:hidden">
          {TEXT.run.tokens(countText(spent.tokens))}
          {spent.costUsd === 0 ? null : ` · ${costText(spent)}`}
        </span>
      ) : null}
      <span className="w-16 text-right max-sm:hidden">{took === null ? "" : spanText(took)}</span>
    </span>
  );
}
