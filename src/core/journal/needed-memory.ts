import type { LoopRecord, MemoryWrite, ScopeNode } from "./records.ts";

/** A run's memory writes, and its position. */
interface Written {
  readonly memory: readonly MemoryWrite[];
  readonly root: ScopeNode;
  loops(): Iterable<readonly [string, LoopRecord]>;
}

/**
 * The writes that a replay may still read by position, and the last one of each name: now, and where each loop
 * continues from. A later write never makes an earlier one necessary again.
 */
export function neededMemory(state: Written): MemoryWrite[] {
  const asked = new Set(noteSeqs(state.root));
  for (const end of [Number.POSITIVE_INFINITY, ...[...state.loops()].map(([, loop]) => loop.seq)]) {
    const last = new Map<string, number>();
    for (const { seq, name } of state.memory) if (seq <= end) last.set(name, seq);
    for (const seq of last.values()) asked.add(seq);
  }
  return state.memory.filter(({ seq }) => asked.has(seq));
}

function* noteSeqs(node: ScopeNode): Generator<number> {
  for (const note of node.notes.values()) yield note.seq;
  for (const scope of node.scopes.values()) yield* noteSeqs(scope);
}
