import type { MetricSpec } from "./registry.ts";

const counter = (name: string, help: string, unit: MetricSpec["unit"] = ""): MetricSpec => ({
  name: `holdfast.${name}`,
  kind: "counter",
  unit,
  help,
});

const gauge = (name: string, help: string, unit: MetricSpec["unit"] = ""): MetricSpec => ({
  name: `holdfast.${name}`,
  kind: "gauge",
  unit,
  help,
});

const histogram = (
  name: string,
  unit: MetricSpec["unit"],
  bounds: readonly number[],
  help: string,
): MetricSpec => ({ name: `holdfast.${name}`, kind: "histogram", unit, help, bounds });

/** Seconds around the goal of 15 ms and the alarm at 50 ms. */
const WRITES = [0.001, 0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Seconds around the goal of a minute and the alarm at five. */
const RECOVERIES = [0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1_800];
const CALLS = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];
const RUNS = [0.1, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400, 604_800];
const SIZES = [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];
const TURNS = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000];
const COSTS = [0, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 50, 100];

/** What this process counts. Each event is counted by the process that wrote it, so sums over processes are right. */
export const COUNTED = {
  writeDuration: histogram("checkpoint.write.duration", "s", WRITES, "How long a write to the store took."),
  size: histogram("checkpoint.size", "By", SIZES, "Characters that one run handed to one write."),
  writes: counter("checkpoint.writes", "Writes of runs, by result: ok, or failed and tried again."),
  checkpoints: counter("checkpoints", "Checkpoints saved. Its rate is the checkpoint frequency."),
  started: counter("runs.started", "Runs created."),
  finished: counter("runs.finished", "Runs ended, by status; recovered: after this process took it over."),
  duration: histogram("run.duration", "s", RUNS, "From the creation of a run to its end."),
  iterations: histogram("run.iterations", "", TURNS, "Loop iterations of ended runs."),
  runCost: histogram(
    "run.cost",
    "USD",
    COSTS,
    "Cost of ended runs, if it is known, by whether they were recovered.",
  ),
  steps: counter("steps", "Outcomes of steps: completed, failed, or in doubt."),
  stepDuration: histogram("step.duration", "s", CALLS, "How long completed calls took."),
  claims: counter("claims", "Runs taken up."),
  recoveries: counter("recoveries", "Runs taken over from a lost worker."),
  recoveryDuration: histogram(
    "recovery.duration",
    "s",
    RECOVERIES,
    "From the noticed loss of a worker to the run's first act after it.",
  ),
  acts: counter("acts", "What people and programs did to runs from outside."),
  tokens: counter("tokens", "Tokens used by model calls."),
  unpriced: counter("tokens.unpriced", "Tokens of model calls whose price isn't known. The cost lacks them."),
  cost: counter("cost", "Money spent on model calls.", "USD"),
} as const;

/** What is read when somebody asks. */
export const READ = {
  info: gauge("info", "Always 1; its labels tell the version and the kind of the store."),
  up: gauge("store.up", "1 while the store takes writes, 0 while it fails."),
  running: gauge("worker.runs", "Runs that this process has, by whether they wait."),
  unsaved: gauge("worker.unsaved.runs", "Runs of this process with events that aren't saved yet."),
  runs: gauge("runs", "Stored runs by workflow and status."),
  needs: gauge("runs.waiting", "Runs that need a person, by what they need: gate, in doubt, review …"),
  queueDepth: gauge("queue.depth", "Runs that stand in line in a queue."),
  queueRunning: gauge("queue.running", "Runs of a queue that are being advanced."),
  workers: gauge("workers", "Processes that advance runs on this store."),
  storage: gauge("storage.usage", "Bytes that the store occupies.", "By"),
  completion: gauge(
    "completion.rate",
    "Completed runs divided by completed and failed ones, over the last day.",
  ),
  success: gauge(
    "recovery.success.rate",
    "Of the runs that lost their worker within the last day, the share that was taken over.",
  ),
  slo: gauge("slo.value", "The figure of a service level objective over its window, in its own unit."),
  sloGoal: gauge("slo.goal", "The goal of a service level objective."),
  sloAlarm: gauge("slo.alarm", "The line beyond which a service level objective is an alarm."),
  sloState: gauge(
    "slo.state",
    "1 for the state that an objective is in: met, missed, alarm, unknown, watched.",
  ),
  truncated: gauge(
    "figures.truncated",
    "1 when there are more runs than these figures looked at, so that they are too low.",
  ),
} as const;
