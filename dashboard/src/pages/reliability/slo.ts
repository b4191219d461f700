import type { AnswerOf } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { type ChartData, daysBetween } from "../../ui/chart-data.ts";
import { spanText } from "../../ui/time.tsx";

type Recoveries = AnswerOf<"reportRecoveries">;
type Health = AnswerOf<"getHealth">;

export interface Slo {
  readonly name: string;
  readonly value: string;
  readonly target: string;
  /** `null`: there is nothing to judge. */
  readonly verdict: "met" | "missed" | null;
  readonly note: string;
}

const RECOVERY_MS = 60_000;
const COMPLETION = 0.98;
const T = TEXT.reliability;

/** The four targets with what is known of each. Nothing is made up for what isn't measured. */
export function sloFigures(recoveries: Recoveries | undefined, health: Health | undefined): readonly Slo[] {
  const { slo } = T;
  const ms = recoveries?.ms ?? null;
  const rate = recoveries?.runs.completionRate ?? null;
  return [
    { name: slo.write, value: T.unmeasured, target: slo.writeTarget, verdict: null, note: slo.writeNote },
    {
      name: slo.recovery,
      value: ms ? spanText(ms.p95) : "–",
      target: slo.recoveryTarget,
      verdict: ms ? (ms.p95 <= RECOVERY_MS ? "met" : "missed") : null,
      note: ms ? T.takeovers(recoveries?.incidents.length ?? 0) : slo.recoveryNone,
    },
    {
      name: slo.completion,
      value: rate === null ? "–" : `${(rate * 100).toFixed(1)} %`,
      target: slo.completionTarget,
      verdict: rate === null ? null : rate >= COMPLETION ? "met" : "missed",
      note:
        rate === null || !recoveries
          ? slo.completionNone
          : T.ended(recoveries.runs.completed, recoveries.runs.failed, recoveries.runs.cancelled),
    },
    {
      name: slo.store,
      value: T.unmeasured,
      target: slo.storeTarget,
      verdict: null,
      note: slo.storeNote(health ? T.store[health.store.state] : "…"),
    },
  ];
}

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
