/** Events are asked for in blocks of so many: a full block never changes. */
export const BLOCK = 200;

/** The numbers of the newest blocks of a journal with `seq` events, newest first. */
export function blocksOf(seq: number, count: number): readonly number[] {
  const newest = Math.max(0, Math.ceil(seq / BLOCK) - 1);
  return Array.from({ length: Math.min(count, newest + 1) }, (_, index) => newest - index);
}

/** Kinds of events in the groups that somebody filters by. */
export const GROUPS = ["steps", "people", "worker", "checkpoints", "other"] as const;
export type Group = (typeof GROUPS)[number];

const PATTERNS: readonly (readonly [Group, RegExp])[] = [
  [
    "people",
    /^(?:gate_answered|.*_requested|run_resumed|step_resolved|value_edited|values_read|signal_received|act_noted|import_accepted|budget_set)$/,
  ],
  [
    "worker",
    /^(?:run_claimed|run_released|run_waiting|run_paused|run_completed|run_failed|run_cancelled|run_created|run_forked|run_migrated|run_imported|family_told)$/,
  ],
  ["checkpoints", /^(?:checkpoint_|snapshot_|values_dropped|key_wrapped)/],
  ["steps", /^(?:step_|child_|loop_|answer_|signals_|decision_|agent_|usage_|plan_|memory_|value_|content_)/],
];

export const groupOfKind = (kind: string): Group =>
  PATTERNS.find(([, pattern]) => pattern.test(kind))?.[0] ?? "other";

export const isFailure = (kind: string): boolean =>
  kind === "step_failed" || kind === "step_in_doubt" || kind === "run_failed";

/** What happened, in words: `step_started` is "step started". */
export const kindText = (kind: string): string => kind.replaceAll("_", " ");
