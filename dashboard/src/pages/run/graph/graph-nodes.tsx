import { type Node as FlowNode, Handle, type NodeProps, Position } from "@xyflow/react";
import { CircleUser, Maximize2, Minimize2 } from "lucide-react";
import { TEXT } from "../../../text.ts";
import { countText } from "../../../ui/numbers.ts";
import { spanText } from "../../../ui/time.tsx";
import { tookOf } from "../outline/figures.ts";
import type { Node } from "../outline/tree.ts";
import { INK, lookOf, StateIcon } from "../states.tsx";

export interface GraphData extends Record<string, unknown> {
  readonly node: Node;
  readonly now: number;
  readonly isDown: boolean;
  readonly isSelected: boolean;
  readonly onFold: (() => void) | null;
}

type BoxProps = NodeProps<FlowNode<GraphData>>;

const ring = (isSelected: boolean): string => (isSelected ? "ring-2 ring-accent" : "");

const HANDLE = "!size-1 !min-h-0 !min-w-0 !border-0 !bg-transparent";

const Ends = ({ isDown }: { readonly isDown: boolean }) => (
  <>
    <Handle type="target" position={isDown ? Position.Top : Position.Left} className={HANDLE} />
    <Handle type="source" position={isDown ? Position.Bottom : Position.Right} className={HANDLE} />
  </>
);

/** Written out, so that the style sheet holds them. */
const EDGE = {
  good: "border-l-good",
  bad: "border-l-bad",
  waits: "border-l-waits",
  busy: "border-l-busy",
  calm: "border-l-line-strong",
} as const;

/** A step, or a group that is closed. */
export function StepBox({ data: { node, now, isDown, isSelected, onFold } }: BoxProps) {
  const look = lookOf(node, now);
  const isGate = node.step?.type === "gate";
  const took = node.state === "not started" ? null : tookOf(node, now);
  const isGroup = node.children.length > 0;
  return (
    <div
      title={node.key}
      className={`flex h-full w-full cursor-pointer flex-col justify-center border border-l-4 border-line bg-raised px-2.5 ${EDGE[look.tone]} ${isGate ? "rounded-3xl" : "rounded-md"} ${ring(isSelected)} ${node.state === "not started" ? "border-dashed text-faint" : ""} ${isGroup ? "shadow-[3px_3px_0_var(--line)]" : ""}`}
    >
      <span className="flex items-center gap-1.5 text-[0.87rem] font-medium">
        <StateIcon look={look} />
        {isGate ? <CircleUser aria-hidden className="size-4 shrink-0 text-soft" /> : null}
        <span className="truncate">{TEXT.run.outline.name(node.kind, node.name)}</span>
        {isGroup && onFold ? <Fold label={TEXT.run.graph.open} onFold={onFold} icon={Maximize2} /> : null}
      </span>
      <span
        className={`truncate text-[0.8rem] tabular-nums ${node.state === "done" ? "text-soft" : INK[look.tone]}`}
      >
        {isGroup
          ? TEXT.run.outline.count(node.kind, countText(node.counts.done), countText(node.counts.total))
          : node.state === "done"
            ? `${took === null ? "" : spanText(took)}${node.step?.choice === undefined ? "" : ` · ${node.step.choice}`}`
            : look.word}
        {(node.step?.attempts.length ?? 0) > 1
          ? ` · ${TEXT.run.outline.attempts(node.step?.attempts.length ?? 0)}`
          : null}
      </span>
      <Ends isDown={isDown} />
    </div>
  );
}

/** A group that is open: what is inside is drawn over it. */
export function GroupBox({ data: { node, now, isDown, isSelected, onFold } }: BoxProps) {
  const look = lookOf(node, now);
  return (
    <div
      title={node.key}
      className={`h-full w-full cursor-pointer rounded-lg border border-line bg-sunken/60 ${ring(isSelected)}`}
    >
      <span className="flex items-center gap-1.5 px-3 pt-2 text-[0.87rem] font-medium">
        <StateIcon look={look} />
        <span className="truncate">{TEXT.run.outline.name(node.kind, node.name)}</span>
        <span className="font-normal whitespace-nowrap text-soft tabular-nums">
          {TEXT.run.outline.count(node.kind, countText(node.counts.done), countText(node.counts.total))}
        </span>
        {onFold ? <Fold label={TEXT.run.graph.close} onFold={onFold} icon={Minimize2} /> : null}
      </span>
      <Ends isDown={isDown} />
    </div>
  );
}

function Fold({
  label,
  onFold,
  icon: Icon,
}: {
  readonly label: string;
  readonly onFold: () => void;
  readonly icon: typeof Maximize2;
}) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={(event) => {
        event.stopPropagation();
        onFold();
      }}
      className="ml-auto rounded p-0.5 text-faint hover:bg-sunken hover:text-ink"
    >
      <Icon aria-hidden className="size-3.5" />
    </button>
  );
}
