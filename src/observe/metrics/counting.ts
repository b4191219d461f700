import type { JournalEvent, UsageMeta } from "../../core/journal/events.ts";
import type { ObservedEngine, Observer } from "../../core/journal/observer.ts";
import type { Append } from "../../core/store/contract.ts";
import { ended, type RunRow, shownUsage, unpricedOf } from "../../core/types.ts";
import type { Registry } from "./registry.ts";
import { COUNTED } from "./specs.ts";

/** Events that people and programs cause from outside, and what they are called. */
const ACTS: Partial<Record<JournalEvent["kind"], string>> = {
  pause_requested: "pause",
  run_resumed: "resume",
  cancel_requested: "cancel",
  gate_answered: "answer",
  step_resolved: "resolve",
  signal_received: "signal",
  value_edited: "edit",
};

/** Runs that were taken over and are remembered until they end. */
const MOST_RECOVERED = 10_000;
const NO_MODEL = "none";

/** Counts what an engine writes. */
export function counting(registry: Registry, { store }: ObservedEngine): Observer {
  /** Runs taken over here, with the time at which the loss was noticed until they have acted. */
  const recovered = new Map<string, number | null>();
  return {
    wrote(run, events) {
      for (const event of events) count(registry, run, event);
      recoveryOf(registry, recovered, run, events);
      if (ended(run.status) && events.some(isEnd)) finish(registry, run, recovered.delete(run.id));
    },
    flushed(appends, ms) {
      registry.record(COUNTED.writeDuration, { store }, ms / 1_000);
      for (const append of appends) {
        registry.add(COUNTED.writes, { workflow: append.run.workflow, result: "ok" });
        registry.record(COUNTED.size, { store }, sizeOf(append));
      }
    },
    notSaved(runIds) {
      registry.add(COUNTED.writes, { workflow: "unknown", result: "failed" }, runIds.length);
    },
  };
}

const isEnd = ({ kind }: JournalEvent): boolean =>
  kind === "run_completed" || kind === "run_failed" || kind === "run_cancelled";

const sizeOf = ({ entries, blobs }: Append): number =>
  entries.reduce((sum, { head, data }) => sum + head.length + (data?.length ?? 0), 0) +
  blobs.reduce((sum, { data }) => sum + data.length, 0);

function count(registry: Registry, { workflow }: RunRow, event: JournalEvent): void {
  const act = ACTS[event.kind];
  if (act !== undefined) registry.add(COUNTED.acts, { act });
  switch (event.kind) {
    case "run_created":
      return registry.add(COUNTED.started, { workflow });
    case "run_claimed":
      return registry.add(COUNTED.claims, { workflow });
    case "step_completed":
      registry.add(COUNTED.checkpoints, { workflow });
      registry.add(COUNTED.steps, { workflow, outcome: "completed" });
      registry.record(COUNTED.stepDuration, { workflow }, (event.meta.ms ?? 0) / 1_000);
      return spend(registry, workflow, event.meta.usage);
    case "step_failed":
      registry.add(COUNTED.steps, { workflow, outcome: "failed" });
      return spend(registry, workflow, event.meta.usage);
    case "step_in_doubt":
      return registry.add(COUNTED.steps, { workflow, outcome: "in doubt" });
    case "gate_answered":
    case "loop_advanced":
    case "checkpoint_marked":
      return registry.add(COUNTED.checkpoints, { workflow });
    case "usage_recorded":
      return spend(registry, workflow, event.meta);
    default:
  }
}

function spend(registry: Registry, workflow: string, usage: UsageMeta | undefined): void {
  if (!usage) return;
  const labels = { workflow, model: usage.model ?? NO_MODEL };
  registry.add(COUNTED.tokens, labels, usage.tokens);
  const unpriced = unpricedOf(usage);
  if (unpriced > 0) registry.add(COUNTED.unpriced, labels, unpriced);
  // A series at 0 would say that it was free.
  if (usage.costUsd > 0 || unpriced === 0) registry.add(COUNTED.cost, labels, usage.costUsd);
}

function recoveryOf(
  registry: Registry,
  recovered: Map<string, number | null>,
  run: RunRow,
  events: readonly JournalEvent[],
): void {
  const { workflow } = run;
  const since = recovered.get(run.id);
  const acted = events.find(({ kind }) => kind !== "run_claimed");
  if (typeof since === "number" && acted) {
    registry.record(COUNTED.recoveryDuration, { workflow }, Math.max(0, acted.at - since) / 1_000);
    recovered.set(run.id, null);
  }
  for (const event of events) {
    if (event.kind !== "run_claimed") continue;
    const { gone, lapsed = gone && event.at } = event.meta;
    if (lapsed === undefined) continue;
    registry.add(COUNTED.recoveries, { workflow });
    if (recovered.size < MOST_RECOVERED) recovered.set(run.id, Math.min(lapsed, event.at));
  }
}

function finish(registry: Registry, run: RunRow, wasRecovered: boolean): void {
  const { workflow, status } = run;
  const recovered = String(wasRecovered);
  registry.add(COUNTED.finished, { workflow, status, recovered });
  registry.record(COUNTED.duration, { workflow, status }, ((run.finishedAt ?? 0) - run.createdAt) / 1_000);
  registry.record(COUNTED.iterations, { workflow }, run.turns);
  const { costUsd } = shownUsage(run.usage);
  if (costUsd !== null) registry.record(COUNTED.runCost, { workflow, recovered }, costUsd);
}
