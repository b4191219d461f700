import { wordsOf } from "../../journal/event-words.ts";
import { count, plural } from "../../values/amounts.ts";
import type { AuditTrail } from "../reports/trail.ts";
import { type Block, instant, moment, type Section, type Table, type Verdict } from "./page.ts";
import type { TrailArtefact } from "./types.ts";

export function trailVerdict({ runs, damaged, more, unreadable }: TrailArtefact): Verdict {
  const all = runs.length + unreadable.length;
  const rest = more ? ", and there are more runs than were looked at" : "";
  if (all === 0) return { tone: "open", text: "No run had any activity in this period." };
  if (damaged > 0)
    return {
      tone: "bad",
      text: `The record of ${damaged} of ${plural(all, "run")} is damaged${rest}.`,
    };
  const one = runs.length === 1 ? "The record of the run" : `The record of each of the ${runs.length} runs`;
  return {
    tone: "good",
    text: `${one} is exactly as written: every entry matches the hash of the next${rest}.`,
  };
}

/** Everything that happened, who did it and why. */
export function trailSection(artefact: TrailArtefact): Section {
  const { trail } = artefact;
  return {
    id: "trail",
    title: "Execution audit trail",
    lead: trail
      ? "The complete timeline of the run: execution, checkpoints, recoveries and what people did, with the hash of the journal entry that holds each line."
      : "Every run with activity in the period, the end of its hash chain, and what people did to runs. A copy of a head that is kept elsewhere proves later that nothing before it was changed.",
    blocks: [
      { kind: "verdict", verdict: trailVerdict(artefact) },
      ...(trail ? trailFacts(trail) : []),
      ...(trail && artefact.runs.length === 1 ? [] : [runsTable(artefact)]),
      ...problems(artefact),
      acts(artefact),
      ...(trail ? [timeline(trail)] : []),
    ],
  };
}

function trailFacts({
  workflow,
  version,
  status,
  createdAt,
  finishedAt,
  head,
  lines,
  origin,
}: AuditTrail): Block[] {
  return [
    {
      kind: "facts",
      facts: [
        ["Workflow", `${workflow}, version ${version}`],
        ["Status", status],
        ["Created", `${moment(createdAt)} UTC`],
        ["Ended", finishedAt === null ? "not yet" : `${moment(finishedAt)} UTC`],
        ["Events", count(lines.length)],
        ...(origin ? [["Forked from", `${origin.runId}@${origin.seq}`, "code"] as const] : []),
        ["Head of the chain", head, "code"],
      ],
    },
  ];
}

const runsTable = ({ runs }: TrailArtefact): Table => ({
  kind: "table",
  caption: "Runs",
  columns: [
    { title: "Run", look: "code" },
    { title: "Workflow" },
    { title: "Status" },
    { title: "Created (UTC)", look: "short" },
    { title: "Ended (UTC)", look: "short" },
    { title: "Events", look: "number" },
    { title: "Record", look: "short" },
    { title: "Head", look: "code" },
  ],
  rows: runs.map(({ run, workflow, version, status, createdAt, finishedAt, events, verified, head }) => [
    run,
    `${workflow} ${version}`,
    status,
    moment(createdAt),
    finishedAt === null ? "–" : moment(finishedAt),
    count(events),
    verified ? "✓ intact" : "✗ damaged",
    head,
  ]),
  empty: "No run had any activity.",
});

function problems({ runs, unreadable }: TrailArtefact): Block[] {
  const rows = [
    ...runs.flatMap(({ run, problems: found }) =>
      found.map(({ seq, kind, problem }) => [run, `#${seq}`, kind, problem]),
    ),
    ...unreadable.map((run) => [
      run,
      "–",
      "journal",
      "It can't be read, so nothing else is said about this run.",
    ]),
  ];
  if (rows.length === 0) return [];
  return [
    {
      kind: "table",
      caption: "Damage",
      columns: [
        { title: "Run", look: "code" },
        { title: "Position", look: "number" },
        { title: "Where" },
        { title: "What" },
      ],
      rows,
      empty: "",
    },
  ];
}

const acts = ({ acts: all }: TrailArtefact): Table => ({
  kind: "table",
  caption: "What people and outside programs did",
  columns: [
    { title: "At (UTC)", look: "short" },
    { title: "Who" },
    { title: "Act" },
    { title: "Run", look: "code" },
    { title: "Step", look: "code" },
    { title: "Reason" },
  ],
  rows: all.map(({ at, actor, kind, run, step, reason, what }) => [
    moment(at),
    actor,
    kind.replaceAll("_", " ") + (what === undefined ? "" : `: ${what}`),
    run,
    step,
    reason ?? "–",
  ]),
  empty: "Nobody intervened.",
});

const timeline = ({ lines }: AuditTrail): Table => ({
  kind: "table",
  caption: "Timeline",
  columns: [
    { title: "At (UTC)", look: "short" },
    { title: "No.", look: "number" },
    { title: "Step", look: "code" },
    { title: "What happened" },
    { title: "Entry", look: "code" },
  ],
  rows: lines.map((line) => [
    instant(line.at),
    String(line.seq),
    line.step === "" ? "run" : line.step,
    wordsOf(line),
    line.entry.slice(0, 12),
  ]),
  empty: "",
});
