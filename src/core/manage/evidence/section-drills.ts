import { duration, plural } from "../../values/amounts.ts";
import type { Drill } from "./drill.ts";
import type { Section, Verdict } from "./page.ts";

export function drillVerdict(drills: readonly Drill[]): Verdict {
  const kills = drills.reduce((sum, one) => sum + one.kills, 0);
  const failed = drills.filter(({ ok }) => !ok).length;
  if (failed > 0)
    return { tone: "bad", text: `${failed} of ${plural(drills.length, "recovery drill")} broke a promise.` };
  const slowest = Math.max(0, ...drills.map(({ rto }) => rto?.max ?? 0));
  return {
    tone: "good",
    text: `Recovery was exercised: ${plural(kills, "kill")}, every promise held, the longest recovery took ${duration(slowest)}.`,
  };
}

/** Crash tests as proof that the restore path was exercised. */
export const drillSection = (drills: readonly Drill[]): Section => ({
  id: "drills",
  title: "Recovery drills",
  lead: "Crash tests: processes are killed at durable boundaries, and a fresh one has to finish the run. RTO is the time from the kill to the first write of the process that took over, RPO the steps that had to be called again.",
  blocks: [
    { kind: "verdict", verdict: drillVerdict(drills) },
    {
      kind: "table",
      caption: "Crash tests",
      columns: [
        { title: "Date (UTC)", look: "short" },
        { title: "Workflow" },
        { title: "Store" },
        { title: "Fault" },
        { title: "Kills", look: "number" },
        { title: "Held", look: "number" },
        { title: "RTO p50", look: "number" },
        { title: "p95", look: "number" },
        { title: "longest", look: "number" },
        { title: "RPO", look: "number" },
        { title: "Duplicates", look: "number" },
        { title: "SHA-256 of the report", look: "code" },
      ],
      rows: drills.map((one) => [
        one.startedAt.slice(0, 19).replace("T", " "),
        `${one.workflow} ${one.version}`,
        `${one.store} (${one.durability})`,
        one.fault,
        String(one.kills),
        `${one.held} of ${one.struck}`,
        one.rto ? duration(one.rto.p50) : "–",
        one.rto ? duration(one.rto.p95) : "–",
        one.rto ? duration(one.rto.max) : "–",
        `≤ ${plural(one.rpo.most, "step")}`,
        String(one.duplicates),
        one.sha256,
      ]),
      empty: "",
    },
  ],
});
