import { duration, seconds, used } from "../values/amounts.ts";
import type { EventMeta, JournalEvent } from "./events.ts";
import { retryWait } from "./records.ts";

/** A short description of an event, from its head only, so it contains no value. */
export function wordsOf(event: JournalEvent): string {
  const by = event.actor === undefined ? "" : ` by ${event.actor}`;
  const reason = "reason" in event.meta && event.meta.reason !== undefined ? `: ${event.meta.reason}` : "";
  return `${said(event)}${by}${reason}`;
}

function said(event: JournalEvent): string {
  switch (event.kind) {
    case "run_created":
      return `created (${event.meta.workflow} ${event.meta.version})`;
    case "run_forked":
      return `forked from ${event.meta.from.runId}@${event.meta.from.seq} (effects: ${event.meta.effects})`;
    case "run_migrated":
      return `migrated ${event.meta.from} → ${event.meta.to}${event.meta.asIs ? ", as it is" : ""}`;
    case "run_claimed":
      return `taken by ${event.meta.owner}${event.meta.recovery > 0 ? ` (recovery ${event.meta.recovery})` : ""}`;
    case "run_waiting":
      return `waiting: ${event.meta.waiting.map(({ kind, step }) => (step === "" ? kind : `${kind} ${step}`)).join(", ")}`;
    case "run_failed":
      return `failed: ${event.meta.message}`;
    default:
      return saidOfStep(event);
  }
}

function saidOfStep(event: JournalEvent): string {
  switch (event.kind) {
    case "step_started": {
      const { type, effect, attempt } = event.meta;
      const kind = type === "call" ? effect : type;
      return `started (${kind}${attempt > 1 ? `, attempt ${attempt}` : ""})`;
    }
    case "step_completed": {
      const { ms, usage, instead } = event.meta;
      return ["done", ms === undefined ? "" : duration(ms), usage ? used(usage) : "", instead ?? ""]
        .filter((part) => part !== "")
        .join(" · ");
    }
    case "step_failed": {
      const { attempt, retryAt } = event.meta;
      return `attempt ${attempt} failed${retryAt === undefined ? "" : `, again in ${seconds(retryWait(event))}`}`;
    }
    case "step_in_doubt":
      return "outcome unknown: started, and no outcome recorded";
    case "step_resolved":
      return `resolved as ${event.meta.action}`;
    case "gate_answered":
      return `answered ${event.meta.choice}`;
    case "child_finished":
      return `child ${event.meta.child} ${event.meta.status}`;
    case "signal_received":
      return `signal ${event.meta.name}`;
    case "checkpoint_marked":
      return `checkpoint ${event.meta.label} (${event.meta.trigger})`;
    default:
      return saidOfNote(event);
  }
}

function saidOfNote(event: JournalEvent): string {
  switch (event.kind) {
    case "value_edited":
      return `${event.meta.what} edited`;
    case "plan_made":
      return "plan made";
    case "signals_taken":
      return event.meta.refused === undefined ? "signals taken" : `message set aside: ${event.meta.refused}`;
    case "answer_fitted":
      return "answer matches its schema";
    case "values_read":
      return `values read: ${event.meta.what}`;
    case "memory_written":
      return `memory ${event.meta.name} ${event.meta.deleted ? "deleted" : "written"}`;
    case "stream_written":
      return saidOfStream(event.meta);
    case "usage_recorded":
      return `used ${used(event.meta) || "nothing"}${event.meta.model === undefined ? "" : ` (${event.meta.model})`}`;
    case "values_dropped":
      return `values dropped: ${event.meta.entries} entries, ${event.meta.blobs} blobs`;
    case "loop_advanced":
      return `iteration ${event.meta.iteration}${event.meta.done ? ", the last" : ""}`;
    case "budget_set":
      if (Object.keys(event.meta).length === 0) return "limits of a run above changed";
      return `budget ${Object.entries(event.meta)
        .map(([key, value]) => `${key} ${value}`)
        .join(", ")}`;
    case "checkpoint_tagged":
      return `checkpoint #${event.meta.seq} ${event.meta.label ?? (event.meta.pinned ? "pinned" : "unpinned")}`;
    default:
      return event.kind.replace(/^(run|step|plan)_/, "").replaceAll("_", " ");
  }
}

function saidOfStream({ stream, at, count, restarted, closed }: EventMeta["stream_written"]): string {
  const again = restarted === undefined ? "" : `, anew from ${at} (attempt ${restarted})`;
  return `stream ${stream}: ${count} items${again}${closed ? ", closed" : ""}`;
}
