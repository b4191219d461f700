import type { AuditProblem, LogCheck, ProvenSize } from "./log-check.ts";
import type { NewerRun, RunCheck } from "./run-check.ts";

/** What was verified, up to where, and what this can't tell. */
export interface AuditVerification {
  /** True when nothing was found. Read `anchored` and `cannotSee` beside it. */
  readonly ok: boolean;
  readonly origin: string;
  readonly leaves: number;
  /** How often each act is in the log. */
  readonly acts: Readonly<Record<string, number>>;
  /** The newest head with a valid signature. */
  readonly signed: ProvenSize | null;
  /** The newest head that an anchor outside the store has. Everything before it is proven. */
  readonly anchored: ProvenSize | null;
  /** The public keys that counted, and whether the reader named them or the log did. */
  readonly keys: readonly string[];
  readonly keysFrom: "reader" | "log";
  /** Journals that were compared with the log; `null`: none were. */
  readonly journals: {
    readonly runs: number;
    readonly entries: number;
    readonly deleted: number;
    readonly withValues: boolean;
  } | null;
  readonly problems: readonly AuditProblem[];
  /** What no anchor covers, or without an anchor no signature. */
  readonly newer: { readonly leaves: number; readonly runs: readonly NewerRun[]; readonly events: number };
  /** In sentences. */
  readonly cannotSee: readonly string[];
}

export interface Conclusion {
  readonly log: LogCheck;
  readonly proven: { readonly signed: ProvenSize | null; readonly anchored: ProvenSize | null };
  readonly runs: RunCheck | null;
  readonly withValues: boolean;
  readonly keysFrom: AuditVerification["keysFrom"];
  readonly more?: readonly AuditProblem[];
}

export function conclude(about: Conclusion): AuditVerification {
  const { log, runs, withValues, keysFrom, more = [], proven } = about;
  const { signed, anchored } = proven;
  const problems = [...more, ...log.problems, ...(runs?.problems ?? [])];
  const size = (anchored ?? signed)?.size ?? 0;
  const newer = runs?.newer ?? [];
  const events = newer.reduce((sum, { anchored: from, seq }) => sum + seq - from, 0);
  return {
    ok: problems.length === 0,
    origin: log.origin,
    leaves: log.size,
    acts: Object.fromEntries(log.acts),
    signed,
    anchored,
    keys: log.keys.map(({ name, id }) => `${name}+${id}`),
    keysFrom,
    journals: runs && { runs: runs.runs, entries: runs.entries, deleted: runs.deleted, withValues },
    problems,
    newer: { leaves: log.size - size, runs: newer, events },
    cannotSee: limitsOf(about, events),
  };
}

function limitsOf({ log, proven, runs, withValues, keysFrom }: Conclusion, events: number): string[] {
  const { signed, anchored } = proven;
  const last = anchored ?? signed;
  const tail = log.size - (last?.size ?? 0);
  return [
    ...(anchored
      ? []
      : [
          "No anchor was given: an older copy of the whole store, or a log rewritten by the holder of the key, would look just as good.",
        ]),
    ...(signed ? [] : ["Nothing is signed: whoever can write to the store can have written all of this."]),
    ...(keysFrom === "log"
      ? ["The key comes from the log itself: compare it with the public key that you were given."]
      : []),
    ...(tail + events > 0
      ? [
          `${count(tail, "leaf", "leaves")} and ${count(events, "event")} came after the last ${anchored ? "anchor" : "signed head"}: whoever can write to the store can still change or remove them.`,
        ]
      : []),
    ...(runs ? [] : ["Journals weren't compared with the log."]),
    ...(runs && !withValues
      ? ["Values weren't looked at: only that the journals, which name their digests, are unchanged."]
      : []),
    "What was never recorded, or was false when it was recorded, such as an act that somebody with write access to the store has added.",
    "Anything, if one person has the store, the audit key and every anchor.",
  ];
}

const time = (at: number): string => (at > 0 ? new Date(at).toISOString() : "an unknown time");

const MOST_SHOWN = 50;

/** The result in lines for people. */
export function verificationText(found: AuditVerification): string {
  const { problems, signed, anchored, journals, newer, keys, leaves, origin } = found;
  const shown = problems.slice(0, MOST_SHOWN);
  const left = problems.length - shown.length;
  const covered = (what: string, proven: AuditVerification["signed"], none: string): string =>
    proven
      ? `${what.padEnd(10)}up to leaf ${proven.size} (${time(proven.at)}), by ${proven.by}`
      : `${what.padEnd(10)}${none}`;
  return [
    found.ok ? "✓ Nothing was changed in what could be verified." : `✗ ${count(problems.length, "problem")}.`,
    ...shown.map(({ kind, where, problem }) => `✗ ${kind}  ${where}  ${problem}`),
    ...(left > 0 ? [`  and ${left} more`] : []),
    "",
    `Log       ${origin || "none"}, ${count(leaves, "leaf", "leaves")}`,
    covered("Signed", signed, "nothing"),
    covered("Anchored", anchored, "nothing: no anchor was given"),
    `Keys      ${keys.join(", ") || "none"}`,
    journals
      ? `Journals  ${count(journals.runs, "run")}, ${count(journals.entries, "entry", "entries")}${journals.deleted > 0 ? `; ${count(journals.deleted, "run")} deleted, as recorded` : ""}`
      : "Journals  not compared",
    `Newer     ${count(newer.leaves, "leaf", "leaves")}, ${count(newer.events, "event")} in ${count(newer.runs.length, "run")}`,
    "",
    "This can't see:",
    ...found.cannotSee.map((line) => `- ${line}`),
  ].join("\n");
}

const count = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`;
