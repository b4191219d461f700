import type { Span } from "../outline/figures.ts";
import type { Node, Step } from "../outline/tree.ts";

/** Work is a call; a wait is a question, a timer, a signal, a child, or the time until the next attempt. */
export type BarKind = "done" | "failed" | "in doubt" | "under way" | "wait" | "retry";

/** One attempt, or one idle wait. */
export interface Bar extends Span {
  readonly kind: BarKind;
  readonly attempt: number;
}

/** A line of the timeline: a step with its bars. */
export interface Line {
  readonly node: Node;
  readonly step: Step;
  readonly bars: readonly Bar[];
}

/** The bars of a step. What has not ended lasts until now. */
export function barsOf(step: Step, now: number): readonly Bar[] {
  const isWait = step.type !== "call" && step.type !== "transaction";
  return step.attempts.flatMap(({ attempt, startedAt, endedAt, outcome, retryAt }, index) => {
    const isLast = index === step.attempts.length - 1;
    // An attempt without an outcome ended with its worker, at the latest when the next one began.
    const to = endedAt ?? step.attempts[index + 1]?.startedAt ?? now;
    const kind = isWait && outcome !== "failed" ? "wait" : (outcome ?? (isLast ? "under way" : "in doubt"));
    const bars: Bar[] = [{ attempt, from: startedAt, to: Math.max(to, startedAt), kind }];
    const until = step.attempts[index + 1]?.startedAt ?? Math.max(now, endedAt ?? now);
    const isWaiting = retryAt !== undefined && (!isLast || step.state === "under way");
    if (isWaiting && endedAt !== undefined && until > endedAt)
      bars.push({ attempt, from: endedAt, to: until, kind: "retry" });
    return bars;
  });
}

const FAILED: ReadonlySet<BarKind> = new Set(["failed", "in doubt"]);

/** A line for every step, in the order they began. */
export function linesOf(nodes: Iterable<Node>, now: number, failedOnly: boolean): readonly Line[] {
  const lines: Line[] = [];
  for (const node of nodes) {
    if (!node.step) continue;
    const bars = barsOf(node.step, now);
    if (bars.length === 0 || (failedOnly && !bars.some(({ kind }) => FAILED.has(kind)))) continue;
    lines.push({ node, step: node.step, bars });
  }
  return lines.toSorted((a, b) => (a.bars[0]?.from ?? 0) - (b.bars[0]?.from ?? 0));
}

/**
 * The lines that the end of the run had to wait for: the one that ended last, before it the last that had ended when it
 * began, and so on. To make the run shorter, shorten one of these.
 */
export function criticalOf(lines: readonly Line[]): readonly Line[] {
  const spans = lines.flatMap((line) => {
    const [first, last] = [line.bars[0], line.bars.at(-1)];
    return first && last ? [{ line, from: first.from, to: last.to }] : [];
  });
  const byEnd = spans.toSorted((a, b) => a.to - b.to || a.from - b.from);
  const path: Line[] = [];
  let before = Number.POSITIVE_INFINITY;
  for (const { line, from, to } of byEnd.reverse()) {
    if (to > before) continue;
    path.push(line);
    before = from;
  }
  return path.reverse();
}
