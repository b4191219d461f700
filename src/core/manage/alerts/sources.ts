import { fingerprint } from "../../hash.ts";
import { listed, rawRow, readRun } from "../../journal/door.ts";
import type { EngineParts } from "../../journal/parts.ts";
import type { Store } from "../../store/contract.ts";
import type { Run, RunRow, RunStatus } from "../../types.ts";
import type { SloFigure, SloReport } from "../slo/slo.ts";
import { type NeedKind, needOf } from "../status/needs-you.ts";
import { verifyRun, verifyStore } from "../verify/verify.ts";
import { type AlertKind, type Cause, SEVERITIES } from "./kinds.ts";
import type { AlertRecord } from "./record.ts";

/** Where causes are looked for: what it found, and which open alerts it has an opinion on. */
export interface Findings {
  readonly causes: readonly Cause[];
  readonly covers: (alert: AlertRecord) => boolean;
}

/** When a waiting run is worth a call. */
export interface WaitRules {
  /** A gate that has waited this long, or closes within this time. */
  readonly gateAfterMs: number;
}

const STATUSES: readonly RunStatus[] = ["waiting", "failed", "running", "queued"];
/** The most runs of each status that are looked at, newest first. */
const MOST_ROWS = 500;
/** Runs that failed longer ago than this, before anybody looked, are old news. */
const NEWS_MS = 86_400_000;
const CLOSING_MS = 900_000;

const KINDS: Readonly<Record<NeedKind, AlertKind>> = {
  "in doubt": "in-doubt",
  "recovery loop": "recovery-loop",
  stalled: "run-stalled",
  review: "run-held",
  gate: "gate-waiting",
  budget: "budget",
  held: "run-held",
  key: "run-held",
  migration: "run-held",
  failed: "run-failed",
};

/** Runs that wait for a person, or stand still. Those with an open alert are read again, however many there are. */
export async function runFindings(
  store: Store,
  now: number,
  open: readonly AlertRecord[],
  rules: WaitRules,
): Promise<Findings> {
  const pages = await Promise.all(
    STATUSES.map((status) => store.list({ status: [status], limit: MOST_ROWS })),
  );
  const causes = new Map<string, Cause>();
  for (const row of pages.flatMap(({ runs }) => runs)) {
    const cause = runCause(listed(row), now, rules);
    if (cause && (cause.kind !== "run-failed" || now - cause.since < NEWS_MS)) causes.set(cause.key, cause);
  }
  for (const { key, run } of open) {
    if (run === null || causes.has(key)) continue;
    const row = await readRun(store, run);
    const cause = row && runCause(row, now, rules);
    if (cause?.key === key) causes.set(key, cause);
  }
  return {
    causes: [...causes.values()],
    covers: ({ kind, run }) => run !== null && kind !== "chain-broken",
  };
}

function runCause(row: RunRow | Run, now: number, { gateAfterMs }: WaitRules): Cause | null {
  const need = needOf(row as RunRow, now);
  if (!need) return null;
  const { standing, until } = need;
  const kind = KINDS[need.kind];
  const { id: run, workflow } = row;
  const since = standing.stalled?.since ?? standing.since;
  const isClosing = until !== null && until - now < CLOSING_MS;
  if (kind === "gate-waiting" && now - since < gateAfterMs && !isClosing) return null;
  // The next gate of the same run is another alert.
  const step = standing.wait ? `:${fingerprint(standing.wait.step)}` : "";
  const said = standing.stalled ? standing.stalled.reason : standing.headline;
  return {
    key: `${kind}:${run}${kind === "gate-waiting" || kind === "in-doubt" ? step : ""}`,
    kind,
    severity: kind === "gate-waiting" && isClosing ? "P1" : SEVERITIES[kind as keyof typeof SEVERITIES],
    summary: `${workflow} ${run}: ${said}`.slice(0, 500),
    since,
    run,
    workflow,
  };
}

/** Service levels beyond their alarm line. */
export const sloFindings = ({ objectives, at }: SloReport): Findings => ({
  causes: objectives
    .filter(({ state }) => state === "alarm")
    .map((one) => ({
      key: `slo-${one.name}`,
      kind: `slo-${one.name}`,
      severity: one.severity,
      summary: sloText(one),
      since: at,
      run: null,
      workflow: null,
    })),
  covers: ({ kind }) => kind.startsWith("slo-"),
});

const SLO_TEXTS: Readonly<Record<SloFigure["name"], string>> = {
  write: "writes are slow: 95 of 100 take up to",
  recovery: "a recovery took",
  completion: "too few runs complete:",
  availability: "the store was available for",
  "recovery-rate": "recoveries per ended run:",
  iterations: "iterations per run:",
  cost: "cost per run:",
};

const figureText = (value: number, unit: SloFigure["unit"]): string => {
  if (unit === "ms") return value < 1_000 ? `${Math.round(value)} ms` : `${Math.round(value / 1_000)} s`;
  if (unit === "share") return `${Math.floor(value * 10_000) / 100} %`;
  return unit === "usd" ? `$${value.toFixed(2)}` : String(Math.round(value * 10) / 10);
};

const sloText = ({ name, value, unit, goal, alarm }: SloFigure): string => {
  const line = [
    ...(goal === null ? [] : [`goal ${figureText(goal, unit)}`]),
    ...(alarm === null ? [] : [`alarm ${figureText(alarm, unit)}`]),
  ];
  return `${SLO_TEXTS[name]} ${figureText(value ?? 0, unit)} (${line.join(", ")})`;
};

type Reader = Pick<EngineParts, "store" | "values">;

/** Journals that aren't as they were written: of the newest runs, and of those that an alert is about. */
export async function chainFindings(
  reader: Reader,
  now: number,
  open: readonly AlertRecord[],
  runs: number,
): Promise<Findings> {
  const { damaged, store } = await verifyStore(reader, { limit: runs });
  const known = new Set(damaged.map(({ runId }) => runId));
  const again = open.filter(({ kind, run }) => kind === "chain-broken" && run !== null && !known.has(run));
  const all = [...damaged];
  for (const { run } of again) {
    const row = await rawRow(reader.store, run as string);
    const found = row && (await verifyRun(reader, row));
    if (found && found !== "unchecked" && found.problems.length > 0) all.push(found);
  }
  const causes = all.map(({ runId, workflow, problems }) => {
    const [first] = problems;
    return broken(`${workflow} ${runId}: ${first?.problem ?? "damaged"}`, now, runId, workflow);
  });
  const whole = store.length === 0 ? [] : [broken(`the store: ${store[0]}`, now, null, null)];
  return {
    causes: [...causes, ...whole],
    covers: ({ kind, key }) => kind === "chain-broken" && key !== "chain-broken:audit",
  };
}

const broken = (what: string, now: number, run: string | null, workflow: string | null): Cause => ({
  key: `chain-broken:${run ?? "store"}`,
  kind: "chain-broken",
  severity: "P1",
  summary: `the record isn't as it was written: ${what}`.slice(0, 500),
  since: now,
  run,
  workflow,
});
