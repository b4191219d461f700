import type { RunProjection } from "../types.ts";
import type { Raw } from "./events.ts";
import { Facts, type SavedFacts } from "./facts.ts";
import { neededMemory } from "./needed-memory.ts";
import type { LoopRecord, ScopeNode, StepRecord } from "./records.ts";
import { RunState } from "./state.ts";

/**
 * A snapshot is the fold of everything before it, as plain data: step records by the position of their outcome (values
 * stay where they are), complete loop states, memory and the mailbox. Loading it and then the tail gives the same state
 * as folding the whole journal.
 */
export interface Snapshot {
  readonly input: Raw | null;
  readonly root: NodeSnapshot;
  readonly signals: readonly [seq: number, id: string, name: string, at: number, taken: boolean][];
  readonly undoable: readonly (readonly [step: string, seq: number])[];
  readonly facts: SavedFacts;
  readonly memory: readonly [seq: number, step: string, name: string, data: Raw | null][];
  /** The run's row at that point, so that a reader can check that it still matches its journal. */
  readonly row?: RunProjection;
}

interface NodeSnapshot {
  readonly records: readonly [name: string, record: Omit<StepRecord, "data">][];
  readonly notes: readonly [
    name: string,
    seq: number,
    value: number | null,
    took: readonly number[] | null,
  ][];
  readonly loops: readonly [
    name: string,
    iteration: number,
    done: boolean,
    seq: number,
    state: unknown,
    acted: boolean,
  ][];
  readonly scopes: readonly [segment: string, node: NodeSnapshot][];
  readonly was?: string;
}

/** Plain data for `state`, or `undefined` while some loop's state isn't completely known here. */
export function takeSnapshot(state: RunState): Snapshot | undefined {
  const root = snapshotNode(state.root);
  if (!root) return undefined;
  return {
    input: state.input ?? null,
    root,
    signals: state.signals.map((one) => [one.seq, one.id, one.name, one.at, one.taken]),
    undoable: [...state.undoable],
    facts: state.facts.save(),
    memory: neededMemory(state).map((write) => [write.seq, write.step, write.name, write.data ?? null]),
  };
}

function snapshotNode(node: ScopeNode): NodeSnapshot | undefined {
  const loops: NodeSnapshot["loops"][number][] = [];
  for (const [name, loop] of node.loops) {
    if (!loop.state || isBehind(loop)) return undefined;
    loops.push([name, loop.iteration, loop.done, loop.seq, loop.state.value, loop.acted ?? false]);
  }
  const scopes: [string, NodeSnapshot][] = [];
  for (const [segment, child] of node.scopes) {
    const inner = snapshotNode(child);
    if (!inner) return undefined;
    scopes.push([segment, inner]);
  }
  return {
    records: [...node.records].map(([name, record]) => [name, withoutUndefined(record)]),
    notes: [...node.notes].map(([name, note]) => [name, note.seq, note.value ?? null, note.took ?? null]),
    loops,
    scopes,
    ...(node.was === undefined ? {} : { was: node.was }),
  };
}

/** True when its state isn't completely known here: changes were recorded since, and haven't been read. */
export const isBehind = ({ live, state, changes }: LoopRecord): boolean =>
  !live && (state === undefined || changes.length > 0);

function withoutUndefined({ data: _, ...record }: StepRecord): Omit<StepRecord, "data"> {
  const entries = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as unknown as Omit<StepRecord, "data">;
}

/** Snapshots of earlier builds lack facts, which are in the journal before them. */
export const isComplete = ({ facts }: Partial<Snapshot>): boolean => facts?.calls !== undefined;

/** The state that a snapshot holds; `undefined` if it doesn't hold everything. */
export function restoreSnapshot(snapshot: Snapshot): RunState | undefined {
  if (!isComplete(snapshot)) return undefined;
  const state = new RunState();
  state.input = snapshot.input ?? undefined;
  for (const [seq, id, name, at, taken] of snapshot.signals)
    state.signals.push({ seq, id, name, at, taken, data: undefined });
  for (const [seq, step, name, data] of snapshot.memory)
    state.memory.push({ seq, step, name, data: data ?? undefined });
  for (const [step, seq] of snapshot.undoable) state.undoable.set(step, seq);
  state.facts = Facts.restore(snapshot.facts);
  restoreNode(state.root, snapshot.root);
  state.looping = true;
  return state;
}

function restoreNode(node: ScopeNode, from: NodeSnapshot): void {
  for (const [name, record] of from.records) node.records.set(name, { ...record });
  for (const [name, seq, value, took] of from.notes)
    node.notes.set(name, { seq, ...(value === null ? {} : { value }), ...(took ? { took } : {}) });
  if (from.was !== undefined) node.was = from.was;
  for (const [name, iteration, done, seq, value, acted] of from.loops) {
    const loop: LoopRecord = { iteration, done, seq, state: { value }, changes: [], live: false, acted };
    node.loops.set(name, loop);
  }
  for (const [segment, child] of from.scopes) restoreNode(node.child(segment), child);
}
