import { duration, plural } from "../../values/amounts.ts";
import type { EffectReport } from "../reports/effects.ts";
import type { RecoveryIncident, RecoveryReport } from "../reports/recoveries.ts";
import { SLOS } from "../slo/targets.ts";
import { type Fact, moment, type Section, type Verdict } from "./page.ts";

const { goal, alarm } = SLOS.recovery;

export function recoveryVerdict({ incidents, ms }: RecoveryReport): Verdict {
  if (!ms) return { tone: "good", text: "No worker was lost." };
  const open = incidents.filter(({ resumedAfterMs }) => resumedAfterMs === null).length;
  const tail = open === 0 ? "" : `; ${plural(open, "run")} had not resumed when this was written`;
  const said = `${plural(incidents.length, "recovery", "recoveries")}, the longest ${duration(ms.most)} after detection`;
  if (alarm !== null && ms.most > alarm)
    return { tone: "bad", text: `${said}: over the limit of 5 minutes${tail}.` };
  if (goal !== null && ms.most > goal) return { tone: "bad", text: `${said}: over the goal of 60 s${tail}.` };
  return { tone: open === 0 ? "good" : "open", text: `${said}: within the goal of 60 s${tail}.` };
}

/** Each failure, the attempt to recover, how it ended, and what was unusual about calls around it. */
export function recoverySection(report: RecoveryReport, effects: EffectReport | null): Section {
  const { incidents } = report;
  return {
    id: "recoveries",
    title: "Recovery incident log",
    lead: "Every takeover of a run from a worker that had died or was stuck. Silent is the time since the lost worker's last write, so the outage took at most that long.",
    blocks: [
      { kind: "verdict", verdict: recoveryVerdict(report) },
      { kind: "facts", facts: figures(report) },
      {
        kind: "table",
        caption: "Incidents",
        columns: [
          { title: "At (UTC)", look: "short" },
          { title: "Run", look: "code" },
          { title: "Lost worker → taken by" },
          { title: "Attempt", look: "number" },
          { title: "Silent", look: "number" },
          { title: "Resumed after", look: "number" },
          { title: "Under way" },
          { title: "Result" },
          { title: "Anomalies" },
        ],
        rows: incidents.map((one) => [
          moment(one.at),
          one.run,
          `${one.lost ?? "unknown"} → ${one.takenBy}`,
          String(one.attempt),
          duration(one.silentMs),
          one.resumedAfterMs === null ? "not yet" : duration(one.resumedAfterMs),
          one.interrupted.map(({ step, effect }) => `${step} (${effect})`).join(", ") || "nothing",
          one.result,
          anomalies(one, incidents, effects),
        ]),
        empty: "There was no incident.",
      },
    ],
  };
}

function figures({ incidents, runs, ms }: RecoveryReport): Fact[] {
  const { completed, completedAfterRecovery, failed, cancelled, completionRate } = runs;
  const longest = Math.max(0, ...incidents.map(outageMs));
  const most = Math.max(0, ...incidents.map(({ interrupted }) => interrupted.length));
  const rate = completionRate === null ? "nothing ended" : `${(completionRate * 100).toFixed(1)} %`;
  return [
    [
      "Longest outage (RTO seen)",
      incidents.length === 0 ? "no incident" : `${duration(longest)} from the last write of the lost worker`,
    ],
    [
      "Recovery after detection",
      ms ? `p50 ${duration(ms.p50)}, p95 ${duration(ms.p95)}, longest ${duration(ms.most)}` : "no incident",
    ],
    [
      "Work at risk (RPO seen)",
      incidents.length === 0
        ? "no incident"
        : `at most ${plural(most, "step")} under way; no recorded outcome was lost`,
    ],
    [
      "Runs that ended",
      `${completed} completed (${completedAfterRecovery} after a recovery), ${failed} failed, ${cancelled} cancelled`,
    ],
    ["Completion rate", rate],
  ];
}

/** From the last write of the lost worker to the first of the next: what users may have noticed. */
const outageMs = ({ silentMs, resumedAfterMs }: RecoveryIncident): number => silentMs + (resumedAfterMs ?? 0);

/** Findings about effects of the same run between this takeover and the next. */
function anomalies(
  incident: RecoveryIncident,
  all: readonly RecoveryIncident[],
  effects: EffectReport | null,
): string {
  if (!effects) return "–";
  const next = all.find(({ run, seq }) => run === incident.run && seq > incident.seq)?.seq ?? Infinity;
  const found = effects.findings.filter(
    ({ run, seq }) => run === incident.run && seq > incident.seq && seq < next,
  );
  return found.map(({ step, concern }) => `${step}: ${concern}`).join(", ") || "none";
}
