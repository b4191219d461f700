import { wholeSpan } from "../outline/figures.ts";
import { type Folds, MANY } from "../outline/rows.ts";
import type { Node } from "../outline/tree.ts";

/** A group with more children than this is never drawn open: nobody could read it. */
export const MOST_DRAWN = 200;

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** False while the second one hasn't begun. */
  readonly isTaken: boolean;
}

/** A group as nodes with arrows between them; a closed group is one node with counts. */
export interface GraphLevel {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export interface GraphNode {
  readonly node: Node;
  /** What is inside, if it is drawn open. */
  readonly inside: GraphLevel | null;
}

/** Groups of up to 20 are open, unless somebody closes them; larger ones if somebody opens them. */
export const isDrawnOpen = ({ key, children }: Node, folds: Folds): boolean =>
  children.length > 0 && children.length <= MOST_DRAWN && (folds.get(key) ?? children.length <= MANY);

export const levelOf = (nodes: readonly Node[], folds: Folds, now: number): GraphLevel => ({
  nodes: nodes.map((node) => ({
    node,
    inside: isDrawnOpen(node, folds) ? levelOf(node.children, folds, now) : null,
  })),
  edges: edgesOf(nodes, now),
});

/**
 * Arrows from what ended to what began after it, without those that others imply: side by side stays side by side, and
 * what waited for several has an arrow from each. What hasn't begun comes after what ended last.
 */
export function edgesOf(nodes: readonly Node[], now: number): readonly GraphEdge[] {
  const spans = nodes.flatMap((node) => {
    const span = wholeSpan(node, now);
    return span ? [{ key: node.key, ...span }] : [];
  });
  const edges: GraphEdge[] = [];
  for (const { key, from } of spans) {
    const before = spans.filter((other) => other.key !== key && other.to <= from && other.from < from);
    const newest = Math.max(...before.map((other) => other.from));
    for (const other of before)
      if (other.to > newest) edges.push({ from: other.key, to: key, isTaken: true });
  }
  let last = endsOf(spans, edges);
  for (const { key, state } of nodes) {
    if (state !== "not started") continue;
    for (const from of last) edges.push({ from, to: key, isTaken: false });
    last = [key];
  }
  return edges;
}

/** What no arrow leaves. */
const endsOf = (
  spans: readonly { readonly key: string }[],
  edges: readonly GraphEdge[],
): readonly string[] => {
  const left = new Set(edges.map(({ from }) => from));
  return spans.flatMap(({ key }) => (left.has(key) ? [] : [key]));
};
