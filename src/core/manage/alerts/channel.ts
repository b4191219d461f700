import type { Severity } from "../slo/targets.ts";
import type { AlertKind } from "./kinds.ts";
import type { AlertNews, AlertRecord } from "./record.ts";

/** A message about an alert, as channels get it. */
export interface AlertNotification {
  /** The same for a repeated delivery: receivers recognise it by this. */
  readonly id: string;
  readonly news: AlertNews;
  readonly at: number;
  readonly kind: AlertKind;
  readonly key: string;
  readonly severity: Severity;
  /** One line: how urgent it is, what is new, what it is about. */
  readonly title: string;
  readonly summary: string;
  readonly since: number;
  readonly run: string | null;
  readonly workflow: string | null;
  /** How many alerts of the same kind opened at the same time and aren't told one by one. */
  readonly others: number;
  readonly links: {
    /** The page of the run, or of all alerts; `null` when the dashboard's address isn't known. */
    readonly page: string | null;
    /** What to do about alerts of this kind. */
    readonly runbook: string;
  };
}

/**
 * Where notifications go. A `send` that fails is tried again with growing pauses for a day, by whichever process looks
 * after alerts then; so `send` may be called twice with the same `id`.
 */
export interface NotifyChannel {
  /** Distinguishes it from other channels; deliveries are recorded by it. */
  readonly name: string;
  send(notification: AlertNotification): Promise<void>;
}

/** Where the pages are that messages link to. */
export interface AlertLinks {
  readonly dashboardUrl?: string | undefined;
  readonly runbookUrl?: string | undefined;
}

/** The pages are part of the package. */
const inPackage = (kind: AlertKind): string => `docs/runbooks/${kind}.md`;

const WORDS: Readonly<Record<AlertNews, string>> = {
  opened: "",
  reminder: "still open: ",
  escalated: "escalated: ",
  cleared: "cleared: ",
  test: "test: ",
};

export function notificationOf(
  record: Pick<AlertRecord, "key" | "kind" | "summary" | "since" | "run" | "workflow">,
  message: {
    readonly id: string;
    readonly news: AlertNews;
    readonly at: number;
    readonly severity: Severity;
  },
  { dashboardUrl, runbookUrl }: AlertLinks,
  others = 0,
): AlertNotification {
  const { id, news, at, severity } = message;
  const { key, kind, summary, since, run, workflow } = record;
  const more = others > 0 ? ` (and ${others} more like it)` : "";
  const base = dashboardUrl?.replace(/\/+$/, "");
  const page = base === undefined ? null : run === null ? `${base}/` : `${base}/r/${encodeURIComponent(run)}`;
  return {
    id,
    news,
    at,
    kind,
    key,
    severity,
    title: `[${severity}] ${WORDS[news]}${summary}${more}`,
    summary,
    since,
    run,
    workflow,
    others,
    links: {
      page,
      runbook: runbookUrl === undefined ? inPackage(kind) : `${runbookUrl.replace(/\/+$/, "")}/${kind}`,
    },
  };
}
