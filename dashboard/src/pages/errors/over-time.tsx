import { TEXT } from "../../text.ts";

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const WIDTH = 96;
const HEIGHT = 24;
const GAP = 1;

interface OverTimeProps {
  readonly counts: readonly number[];
  readonly from: number;
  readonly to: number;
}

/** A bar for each part of the time, so that an outage looks different from a trickle. */
export function OverTime({ counts, from, to }: OverTimeProps) {
  const most = Math.max(1, ...counts);
  const each = WIDTH / counts.length;
  const part = (to - from) / counts.length;
  return (
    <span className="inline-flex shrink-0">
      <span className="sr-only">
        {TEXT.errors.overTime(counts.filter((count) => count > 0).length, counts.length)}
      </span>
      <svg aria-hidden viewBox={`0 0 ${WIDTH} ${HEIGHT}`} className="h-6 w-24">
        <line x1={0} x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} className="stroke-line-strong" />
        {counts.map((count, index) =>
          count === 0 ? null : (
            <rect
              key={from + index * part}
              x={index * each}
              width={each - GAP}
              y={HEIGHT - Math.max(2, (count / most) * HEIGHT)}
              height={Math.max(2, (count / most) * HEIGHT)}
              className="fill-bad"
            >
              <title>{TEXT.errors.inPart(count, moment.format(from + index * part))}</title>
            </rect>
          ),
        )}
      </svg>
    </span>
  );
}
