import { useMemo } from "react";
import { useApi } from "../../../api/use-api.ts";
import { TEXT } from "../../../text.ts";
import { spanText } from "../../../ui/time.tsx";
import type { Outline } from "../outline/tree.ts";
import { type Scale, ticksOf, tickText } from "./scale.ts";

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const AXIS_PX = 44;
/** The most checkpoints that are read for their names. */
const MOST = 200;

export interface AxisProps {
  readonly run: string;
  readonly outline: Outline;
  readonly scale: Scale;
  readonly labelPx: number;
  /** How much larger than usual letters are; all lengths here are those with usual ones. */
  readonly letters: number;
}

/** The times, what was cut between them, and the checkpoints. */
export function Axis({ run, outline, scale, labelPx, letters }: AxisProps) {
  const { data } = useApi("listCheckpoints", { run, limit: MOST });
  const from = data?.checkpoints.length === MOST ? data.checkpoints.at(-1)?.at : undefined;
  const older = useMemo(() => endsBefore(outline, scale, from), [outline, scale, from]);
  const origin = scale.pieces[0]?.from ?? 0;
  const ticks = useMemo(() => ticksOf(scale, origin), [scale, origin]);
  const first = scale.pieces[0];
  return (
    <div
      className="sticky top-0 z-20 flex border-b border-line bg-surface"
      style={{ height: AXIS_PX * letters }}
    >
      <span
        className="sticky left-0 z-10 shrink-0 bg-surface px-3 py-1 text-[0.82rem] leading-tight text-soft"
        style={{ width: labelPx * letters }}
      >
        {first ? day.format(first.from) : null}
      </span>
      <svg
        aria-hidden
        width={(scale.width + 12) * letters}
        height={AXIS_PX * letters}
        viewBox={`0 0 ${scale.width + 12} ${AXIS_PX}`}
        className="shrink-0 overflow-visible text-[11px]"
      >
        {scale.pieces.map((piece) =>
          piece.isBreak ? (
            <g key={piece.from}>
              <rect x={piece.left} width={piece.width} height={AXIS_PX} className="fill-sunken" />
              <text x={piece.left + piece.width / 2} y={13} textAnchor="middle" className="fill-soft">
                ⋯
              </text>
              <text x={piece.left + piece.width / 2} y={26} textAnchor="middle" className="fill-soft">
                {shortSpan(piece.to - piece.from)}
              </text>
              <title>{TEXT.run.timeline.gap(spanText(piece.to - piece.from))}</title>
            </g>
          ) : null,
        )}
        {ticks.map(({ at, x }) => (
          <g key={`${at}-${x}`}>
            <line x1={x} x2={x} y1={0} y2={6} className="stroke-line-strong" />
            <text x={x + 3} y={15} className="fill-soft">
              {x === 0 ? clock.format(at) : `+${tickText(at - origin)}`}
            </text>
          </g>
        ))}
        {older.map((x) => (
          <line key={x} x1={x} x2={x} y1={AXIS_PX - 6} y2={AXIS_PX} className="stroke-line-strong" />
        ))}
        {data?.checkpoints.map(({ seq, at, trigger, labels }) => (
          <line
            key={seq}
            x1={scale.x(at)}
            x2={scale.x(at)}
            y1={AXIS_PX - 6}
            y2={AXIS_PX}
            className="stroke-line-strong"
          >
            <title>{`#${seq} ${trigger} ${labels.join(", ")}`}</title>
          </line>
        ))}
        {outline.marks.map(({ seq, at, label }) => (
          <path key={seq} d={`M${scale.x(at) - 4},${AXIS_PX - 12} h8 l-4,6 z`} className="fill-accent">
            <title>{`#${seq} ${label}`}</title>
          </path>
        ))}
      </svg>
    </div>
  );
}

/** Where steps ended before the checkpoints that were read: each end is one. As many as the axis has pixels. */
function endsBefore({ steps }: Outline, scale: Scale, before: number | undefined): readonly number[] {
  if (before === undefined) return [];
  const ends = steps.flatMap(({ attempts }) => attempts.at(-1)?.endedAt ?? []);
  return [...new Set(ends.filter((at) => at < before).map((at) => Math.round(scale.x(at))))];
}

/** Only the largest unit: there is little room on a break. */
const shortSpan = (ms: number): string => spanText(ms).split(" ").slice(0, 2).join(" ");
