import { spanText } from "../../../ui/time.tsx";
import type { Span } from "../outline/figures.ts";

/** A piece of the axis. A break stands for time in which no call was made. */
export interface Piece extends Span {
  readonly left: number;
  readonly width: number;
  readonly isBreak: boolean;
}

export interface Scale {
  readonly pieces: readonly Piece[];
  readonly width: number;
  /** The place of a time on the axis, in pixels. */
  readonly x: (at: number) => number;
}

const BREAK_PX = 44;
/** A gap is left out if it is longer than this, and than this part of the time that was worked. */
const GAP_MS = 2_000;
const GAP_PART = 0.25;

/** Spans that touch or overlap as one, in order. */
export function joined(spans: readonly Span[], gap: number): readonly Span[] {
  const whole: { from: number; to: number }[] = [];
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = whole.at(-1);
    if (last && from - last.to <= gap) last.to = Math.max(last.to, to);
    else whole.push({ from, to });
  }
  return whole;
}

/**
 * An axis on which work has its true length, and long gaps between work (the nights, the days between two resumes) are
 * cut. `all` is everything that must have a place on it.
 */
export function scaleOf(work: readonly Span[], all: Span, width: number): Scale {
  const exact = joined(work.length > 0 ? work : [all], 0);
  const worked = exact.reduce((sum, { from, to }) => sum + to - from, 0);
  const parts = joined(exact, Math.max(GAP_MS, worked * GAP_PART));
  const first = parts[0];
  const last = parts.at(-1);
  const edges: Span[] = [];
  if (first && all.from < first.from) edges.push({ from: all.from, to: all.from });
  if (last && all.to > last.to) edges.push({ from: all.to, to: all.to });
  const kept = joined([...parts, ...edges], Math.max(GAP_MS, worked * GAP_PART));
  return drawn(kept, width);
}

function drawn(kept: readonly Span[], width: number): Scale {
  const total = kept.reduce((sum, { from, to }) => sum + to - from, 0);
  const free = Math.max(100, width - (kept.length - 1) * BREAK_PX);
  const pieces: Piece[] = [];
  let left = 0;
  for (const [index, span] of kept.entries()) {
    const before = kept[index - 1];
    if (before) {
      pieces.push({ from: before.to, to: span.from, left, width: BREAK_PX, isBreak: true });
      left += BREAK_PX;
    }
    const part = total === 0 ? free / kept.length : (free * (span.to - span.from)) / total;
    pieces.push({ ...span, left, width: part, isBreak: false });
    left += part;
  }
  return { pieces, width: left, x: (at) => placed(pieces, at) };
}

function placed(pieces: readonly Piece[], at: number): number {
  const last = pieces.at(-1);
  const piece = pieces.find(({ to }) => at <= to) ?? last;
  if (!piece) return 0;
  const length = piece.to - piece.from;
  const part = length === 0 ? 0 : Math.min(1, Math.max(0, (at - piece.from) / length));
  return piece.left + part * piece.width;
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500].flatMap((n) => [n, n * 1_000]);
const LONG = [1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 1_440].map((minutes) => minutes * 60_000);
/** How long after the beginning, exactly enough to tell neighbouring ticks apart. */
export function tickText(ms: number): string {
  if (ms >= 60_000 || ms < 1_000) return spanText(ms);
  return `${Number((ms / 1_000).toFixed(2))} s`;
}

const UNITS = [...STEPS.filter((ms) => ms < 60_000), ...LONG].toSorted((a, b) => a - b);
const APART_PX = 90;

/** Round times on the pieces of the axis, far enough apart to be read. */
export function ticksOf(
  { pieces }: Scale,
  origin: number,
): readonly { readonly at: number; readonly x: number }[] {
  return pieces.flatMap((piece) => {
    const { from, to, left, width, isBreak } = piece;
    if (isBreak || width < 20) return isBreak ? [] : [{ at: from, x: left }];
    const msPerPx = (to - from) / width;
    const unit = UNITS.find((ms) => ms / Math.max(msPerPx, 1e-9) >= APART_PX) ?? (UNITS.at(-1) as number);
    const ticks = [{ at: from, x: left }];
    for (let at = origin + Math.ceil((from - origin) / unit) * unit; at <= to; at += unit) {
      const x = left + ((at - from) / Math.max(1, to - from)) * width;
      if (x - left >= APART_PX * 0.6 && left + width - x > 10) ticks.push({ at, x });
    }
    return ticks;
  });
}
