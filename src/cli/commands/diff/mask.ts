import type { Change, CheckpointDiff, PatchOperation } from "../../../core/manage/checkpoints/diff.ts";
import { isSecretName, MASK, masked } from "../../view/stored-values.ts";

/** The difference without secrets, every text cut to `longest`: shows that a value differs, not what it was. */
export function maskedDiff(diff: CheckpointDiff, longest?: number): CheckpointDiff {
  const { state, patch, steps, decisions } = diff;
  const shown = (value: unknown): unknown => masked(value, longest);
  const valueOf = (key: string, value: unknown): unknown => (isSecretName(key) ? MASK : shown(value));
  const change = (key: string, { from, to }: Change<unknown>): Change<unknown> => ({
    from: valueOf(key, from),
    to: valueOf(key, to),
  });
  return {
    ...diff,
    state: state && (maskedDelta(state, shown) as CheckpointDiff["state"]),
    patch: patch.map((operation) => maskedOperation(operation, shown)),
    steps: {
      added: mapped(steps.added, valueOf),
      removed: mapped(steps.removed, valueOf),
      changed: mapped(steps.changed, change),
    },
    decisions: shown(decisions) as CheckpointDiff["decisions"],
  };
}

const mapped = <T, R>(
  values: Readonly<Record<string, T>>,
  change: (key: string, value: T) => R,
): Record<string, R> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(key, value)]));

/** A delta holds values only in lists: added, removed, or both. */
function maskedDelta(delta: unknown, shown: (value: unknown) => unknown): unknown {
  if (Array.isArray(delta)) return delta.map(shown);
  if (typeof delta !== "object" || delta === null) return delta;
  return mapped(delta as Record<string, unknown>, (key, part) =>
    maskedDelta(part, isSecretName(key) ? hidden : shown),
  );
}

/** The zeros of a delta say what happened to the value before them. */
const hidden = (value: unknown): unknown => (value === 0 ? value : MASK);

function maskedOperation(operation: PatchOperation, shown: (value: unknown) => unknown): PatchOperation {
  if (operation.op === "remove") return operation;
  const isSecret = operation.path.split("/").some(isSecretName);
  return { ...operation, value: isSecret ? MASK : shown(operation.value) };
}
