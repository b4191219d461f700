/** What a chart shows: a value of each series for each label. `null`: nothing is known. */
/** What steps of an axis may be. */
export type Steps = "any" | "binary" | "whole";

export interface ChartData {
  readonly labels: readonly string[];
  readonly series: readonly ChartSeries[];
}

export interface ChartSeries {
  readonly name: string;
  readonly colour: "accent" | "bad" | "good" | "busy" | "waits";
  readonly values: readonly (number | null)[];
}

/** The series on top of each other, the highest first, so that each is drawn before those it stands on. */
export function stacked({ series }: ChartData): readonly (readonly (number | null)[])[] {
  const tops: (readonly (number | null)[])[] = [];
  for (const { values } of series) {
    const below = tops.at(-1);
    tops.push(
      values.map((value, at) => (value === null ? (below?.[at] ?? null) : value + (below?.[at] ?? 0))),
    );
  }
  return tops.toReversed();
}

/** What the chart says, in a sentence for each series. */
export function summaryOf({ labels, series }: ChartData, format: (value: number) => string): string {
  const [first, last] = [labels[0] ?? "", labels.at(-1) ?? ""];
  const span = labels.length < 2 ? first : `${first} to ${last}`;
  const told = series.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    const total = known.reduce((sum, value) => sum + value, 0);
    const most = Math.max(...known);
    const at = labels[values.indexOf(most)];
    return known.length === 0
      ? `${name}: nothing`
      : `${name}: ${format(total)} in all, most on ${at} (${format(most)})`;
  });
  return `${span}. ${told.join(". ")}.`;
}

const DAY = 86_400_000;

/** The days from one time to another, as `2026-11-16`, so that a day without anything has a place too. */
export function daysBetween(from: number, to: number): string[] {
  const days: string[] = [];
  for (let at = from - (from % DAY); at <= to && days.length < 400; at += DAY)
    days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}
