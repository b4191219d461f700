import { baseName, besideOf, isMemoryNote, keyOf, lastSegment, prefixOf, segmentsOf } from "../keys.ts";
import type { ScopeNode, StepRecord } from "./records.ts";

/**
 * A migration's changes to recorded steps. Paths consist of plain names, without count or iteration: "pay", "turn/ask".
 */
export interface StepChange {
  readonly renamed?: Readonly<Record<string, string>>;
  readonly dropped?: readonly string[];
}

const stepPath = (path: string, segment: string): string =>
  path + baseName(segment).slice(besideOf(segment).length);

/** All names change at once, based on the old ones: two steps may swap theirs. */
function renamedSegment({ renamed = {} }: StepChange, path: string, segment: string): string {
  const from = stepPath(path, segment);
  if (!Object.hasOwn(renamed, from) || isMemoryNote(segment)) return segment;
  return besideOf(segment) + renamed[from] + segment.slice(baseName(segment).length);
}

/** A full key after the change. */
export function renamedKey(key: string, change: StepChange): string {
  let path = "";
  const segments = segmentsOf(key).map((segment) => {
    const to = renamedSegment(change, path, segment);
    path += prefixOf(baseName(segment));
    return to;
  });
  return keyOf(segments);
}

/** The key that became `key` through these changes; `undefined` when there is none. */
export function formerKey(key: string, changes: readonly StepChange[]): string | undefined {
  const former = changes.reduceRight((now, { renamed = {} }) => {
    const back = Object.entries(renamed).map(([path, to]) => {
      const name = lastSegment(path);
      const scope = renamedKey(path, { renamed }).slice(0, -to.length);
      return [scope + to, name] as const;
    });
    return renamedKey(now, { renamed: Object.fromEntries(back) });
  }, key);
  return changes.reduce(renamedKey, former) === key ? former : undefined;
}

/** Gives everything in a map its new key. */
export function rekey<T>(map: Map<string, T>, to: (key: string) => string): void {
  const entries = [...map];
  map.clear();
  for (const [key, value] of entries) map.set(to(key), value);
}

/**
 * True when something may have happened outside, or is happening, and the journal doesn't have the outcome. Dropping it
 * needs an explicit decision.
 */
export const isUnresolved = ({ type, effect, status }: StepRecord): boolean =>
  (status === "started" || status === "in_doubt") && (type === "child" || effect !== "repeatable");

/** True when the change drops the step, or one around it. */
export function isDropped(key: string, { dropped = [] }: StepChange): boolean {
  if (dropped.length === 0) return false;
  let path = "";
  return segmentsOf(key).some((segment) => {
    const step = stepPath(path, segment);
    path += prefixOf(baseName(segment));
    return dropped.includes(step);
  });
}

/** Records under a dropped name are discarded; records under a renamed one move to the new name. */
export function changeSteps(node: ScopeNode, change: StepChange, path = ""): void {
  const { dropped = [] } = change;
  for (const map of [node.records, node.loops, node.scopes] as Map<string, unknown>[])
    for (const name of map.keys()) if (dropped.includes(stepPath(path, name))) map.delete(name);
  for (const [name, scope] of node.scopes) changeSteps(scope, change, path + prefixOf(baseName(name)));
  const to = (name: string): string => renamedSegment(change, path, name);
  for (const [name, scope] of node.scopes) if (to(name) !== name) scope.was ??= name;
  for (const map of [node.records, node.loops, node.scopes, node.notes]) rekey<unknown>(map, to);
}
