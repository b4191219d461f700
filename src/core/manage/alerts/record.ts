import { isRecord } from "../../check-options.ts";
import type { Severity } from "../slo/targets.ts";
import type { Cause } from "./kinds.ts";

/** What a notification tells. */
export type AlertNews = "opened" | "reminder" | "escalated" | "cleared" | "test";

/** A message about an alert that isn't delivered everywhere yet. It is part of the alert, so that both are written at once. */
export interface Pending {
  /** Also the key by which receivers recognise a repeated delivery. */
  readonly id: string;
  /** Many alerts that open at once share a message, and its id; `null`: it has its own. */
  readonly bundle: string | null;
  readonly news: AlertNews;
  readonly at: number;
  readonly severity: Severity;
  /** The channels that have it. */
  readonly done: readonly string[];
  readonly tries: number;
  /** No further try before this time. */
  readonly nextAt: number;
  readonly error: string | null;
}

/** An alert, as it is stored. */
export interface AlertRecord extends Cause {
  readonly state: "open" | "cleared";
  readonly openedAt: number;
  readonly clearedAt: number | null;
  /** When people were last told. */
  readonly toldAt: number;
  readonly escalatedAt: number | null;
  /** Who looks after it. No reminders are sent meanwhile. */
  readonly acked: { readonly by: string | null; readonly at: number; readonly reason: string | null } | null;
  readonly pending: readonly Pending[];
  /** Messages that could not be delivered in time. */
  readonly undelivered: number;
}

export function isAlert(value: unknown): value is AlertRecord {
  if (!isRecord(value)) return false;
  const { key, kind, state, openedAt, pending } = value;
  return (
    typeof key === "string" &&
    typeof kind === "string" &&
    (state === "open" || state === "cleared") &&
    typeof openedAt === "number" &&
    Array.isArray(pending)
  );
}

/** When people are told again. */
export interface AlertRules {
  /** An open alert that nobody looks after is told again after this time. */
  readonly remindMs: Readonly<Record<Severity, number>>;
  /** A `P2` that nobody looks after becomes a `P1` after this time. */
  readonly escalateMs: number;
  /** A cleared alert stays in the list for this time. */
  readonly keepMs: number;
}

export const RULES: AlertRules = {
  remindMs: { P1: 1_800_000, P2: 14_400_000 },
  escalateMs: 28_800_000,
  keepMs: 7 * 86_400_000,
};

const message = (
  id: string,
  news: AlertNews,
  at: number,
  severity: Severity,
  bundle: string | null = null,
): Pending => ({
  id,
  bundle,
  news,
  at,
  severity,
  done: [],
  tries: 0,
  nextAt: at,
  error: null,
});

/** A new alert, with the message that says so. */
export const opened = (cause: Cause, now: number, id: string, bundle: string | null = null): AlertRecord => ({
  ...cause,
  state: "open",
  openedAt: now,
  clearedAt: null,
  toldAt: now,
  escalatedAt: null,
  acked: null,
  pending: [message(id, cause.kind === "test" ? "test" : "opened", now, cause.severity, bundle)],
  undelivered: 0,
});

/**
 * What becomes of an alert when its cause is seen again, or no longer (`null`). Returns the record itself when nothing
 * changes, and `null` when it is to be forgotten.
 */
export function next(
  record: AlertRecord,
  cause: Cause | null,
  now: number,
  rules: AlertRules,
  id: string,
): AlertRecord | null {
  if (cause === null) return record.state === "open" ? cleared(record, now, id) : aged(record, now, rules);
  if (record.state === "cleared") return { ...opened(cause, now, id), undelivered: record.undelivered };
  const open = refreshed(record, cause);
  if (open.severity === "P1" && record.severity === "P2") return told(open, "escalated", now, id);
  if (open.acked) return open;
  if (open.severity === "P2" && now - open.openedAt >= rules.escalateMs)
    return told({ ...open, severity: "P1", escalatedAt: now }, "escalated", now, id);
  return now - open.toldAt >= rules.remindMs[open.severity] ? told(open, "reminder", now, id) : open;
}

/** A person was told by all that is pending only once it is delivered; a second message of the same kind adds nothing. */
function told(record: AlertRecord, news: AlertNews, now: number, id: string): AlertRecord {
  const isPending = record.pending.some((one) => one.news === news);
  const pending = isPending ? record.pending : [...record.pending, message(id, news, now, record.severity)];
  return { ...record, toldAt: now, pending };
}

/** An escalated alert stays so; its sentence follows its cause. */
function refreshed(record: AlertRecord, cause: Cause): AlertRecord {
  const severity = record.escalatedAt === null ? cause.severity : "P1";
  const isSame = record.summary === cause.summary && record.severity === severity;
  return isSame ? record : { ...record, summary: cause.summary, severity };
}

/** What nobody has heard of needs no end either. */
function cleared(record: AlertRecord, now: number, id: string): AlertRecord {
  const isUnheard = record.pending.some(({ news, done }) => news === "opened" && done.length === 0);
  const pending = isUnheard
    ? []
    : [
        ...record.pending.filter(({ news }) => news === "opened"),
        message(id, "cleared", now, record.severity),
      ];
  return { ...record, state: "cleared", clearedAt: now, pending };
}

const aged = (record: AlertRecord, now: number, { keepMs }: AlertRules): AlertRecord | null =>
  record.pending.length === 0 && now - (record.clearedAt ?? now) >= keepMs ? null : record;
