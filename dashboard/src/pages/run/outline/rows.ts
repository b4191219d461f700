import type { Node } from "./tree.ts";

/** More children than this are counted, and shown when somebody asks for them. */
export const MANY = 20;

/** A visible line of the tree. */
export interface Row {
  readonly node: Node;
  readonly level: number;
  /** Its place among its siblings, from 1, and how many they are. */
  readonly place: number;
  readonly of: number;
  readonly isOpen: boolean;
}

/** Nodes that somebody has opened or closed; the others are open unless they have many children. */
export type Folds = ReadonlyMap<string, boolean>;

export const isOpen = ({ key, children }: Node, folds: Folds): boolean =>
  children.length > 0 && (folds.get(key) ?? children.length <= MANY);

export function rowsOf(nodes: readonly Node[], folds: Folds, level = 1, rows: Row[] = []): readonly Row[] {
  for (const [index, node] of nodes.entries()) {
    const open = isOpen(node, folds);
    rows.push({ node, level, place: index + 1, of: nodes.length, isOpen: open });
    if (open) rowsOf(node.children, folds, level + 1, rows);
  }
  return rows;
}

/** The nodes around a key, outermost first, and the node itself; empty if there is none. */
export function pathTo(nodes: readonly Node[], key: string): readonly Node[] {
  for (const node of nodes) {
    if (node.key === key) return [node];
    const inner = node.children.length > 0 ? pathTo(node.children, key) : [];
    if (inner.length > 0) return [node, ...inner];
  }
  return [];
}

/** The steps themselves, in the order they began. */
export function* leavesOf(nodes: readonly Node[]): Generator<Node> {
  for (const node of nodes) {
    if (node.step) yield node;
    yield* leavesOf(node.children);
  }
}

/** The first node that failed or is in doubt, innermost. */
export function firstFailed(nodes: readonly Node[]): Node | undefined {
  const failed = nodes.find(({ state }) => state === "failed" || state === "in doubt");
  return failed && (firstFailed(failed.children) ?? failed);
}
