import { bytes, count, plural } from "../../values/amounts.ts";
import type { Column, Fact, Section, Table, Verdict } from "./page.ts";
import type { CapacityArtefact, Growth } from "./types.ts";

export function capacityVerdict({ total, growth }: CapacityArtefact): Verdict {
  const verb = total.runs === 1 ? "holds" : "hold";
  const held = `${plural(total.runs, "run")} ${verb} ${bytes(total.headBytes + total.valueBytes)}`;
  return { tone: "good", text: growth ? `${held}; ${bytes(growth.bytesPerDay)} more each day.` : `${held}.` };
}

function facts({ total, growth, byStatus }: CapacityArtefact): Fact[] {
  const statuses = Object.entries(byStatus).map(([status, many]) => `${many} ${status}`);
  const entries = plural(total.entries, "entry", "entries");
  return [
    ["Runs", `${count(total.runs)}${statuses.length === 0 ? "" : ` (${statuses.join(", ")})`}`],
    ["Values", `${bytes(total.valueBytes)} in ${entries} and ${plural(total.blobs, "blob")}`],
    ["Record that stays", bytes(total.headBytes)],
    ...(growth ? growthFacts(growth) : []),
  ];
}

function growthFacts({ days, bytesPerDay, runsPerDay, bytesIn30Days, ...rest }: Growth): Fact[] {
  const { expired, expiryRate, dropped } = rest;
  const share = expiryRate === null ? "" : ` (${(expiryRate * 100).toFixed(1)} % of those that began)`;
  return [
    ["Growth", `${bytes(bytesPerDay)} and ${runsPerDay.toFixed(1)} runs a day, over ${plural(days, "day")}`],
    ["In 30 days at this rate", `${bytes(bytesIn30Days)}, if retention dropped nothing`],
    ["Expired", `${plural(expired, "run")} lost all values${share}`],
    ["Dropped by retention", plural(dropped, "value")],
  ];
}

/** What the store holds, how fast it grows, and how much retention removes. */
export const capacitySection = (report: CapacityArtefact): Section => ({
  id: "capacity",
  title: "Checkpoint store capacity report",
  lead: "What is stored at the end of the period, its growth, and what retention removed. Lengths are those of the texts given to the store, before compression, indexes and free pages.",
  blocks: [{ kind: "facts", facts: facts(report) }, byWorkflow(report), byDay(report), largest(report)],
});

const numbers = (...titles: readonly string[]): Column[] =>
  titles.map((title) => ({ title, look: "number" }));

const byWorkflow = ({ byWorkflow: all }: CapacityArtefact): Table => ({
  kind: "table",
  caption: "By workflow",
  columns: [{ title: "Workflow" }, ...numbers("Runs", "Entries", "Values", "Record")],
  rows: Object.entries(all)
    .sort(([, a], [, b]) => b.headBytes + b.valueBytes - a.headBytes - a.valueBytes)
    .map(([name, one]) => [
      name,
      count(one.runs),
      count(one.entries),
      bytes(one.valueBytes),
      bytes(one.headBytes),
    ]),
  empty: "The store is empty.",
});

const byDay = ({ days }: CapacityArtefact): Table => ({
  kind: "table",
  caption: "By day (UTC)",
  columns: [
    { title: "Day", look: "short" },
    ...numbers("Runs begun", "Entries", "Written", "Runs expired", "Values dropped"),
  ],
  rows: days.map((day) => [
    day.day,
    count(day.runs),
    count(day.entries),
    bytes(day.bytes),
    count(day.expired),
    count(day.dropped),
  ]),
  empty: "Nothing was written in the period.",
});

const largest = ({ largest: all }: CapacityArtefact): Table => ({
  kind: "table",
  caption: "Largest runs",
  columns: [{ title: "Run", look: "code" }, { title: "Workflow" }, ...numbers("Size")],
  rows: all.map(({ run, workflow, bytes: size }) => [run, workflow, bytes(size)]),
  empty: "There is none.",
});
