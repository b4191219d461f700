import {
  Background,
  type Edge,
  type Node as FlowNode,
  MarkerType,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { Crosshair, Maximize } from "lucide-react";
import { useMemo, useState } from "react";
import { TEXT } from "../../../text.ts";
import { Button } from "../../../ui/button.tsx";
import { useLetters } from "../../../ui/letters.ts";
import { useNow } from "../../../ui/time.tsx";
import { type Folds, firstFailed } from "../outline/rows.ts";
import type { Node } from "../outline/tree.ts";
import { type GraphData, GroupBox, StepBox } from "./graph-nodes.tsx";
import { drawn } from "./layout.ts";
import { isDrawnOpen, levelOf, MOST_DRAWN } from "./model.ts";

export interface GraphViewProps {
  readonly tree: readonly Node[];
  readonly selected: string | null;
  readonly onSelect: (key: string) => void;
}

/** Names that the library has no style for. */
const TYPES = { leaf: StepBox, box: GroupBox };

/** The steps as boxes with arrows in the order they ran. */
export default function GraphView(props: GraphViewProps) {
  return (
    <ReactFlowProvider>
      <Canvas {...props} />
    </ReactFlowProvider>
  );
}

/** What decides where boxes are: not the states, which change all the time. */
const shapeOf = (nodes: readonly Node[], folds: Folds): string =>
  nodes
    .map((node) => {
      const isOpen = isDrawnOpen(node, folds);
      const began = node.state === "not started" ? "-" : "";
      return `${node.key}${began}${isOpen ? `(${shapeOf(node.children, folds)})` : ""}`;
    })
    .join();

function Canvas({ tree: whole, selected, onSelect }: GraphViewProps) {
  const tree = useMemo(() => whole.slice(-MOST_DRAWN), [whole]);
  const [folds, setFolds] = useState<Folds>(new Map());
  const now = useNow();
  const letters = useLetters();
  const flow = useReactFlow();
  const shape = shapeOf(tree, folds);
  // oxlint-disable-next-line react/exhaustive-deps -- laid out again only when the shape changes
  const drawing = useMemo(() => drawn(levelOf(tree, folds, Date.now())), [shape]);
  const current = useMemo(() => new Map(nodesByKey(tree)), [tree]);
  const nodes = drawing.placed.flatMap(
    ({ node, parent, isOpen, isDown, x, y, width, height }): FlowNode<GraphData>[] => {
      const live = current.get(node.key);
      if (!live) return [];
      return [
        {
          id: node.key,
          type: isOpen ? "box" : "leaf",
          position: { x: x * letters, y: y * letters },
          width: width * letters,
          height: height * letters,
          ...(parent === null ? {} : { parentId: parent }),
          ariaLabel: TEXT.run.outline.name(node.kind, node.name),
          data: {
            node: live,
            isDown,
            now: live.state === "under way" ? now : 0,
            isSelected: node.key === selected,
            onFold: live.children.length > 0 ? () => setFolds(new Map(folds).set(node.key, !isOpen)) : null,
          },
        },
      ];
    },
  );
  const edges = useMemo(() => drawing.edges.map(edgeOf), [drawing]);
  const failed = firstFailed(tree);
  return (
    <div>
      <div className="flex gap-1 border-b border-line px-2 py-1">
        <Button small look="quiet" onClick={() => void flow.fitView({ padding: 0.05 })}>
          <Maximize aria-hidden className="size-4" /> {TEXT.run.graph.fit}
        </Button>
        {failed ? (
          <Button
            small
            look="quiet"
            onClick={() => {
              onSelect(failed.key);
              void flow.fitView({ nodes: [{ id: failed.key }], maxZoom: 1.2, padding: 0.6 });
            }}
          >
            <Crosshair aria-hidden className="size-4 text-bad" /> {TEXT.run.outline.failed}
          </Button>
        ) : null}
        <span className="ml-auto self-center pr-2 text-[0.82rem] text-soft max-lg:hidden">
          {whole.length > MOST_DRAWN ? TEXT.run.graph.newest(MOST_DRAWN) : TEXT.run.graph.hint}
        </span>
      </div>
      <div className="h-[max(24rem,calc(100dvh-17rem))]">
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={TYPES}
          onNodeClick={(_, { id }) => onSelect(id)}
          nodesDraggable={false}
          nodesConnectable={false}
          elementsSelectable={false}
          onlyRenderVisibleElements
          fitView
          fitViewOptions={{ padding: 0.05, minZoom: 0.4, maxZoom: 1.1 }}
          minZoom={0.05}
          proOptions={{ hideAttribution: true }}
        >
          <Background className="!bg-surface" color="var(--line)" gap={24 * letters} />
        </ReactFlow>
      </div>
    </div>
  );
}

function* nodesByKey(nodes: readonly Node[]): Generator<readonly [string, Node]> {
  for (const node of nodes) {
    yield [node.key, node];
    yield* nodesByKey(node.children);
  }
}

const edgeOf = ({
  from,
  to,
  isTaken,
}: {
  readonly from: string;
  readonly to: string;
  readonly isTaken: boolean;
}): Edge => ({
  id: `${from}→${to}`,
  source: from,
  target: to,
  focusable: false,
  markerEnd: { type: MarkerType.ArrowClosed, color: "var(--line-strong)" },
  style: { stroke: "var(--line-strong)", strokeWidth: 1.5, ...(isTaken ? {} : { strokeDasharray: "4 4" }) },
});
