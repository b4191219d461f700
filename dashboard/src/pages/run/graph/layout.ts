import { Graph, layout } from "@dagrejs/dagre";
import type { Node } from "../outline/tree.ts";
import type { GraphEdge, GraphLevel } from "./model.ts";

/** A node with its place inside the one around it. */
export interface Placed {
  readonly node: Node;
  readonly parent: string | null;
  readonly isOpen: boolean;
  /** Whether what comes next is below it or beside it. */
  readonly isDown: boolean;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Drawing {
  readonly placed: readonly Placed[];
  readonly edges: readonly GraphEdge[];
}

/** Measured with letters of the usual size. */
export const NODE_WIDTH = 190;
export const NODE_HEIGHT = 46;
const HEAD = 34;
const PAD = 14;

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Lays out the innermost groups first, so that each is a box of known size in the one around it. */
export function drawn(level: GraphLevel): Drawing {
  const placed: Placed[] = [];
  const edges: GraphEdge[] = [];
  place(level, null, { placed, edges }, true);
  return { placed, edges };
}

interface Into {
  readonly placed: Placed[];
  readonly edges: GraphEdge[];
}

/** Levels go down and to the right in turns, which keeps a long run compact. */
function place(level: GraphLevel, parent: string | null, into: Into, isDown: boolean): Size {
  const graph = new Graph();
  graph.setGraph({ rankdir: isDown ? "TB" : "LR", nodesep: 14, ranksep: 36, marginx: PAD, marginy: PAD });
  graph.setDefaultEdgeLabel(() => ({}));
  const start = into.placed.length;
  for (const { node, inside } of level.nodes) {
    const own = { parent, node, isOpen: inside !== null, isDown, x: 0, y: 0 };
    into.placed.push({ ...own, width: NODE_WIDTH, height: NODE_HEIGHT });
    const at = into.placed.length - 1;
    const size = inside ? place(inside, node.key, into, !isDown) : { width: NODE_WIDTH, height: NODE_HEIGHT };
    into.placed[at] = { ...own, ...size };
    graph.setNode(node.key, { ...size });
  }
  for (const edge of level.edges) {
    graph.setEdge(edge.from, edge.to);
    into.edges.push(edge);
  }
  layout(graph);
  const top = parent === null ? 0 : HEAD;
  for (let at = start; at < into.placed.length; at++) {
    const one = into.placed[at];
    if (!one || one.parent !== parent) continue;
    const { x, y } = graph.node(one.node.key) as { readonly x: number; readonly y: number };
    into.placed[at] = { ...one, x: x - one.width / 2, y: y - one.height / 2 + top };
  }
  const { width = 0, height = 0 } = graph.graph() as Partial<Size>;
  return { width: Math.max(width, NODE_WIDTH), height: height + top };
}
