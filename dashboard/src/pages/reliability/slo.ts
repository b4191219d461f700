import type { AnswerOf } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { type ChartData, daysBetween } from "../../ui/chart-data.ts";
import { moneyText, percentText } from "../../ui/numbers.ts";
import { spanText } from "../../ui/time.tsx";

type Recoveries = AnswerOf<"reportRecoveries">;
type Report = AnswerOf<"getSlo">;
type Objective = Report["objectives"][number];

export interface Slo {
  readonly name: string;
  readonly value: string;
  readonly target: string | null;
  readonly verdict: Objective["state"];
  readonly note: string;
}

const T = TEXT.reliability;

/** One digit, and four where only they tell the difference. Never rounded up: 99.99 % isn't 100 %. */
function shareText(value: number): string {
  const digits = value >= 0.99 && value < 1 ? 10_000 : 10;
  return `${Math.floor(value * 100 * digits) / digits}\u00a0%`;
}

const UNITS: Readonly<Record<Objective["unit"], (value: number) => string>> = {
  ms: (value) => (value < 1_000 ? `${Math.round(value * 10) / 10} ms` : spanText(value)),
  share: shareText,
  count: (value) => String(Math.round(value * 10) / 10),
  usd: moneyText,
};

/** Recoveries are counted per run, and a run can have several of them: no share of anything. */
const textOf = (name: Objective["name"], unit: Objective["unit"]): ((value: number) => string) =>
  name === "recovery-rate" ? (value) => String(Math.round(value * 100) / 100) : UNITS[unit];

/** What is left of the failures that the target allows, or how far they are over it. */
const budgetText = (left: number): string =>
  left < 0 ? T.overBudget(`${Math.round((1 - left) * 10) / 10}`) : T.budgetLeft(percentText(left));

/** Every objective with its target and what is left of its budget. Nothing is made up for what isn't measured. */
export const sloFigures = ({ objectives }: Report): readonly Slo[] =>
  objectives.map(({ name, unit, better, value, goal, state, budgetLeft, windowMs }) => ({
    name: T.slo[name],
    value: value === null ? "–" : textOf(name, unit)(value),
    target: goal === null ? null : `${better === "less" ? "≤" : "≥"}\u00a0${textOf(name, unit)(goal)}`,
    verdict: state,
    note: [
      T.within(spanText(windowMs)),
      ...(value === null && state !== "unknown" ? [T.nothing] : []),
      ...(budgetLeft === null || value === null ? [] : [budgetText(budgetLeft)]),
    ].join(" · "),
  }));

/** How many takeovers there were on each day. */
export function byDay(incidents: Recoveries["incidents"], since: number | undefined): ChartData {
  const counts = new Map<string, number>();
  for (const { at } of incidents) {
    const day = new Date(at).toISOString().slice(0, 10);
    counts.set(day, (counts.get(day) ?? 0) + 1);
  }
  const labels = daysBetween(since ?? incidents[0]?.at ?? Date.now(), Date.now());
  const values = labels.map((day) => counts.get(day) ?? 0);
  return { labels, series: [{ name: T.incidents, colour: "busy", values }] };
}
