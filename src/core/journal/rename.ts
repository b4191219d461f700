import { baseName, besideOf, isMemoryNote, keyOf, lastSegment, prefixOf, segmentsOf } from "../keys.ts";
import type { ScopeNode, StepRecord } from "./records.ts";

/** What a migration does to recorded steps. Paths are of plain names, whatever the count or the iteration: "pay", "turn/ask". */
export interface StepChange {
  readonly renamed?: Readonly<Record<string, string>>;
  readonly dropped?: readonly string[];
}

const stepPath = (path: string, segment: string): string =>
  path + baseName(segment).slice(besideOf(segment).length);

/** All names are changed at once, by what they were before: two steps may swap theirs. */
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

/** The key that became `key` by these changes, one after the other; `undefined` when none did. */
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
 * Something may have happened outside, or is happening, and the journal does not say what became of it. Nobody can say that it does
 * not matter without saying what it is.
 */
export const isUnresolved = ({ type, effect, status }: StepRecord): boolean =>
  (status === "started" || status === "in_doubt") && (type === "child" || effect !== "repeatable");

/** Whether the step, or one around it, is dropped by the change. */
export function isDropped(key: string, { dropped = [] }: StepChange): boolean {
  if (dropped.length === 0) return false;
  let path = "";
  return segmentsOf(key).some((segment) => {
    const step = stepPath(path, segment);
    path += prefixOf(baseName(segment));
    return dropped.includes(step);
  });
}

/** What was recorded under a dropped name is not asked for any more; what was recorded under a changed one counts under the new one. */
export function changeSteps(node: ScopeNode, change: StepChange, path = ""): void {
  const { dropped = [] } = change;
  for (const map of [node.records, node.loops, node.scopes] as Map<string, unknown>[])
    for (const name of map.keys()) if (dropped.includes(stepPath(path, name))) map.delete(name);
  for (const [name, scope] of node.scopes) changeSteps(scope, change, path + prefixOf(baseName(name)));
  const to = (name: string): string => renamedSegment(change, path, name);
  for (const [name, scope] of node.scopes) if (to(name) !== name) scope.was ??= name;
  for (const map of [node.records, node.loops, node.scopes, node.notes]) rekey<unknown>(map, to);
}
