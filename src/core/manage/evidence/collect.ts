import { badOption, checkKeys, checkOneOf, checkText, keysOf } from "../../check-options.ts";
import { defined } from "../../defined.ts";
import type { EngineParts } from "../../journal/parts.ts";
import type { Store } from "../../store/contract.ts";
import { type ActLine, actsOf } from "../reports/act-page.ts";
import { type CapacityReport, capacityReport } from "../reports/capacity.ts";
import { effectReport } from "../reports/effects.ts";
import { Looked, type Period, type ReportQuery, readPeriod, runsIn } from "../reports/period.ts";
import { recoveryReport } from "../reports/recoveries.ts";
import { auditTrail } from "../reports/trail.ts";
import {
  ARTEFACTS,
  type CapacityArtefact,
  type Evidence,
  type EvidenceQuery,
  type Growth,
  type TrailArtefact,
  type TrailOfRun,
} from "./types.ts";

const DAY = 86_400_000;
const KEYS = keysOf<EvidenceQuery>({
  run: true,
  month: true,
  since: true,
  until: true,
  workflow: true,
  runs: true,
  artefacts: true,
  drills: true,
  by: true,
});

type Reader = Pick<EngineParts, "store" | "values">;

/** The four artefacts about one run, or about a period, as data. Every journal is read and checked for it. */
export async function collectEvidence(reader: Reader, query: EvidenceQuery): Promise<Evidence> {
  checkKeys(query, KEYS);
  const { store } = reader;
  const { run, month, workflow, runs, artefacts = ARTEFACTS, drills = [] } = query;
  for (const one of artefacts) checkOneOf("artefacts", one, ARTEFACTS);
  const asked = { ...defined({ run, workflow, runs }), ...spanOf(query) };
  const period = await readPeriod(store, asked);
  const told: ReportQuery = { ...asked, ...period };
  const wants = (name: (typeof ARTEFACTS)[number]): boolean => artefacts.includes(name);
  return {
    kind: "holdfast-evidence",
    schema: 1,
    subject: { ...period, ...defined({ run, month, workflow }) },
    madeAt: await store.now(),
    madeBy: checkText("by", query.by, 1, 500),
    store: await aboutStore(store),
    trail: wants("trail") ? await trailArtefact(reader, told, period) : null,
    recoveries: wants("recoveries") ? await recoveryReport(store, told) : null,
    effects: wants("effects") ? await effectReport(store, told) : null,
    capacity: wants("capacity") ? await capacityArtefact(store, told) : null,
    drills,
  };
}

/** The period of a month, or what was said instead. */
function spanOf({ run, month, since, until }: EvidenceQuery): Pick<ReportQuery, "since" | "until"> {
  if ([run, month, since].filter((one) => one !== undefined).length !== 1)
    throw badOption("month", "evidence is about one run, one month, or the time since then");
  if (month === undefined) return defined({ since, until });
  return monthOf(month);
}

/** The beginning of a month in UTC, and that of the next. */
export function monthOf(month: string): { readonly since: number; readonly until: number } {
  const [, year, number] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month) ?? [];
  if (year === undefined) throw badOption("month", "it must be a month such as 2026-11");
  const since = Date.UTC(Number(year), Number(number) - 1, 1);
  return { since, until: Date.UTC(Number(year), Number(number), 1) };
}

async function aboutStore(store: Store): Promise<Evidence["store"]> {
  const { incarnation } = await store.identity();
  return { kind: store.name, id: incarnation, durability: store.capabilities.durability };
}

async function trailArtefact(reader: Reader, query: ReportQuery, period: Period): Promise<TrailArtefact> {
  const runs: TrailOfRun[] = [];
  const acts: ActLine[] = [];
  const looked = new Looked();
  let own: TrailArtefact["trail"];
  for await (const row of runsIn(reader.store, query, period, looked))
    await looked.at(row.id, async () => {
      const { lines, ...about } = await auditTrail(reader, row.id);
      const { run, workflow, version, status, createdAt, finishedAt, head, verified, problems } = about;
      const facts = { run, workflow, version, status, createdAt, finishedAt, head, verified, problems };
      runs.push({ ...facts, events: lines.length });
      for await (const act of actsOf(reader.store, row, period)) acts.push(act);
      if (run === query.run) own = { ...about, lines };
    });
  acts.sort((a, b) => a.at - b.at);
  const { told } = looked;
  const damaged = runs.filter(({ verified }) => !verified).length + told.unreadable.length;
  return { runs, damaged, acts, ...told, ...defined({ trail: own }) };
}

async function capacityArtefact(store: Store, query: ReportQuery): Promise<CapacityArtefact> {
  const report = await capacityReport(store, query);
  return query.run === undefined ? { ...report, growth: growthOf(report, await store.now()) } : report;
}

function growthOf(report: CapacityReport, now: number): Growth {
  const { days, total } = report;
  const sum = (of: (day: CapacityReport["days"][number]) => number): number =>
    days.reduce((all, day) => all + of(day), 0);
  // A store younger than the period has grown only since its first day, and a period that isn't over only until now.
  const first = days[0] ? Date.parse(days[0].day) : report.since;
  const length = Math.max(1, Math.ceil((Math.min(report.until, now) - Math.max(first, report.since)) / DAY));
  const [bytes, began, expired, dropped] = [
    sum(({ bytes }) => bytes),
    sum(({ runs }) => runs),
    sum(({ expired }) => expired),
    sum(({ dropped }) => dropped),
  ];
  return {
    days: length,
    bytesPerDay: Math.round(bytes / length),
    runsPerDay: began / length,
    expiryRate: began === 0 ? null : expired / began,
    expired,
    dropped,
    bytesIn30Days: total.headBytes + total.valueBytes + Math.round((bytes / length) * 30),
  };
}
