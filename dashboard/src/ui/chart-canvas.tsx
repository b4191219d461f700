import { useEffect, useRef } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { usePreferences } from "../preferences.ts";
import { type ChartData, type Steps, stacked } from "./chart-data.ts";
import { useLetters } from "./letters.ts";

/** Measured with letters of the usual size. */
const HEIGHT = 208;
const INCREMENTS: Readonly<Record<Steps, number[] | undefined>> = {
  any: undefined,
  binary: Array.from({ length: 50 }, (_, power) => 2 ** power),
  whole: Array.from({ length: 15 }, (_, power) => [1, 2, 5].map((n) => n * 10 ** power)).flat(),
};

const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Stacked columns on a canvas. What it shows is told by its label, and by the table of the chart. */
export default function ChartCanvas({
  data,
  format,
  steps,
  label,
}: {
  readonly data: ChartData;
  readonly format: (value: number) => string;
  readonly steps: Steps;
  readonly label: string;
}) {
  const ref = useRef<HTMLDivElement>(null);
  const { theme } = usePreferences();
  const letters = useLetters();
  useEffect(() => {
    const holder = ref.current;
    if (!holder) return undefined;
    const plot = new UPlot(
      optionsOf(data, format, steps, letters, holder.clientWidth),
      columnsOf(data),
      holder,
    );
    const watch = new ResizeObserver(() =>
      plot.setSize({ width: holder.clientWidth, height: HEIGHT * letters }),
    );
    watch.observe(holder);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [data, format, steps, theme, letters]);
  return (
    <>
      <div ref={ref} aria-hidden className="w-full overflow-hidden" style={{ height: HEIGHT * letters }} />
      <p className="sr-only">{label}</p>
    </>
  );
}

const columnsOf = (data: ChartData): UPlot.AlignedData => [
  data.labels.map((_, at) => at),
  ...stacked(data).map((values) => [...values]),
];

function optionsOf(
  { labels, series }: ChartData,
  format: (value: number) => string,
  steps: Steps,
  letters: number,
  width: number,
): UPlot.Options {
  const bars = UPlot.paths.bars?.({ size: [0.7, 48 * letters] });
  const axis = { stroke: colour("soft"), font: `${12 * letters}px system-ui`, ticks: { show: false } };
  const incrs = INCREMENTS[steps];
  const grid = { stroke: colour("line"), width: 1 };
  return {
    width,
    height: HEIGHT * letters,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: () => [-0.6, Math.max(labels.length - 0.4, 0.6)] },
      y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.1 : 1] },
    },
    series: [
      {},
      ...series.toReversed().map(({ colour: name }) => ({
        fill: colour(name),
        stroke: colour(name),
        width: 0,
        points: { show: false },
        ...(bars ? { paths: bars } : {}),
      })),
    ],
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 50 * letters,
        space: 64 * letters,
        incrs: [1, 2, 5, 7, 14, 30, 60],
        values: (_plot, at) =>
          at.map((index) => (Number.isInteger(index) ? (labels[index]?.slice(5) ?? "") : "")),
      },
      {
        ...axis,
        grid,
        size: 68 * letters,
        space: 30 * letters,
        values: (_plot, at) => at.map(format),
        ...(incrs ? { incrs } : {}),
      },
    ],
  };
}
