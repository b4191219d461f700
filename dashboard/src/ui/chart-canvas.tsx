import { useEffect, useRef } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { usePreferences } from "../preferences.ts";
import { type ChartData, stacked } from "./chart-data.ts";

const HEIGHT = 208;
const POWERS = Array.from({ length: 50 }, (_, power) => 2 ** power);

const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Stacked columns on a canvas. What it shows is told by its label, and by the table of the chart. */
export default function ChartCanvas({
  data,
  format,
  isBinary,
  label,
}: {
  readonly data: ChartData;
  readonly format: (value: number) => string;
  readonly isBinary: boolean;
  readonly label: string;
}) {
  const ref = useRef<HTMLDivElement>(null);
  const { theme } = usePreferences();
  useEffect(() => {
    const holder = ref.current;
    if (!holder) return undefined;
    const plot = new UPlot(optionsOf(data, format, isBinary, holder.clientWidth), columnsOf(data), holder);
    const watch = new ResizeObserver(() => plot.setSize({ width: holder.clientWidth, height: HEIGHT }));
    watch.observe(holder);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [data, format, isBinary, theme]);
  return (
    <>
      <div ref={ref} aria-hidden className="h-52 w-full overflow-hidden" />
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
  isBinary: boolean,
  width: number,
): UPlot.Options {
  const bars = UPlot.paths.bars?.({ size: [0.7, 48] });
  const axis = { stroke: colour("soft"), font: "12px system-ui", ticks: { show: false } };
  const grid = { stroke: colour("line"), width: 1 };
  return {
    width,
    height: HEIGHT,
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
        space: 64,
        incrs: [1, 2, 5, 7, 14, 30, 60],
        values: (_plot, at) =>
          at.map((index) => (Number.isInteger(index) ? (labels[index]?.slice(5) ?? "") : "")),
      },
      {
        ...axis,
        grid,
        size: 68,
        values: (_plot, at) => at.map(format),
        ...(isBinary ? { incrs: POWERS } : {}),
      },
    ],
  };
}
