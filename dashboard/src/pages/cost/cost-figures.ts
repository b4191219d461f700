import type { AnswerOf } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { type ChartData, daysBetween } from "../../ui/chart-data.ts";

/** Cost by day, with a place for days on which nothing was spent. What was wasted is part of what was spent. */
export function chartOf({ groups }: AnswerOf<"listCosts">, since: number | undefined): ChartData {
  const byDay = new Map(groups.map((group) => [group.name, group]));
  const first = since ?? Date.parse([...byDay.keys()].toSorted()[0] ?? new Date().toISOString());
  const labels = daysBetween(first, Date.now());
  const value = (pick: (group: (typeof groups)[number]) => number): number[] =>
    labels.map((day) => {
      const group = byDay.get(day);
      return group ? pick(group) : 0;
    });
  return {
    labels,
    series: [
      { name: TEXT.cost.wasted, colour: "bad", values: value(({ wasted }) => wasted.costUsd ?? 0) },
      {
        name: TEXT.cost.otherwise,
        colour: "accent",
        values: value(({ costUsd, wasted }) => Math.max(0, (costUsd ?? 0) - (wasted.costUsd ?? 0))),
      },
    ],
  };
}
