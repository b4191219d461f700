import type { Node, Step } from "./tree.ts";

export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Spent {
  readonly tokens: number;
  /** `null` when nothing of it has a known price. */
  readonly costUsd: number | null;
}

/** From its first attempt to its last; until now while it is under way. `null` if it never began. */
export function spanOf({ attempts, state }: Step, now: number): Span | null {
  const first = attempts[0];
  const last = attempts.at(-1);
  if (!first || !last) return null;
  const isOpen = state === "under way" || last.endedAt === undefined;
  return { from: first.startedAt, to: isOpen ? Math.max(now, first.startedAt) : (last.endedAt ?? now) };
}

/** The span of a node and everything in it. */
export function wholeSpan({ step, children }: Node, now: number): Span | null {
  let span = step ? spanOf(step, now) : null;
  for (const child of children) {
    const inner = wholeSpan(child, now);
    if (!inner) continue;
    span = span ? { from: Math.min(span.from, inner.from), to: Math.max(span.to, inner.to) } : inner;
  }
  return span;
}

/** How long it took. A call that was made once has measured it itself. */
export function tookOf(node: Node, now: number): number | null {
  const only = node.step?.attempts.length === 1 ? node.step.attempts[0]?.ms : undefined;
  if (only !== undefined) return only;
  const span = wholeSpan(node, now);
  return span && span.to - span.from;
}

/** What a node has used, with everything in it. */
export function spentOf({ step, children }: Node): Spent {
  const parts = [...(step?.attempts ?? []).flatMap(({ usage }) => usage ?? []), ...children.map(spentOf)];
  const costUsd = parts.reduce((sum, part) => sum + (part.costUsd ?? 0), 0);
  const isUnknown = costUsd === 0 && parts.some((part) => part.costUsd === null);
  return { tokens: parts.reduce((sum, part) => sum + part.tokens, 0), costUsd: isUnknown ? null : costUsd };
}
