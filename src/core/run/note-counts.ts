import type { ScopeNode } from "../journal/records.ts";
import { isLaterOf, unplaced } from "../keys.ts";

const known = new WeakMap<ScopeNode, Map<string, boolean>>();

/**
 * True when a scope was recorded while steps and notes of one name were still counted together: then only one of the
 * two has a first, and the other begins with a higher number. Such a run continues the way it began. Checked once per
 * name, on what was read from the journal.
 */
export function countTogether(node: ScopeNode | undefined, name: string): boolean {
  if (!node) return false;
  let answers = known.get(node);
  if (!answers) known.set(node, (answers = new Map()));
  let answer = answers.get(name);
  if (answer === undefined) answers.set(name, (answer = isMixed(node, name)));
  return answer;
}

function isMixed(node: ScopeNode, name: string): boolean {
  const noted = numbered(node.notes.keys(), name);
  if (!noted.first && !noted.more) return false;
  const done = numbered(stepNames(node), name);
  return noted.first !== done.first && (noted.first ? done.more : noted.more);
}

function* stepNames(node: ScopeNode): Generator<string> {
  yield* node.records.keys();
  yield* node.loops.keys();
  // For groups and loops there may be nothing yet but their inside.
  for (const segment of node.scopes.keys()) yield unplaced(segment);
}

function numbered(
  names: Iterable<string>,
  name: string,
): { readonly first: boolean; readonly more: boolean } {
  let [first, more] = [false, false];
  for (const one of names) {
    first ||= one === name;
    more ||= isLaterOf(one, name);
  }
  return { first, more };
}
