import { type Edits, editEvents } from "../control/edits.ts";
import { HoldfastError } from "../errors.ts";
import type { EventDraft, JournalEvent, Migrated } from "../journal/events.ts";
import { type StateView, viewState } from "../journal/state-view.ts";
import type { RunState } from "../run/replay.ts";
import type { Blob } from "../store.ts";
import type { RunRow } from "../types.ts";
import { dataDigest } from "../values/codec.ts";
import type { Values } from "../values/values.ts";
import type { Workflow } from "../workflow.ts";
import { isDropped, renamedKey, type StepChange } from "./rename.ts";
import { isRecord, type Migration, recordedPaths } from "./versions.ts";

/** A value that a migration puts in the place of another. */
export interface StateChange {
  readonly what: "memory" | "step" | "loop" | "input" | "config";
  /** Key of the memory, step or loop. */
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface MigrationPlan {
  /** The versions on the way, the last one included. */
  readonly hops: readonly string[];
  readonly changes: readonly StateChange[];
  /** Paths of recorded steps that have another name afterwards. */
  readonly renamed: Readonly<Record<string, string>>;
  /** Paths of recorded steps that are not asked for any more. */
  readonly dropped: readonly string[];
  readonly events: readonly EventDraft[];
  readonly blobs: readonly Blob[];
}

/**
 * What to write so that the run is of the workflow's version: one `run_migrated` for each version on the way, then the changed values.
 * HF-2115 when a migration throws or asks for something that cannot be. Uses `state` up.
 */
export async function planMigration(
  values: Values,
  run: RunRow,
  state: RunState,
  { schema, version }: Workflow,
  way: readonly Migration[],
  reason?: string,
): Promise<MigrationPlan> {
  const because = reason === undefined ? {} : { reason };
  const events: EventDraft[] = [];
  const names = new Map<string, string | undefined>([...recordedPaths(state)].map((path) => [path, path]));
  let changes: readonly StateChange[] = [];
  for (const hop of way) {
    const meta: Migrated = {
      from: hop.from,
      to: hop.to,
      schema: hop.to === version ? schema : run.schema,
      ...(hop.rename ? { renamed: hop.rename } : {}),
      ...(hop.drop ? { dropped: hop.drop } : {}),
      ...because,
    };
    const clash = firstClash(state, meta);
    if (clash !== undefined) throw failed(run, hop, `two recorded steps would become ${clash}.`);
    const event: EventDraft = { kind: "run_migrated", step: "", meta };
    events.push(event);
    state.apply({ ...event, seq: run.seq + events.length, at: run.updatedAt, epoch: 0 } as JournalEvent);
    for (const [path, now] of names) if (now !== undefined) names.set(path, moved(now, meta));
    changes = changes.flatMap((one) => {
      const name = one.what === "step" || one.what === "loop" ? moved(one.name, meta) : one.name;
      return name === undefined ? [] : [{ ...one, name }];
    });
    if (hop.state) changes = await changed(values, run, state, hop, changes);
  }
  const renamed = [...names].filter((pair): pair is [string, string] => pair[1] !== undefined);
  const first = way[0] as Migration;
  const edits = await editEvents(values, run.id, state, asEdits(changes), reason).catch((error: unknown) => {
    throw failed(run, { from: first.from, to: version }, error);
  });
  return {
    hops: way.map(({ to }) => to),
    changes,
    renamed: Object.fromEntries(renamed.filter(([path, now]) => path !== now)),
    dropped: [...names].flatMap(([path, now]) => (now === undefined ? [path] : [])),
    events: [...events, ...edits.events],
    blobs: edits.blobs,
  };
}

const moved = (key: string, change: StepChange): string | undefined =>
  isDropped(key, change) ? undefined : renamedKey(key, change);

/** A key that two recorded steps would have afterwards. */
function firstClash(state: RunState, change: StepChange): string | undefined {
  const seen = new Set<string>();
  for (const [key] of [...state.steps(), ...state.loops()]) {
    const to = moved(key, change);
    if (to !== undefined && seen.has(to)) return to;
    if (to !== undefined) seen.add(to);
  }
  return undefined;
}

const failed = (run: RunRow, { from, to }: Pick<Migration, "from" | "to">, error: unknown): HoldfastError => {
  // A store that is away, or damage in it, is not the migration's fault.
  if (HoldfastError.is(error) && error.code.startsWith("HF-3")) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new HoldfastError("HF-2115", { run: run.id, from, to, message }, { cause: error });
};

/** The changes so far and what this migration's function adds to them. */
async function changed(
  values: Values,
  run: RunRow,
  state: RunState,
  hop: Migration,
  sofar: readonly StateChange[],
): Promise<readonly StateChange[]> {
  const view = withChanges(await viewState(values, run.id, state), sofar);
  try {
    const edits = checkEdits(await hop.state?.(frozen(view)));
    const changes = new Map(sofar.map((one) => [`${one.what} ${one.name}`, one]));
    for (const [what, name, value] of edited(edits, view)) {
      // As the run will see it.
      const after = values.echo(values.encode(name || what, value));
      const before = valueIn(view, what, name);
      if (dataDigest(before) === dataDigest(after)) continue;
      const known = changes.get(`${what} ${name}`);
      changes.set(`${what} ${name}`, { what, name, before: known ? known.before : before, after });
    }
    return [...changes.values()];
  } catch (error) {
    throw failed(run, hop, error);
  }
}

const PARTS = { memory: "memory", steps: "step", loops: "loop" } as const;

function checkEdits(edits: unknown): Edits {
  if (edits === undefined) return {};
  if (!isRecord(edits))
    throw new Error("its state function gave back something that is not a record of changes.");
  for (const [part, value] of Object.entries(edits)) {
    if (![...Object.keys(PARTS), "input", "config"].includes(part))
      throw new Error(`its state function gave back ${part}, which is not a part of the state.`);
    if (part !== "input" && value !== undefined && !isRecord(value))
      throw new Error(`its state function gave back ${part} that is not a record.`);
  }
  return edits;
}

function* edited(edits: Edits, view: StateView): Generator<[StateChange["what"], string, unknown]> {
  for (const [part, what] of Object.entries(PARTS) as [keyof typeof PARTS, "memory" | "step" | "loop"][])
    for (const [name, value] of Object.entries(edits[part] ?? {})) yield [what, name, value];
  if ("input" in edits) yield ["input", "", edits.input];
  if (edits.config) yield ["config", "", { ...view.config, ...edits.config }];
}

function valueIn(view: StateView, what: StateChange["what"], name: string): unknown {
  if (what === "input" || what === "config") return view[what];
  const part = { memory: view.memory, step: view.steps, loop: view.loops }[what];
  return Object.hasOwn(part, name) ? part[name] : undefined;
}

function withChanges(view: StateView, changes: readonly StateChange[]): StateView {
  const { memory, steps, loops, ...rest } = asEdits(changes);
  const kept = Object.entries({ ...view.memory, ...memory }).filter(([, value]) => value !== undefined);
  return {
    ...view,
    ...(rest as Pick<StateView, "input" | "config">),
    memory: Object.fromEntries(kept),
    steps: { ...view.steps, ...steps },
    loops: { ...view.loops, ...loops },
  };
}

function asEdits(changes: readonly StateChange[]): Edits {
  const of = (what: StateChange["what"]): Record<string, unknown> =>
    Object.fromEntries(changes.filter((one) => one.what === what).map(({ name, after }) => [name, after]));
  const whole = changes.filter(({ what }) => what === "input" || what === "config");
  return {
    memory: of("memory"),
    steps: of("step"),
    loops: of("loop") as Record<string, object>,
    ...Object.fromEntries(whole.map(({ what, after }) => [what, after])),
  };
}

/** So that a function that changes what it is given, and answers nothing, is told. */
function frozen<T>(value: T): T {
  const isPlain = Array.isArray(value) || (isRecord(value) && !ArrayBuffer.isView(value));
  if (!isPlain || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) frozen(inner);
  return value;
}
