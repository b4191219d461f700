import { hasActed, type ScopeNode } from "../journal/records.ts";
import type { SaveEvery } from "../options.ts";

const LONGEST_MS = 1_000;
const MOST = 100;

/** True when the unsaved iterations must be saved. */
export function isDue(
  every: SaveEvery,
  { count, ms, node }: { readonly count: number; readonly ms: number; readonly node: ScopeNode | undefined },
): boolean {
  if (every !== "adaptive") return count >= every;
  return count >= MOST || ms >= LONGEST_MS || hasActed(node);
}
