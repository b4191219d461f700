import { isRecord } from "../check-options.ts";
import type { Clock } from "../clock.ts";
import type { Workflow } from "../context.ts";
import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import { editEvents } from "../journal/edits.ts";
import type { EventDraft, JournalEvent, Migrated } from "../journal/events.ts";
import { isDropped, isUnresolved, renamedKey, type StepChange } from "../journal/rename.ts";
import type { RunState } from "../journal/state.ts";
import { viewState } from "../journal/state-view.ts";
import { toError, type Values } from "../journal/values.ts";
import { listed } from "../listed.ts";
import type { Migration } from "../migration.ts";
import type { Blob } from "../store/contract.ts";
import { isStoreFault } from "../store/faults.ts";
import type { Edits, RunRow, StateView } from "../types.ts";
import { dataDigest } from "../values/codec.ts";
import { recordedPaths } from "./versions.ts";

/** A value that a migration replaces. */
export interface StateChange {
  readonly what: "memory" | "step" | "loop" | "input" | "config";
  /** The key of the memory, step or loop. */
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface MigrationPlan {
  /** The versions on the way, including the last one. */
  readonly hops: readonly string[];
  readonly changes: readonly StateChange[];
  /** New paths of renamed steps, by the recorded path. */
  readonly renamed: Readonly<Record<string, string>>;
  /** Paths of recorded steps that the new code no longer asks for. */
  readonly dropped: readonly string[];
  readonly events: readonly EventDraft[];
  readonly blobs: readonly Blob[];
}

/** A migration's function that takes longer won't return, or does more than it may. */
export const STATE_MS = 10_000;

interface PlanDeps {
  readonly values: Values;
  readonly clock: Clock;
  /** The time limit of a migration's function. */
  readonly limitMs?: number;
}

interface Hop {
  readonly run: RunRow;
  readonly migration: Migration;
}

/** Errors of migrations that fail or ask for the impossible: the run waits until they are fixed. */
export const isFailed = (error: unknown): error is HoldfastError =>
  HoldfastError.is(error, "HF-2115") || HoldfastError.is(error, "HF-2161");

/**
 * The events that bring the run to the workflow's version: one `run_migrated` for each version on the way, then the
 * changed values. Throws HF-2115 when a migration throws or asks for the impossible, HF-2161 when it drops a call in
 * progress. Consumes `state`.
 */
export async function planMigration(
  deps: PlanDeps,
  run: RunRow,
  state: RunState,
  { schema, version }: Workflow,
  way: readonly Migration[],
  reason?: string,
): Promise<MigrationPlan> {
  const because = defined({ reason });
  const events: EventDraft[] = [];
  const names = new Map<string, string | undefined>([...recordedPaths(state)].map((path) => [path, path]));
  let changes: readonly StateChange[] = [];
  for (const hop of way) {
    const meta: Migrated = {
      from: hop.from,
      to: hop.to,
      schema: hop.to === version ? schema : run.schema,
      ...defined({ renamed: hop.rename, dropped: hop.drop }),
      ...because,
    };
    checkSteps(deps.values, run, state, meta);
    const event: EventDraft = { kind: "run_migrated", step: "", meta };
    events.push(event);
    state.apply({ ...event, seq: run.seq + events.length, at: run.updatedAt, epoch: 0 } as JournalEvent);
    for (const [path, now] of names) if (now !== undefined) names.set(path, moved(now, meta));
    changes = changes.flatMap((one) => {
      const name = one.what === "step" || one.what === "loop" ? moved(one.name, meta) : one.name;
      return name === undefined ? [] : [{ ...one, name }];
    });
    if (hop.state) changes = await changed(deps, { run, migration: hop }, state, changes);
  }
  const edits = await editEvents(deps.values, run.id, state, asEdits(changes), because).catch(
    (error: unknown) => {
      throw failed(deps.values, run, { from: run.version, to: version }, error);
    },
  );
  const renamed = [...names].filter((pair): pair is [string, string] => pair[1] !== undefined);
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

/** No two recorded steps may become one, and no call in progress may be lost. */
function checkSteps(values: Values, run: RunRow, state: RunState, change: Migrated): void {
  const seen = new Set<string>();
  for (const [key] of [...state.steps(), ...state.loops()]) {
    const to = moved(key, change);
    if (to !== undefined && seen.has(to))
      throw failed(values, run, change, `two recorded steps would become ${to}.`);
    if (to !== undefined) seen.add(to);
  }
  const open = [...state.steps()].filter(([key, record]) => isUnresolved(record) && isDropped(key, change));
  if (open.length === 0) return;
  const { from, to } = change;
  const steps = listed(open.map(([key]) => key));
  throw new HoldfastError("HF-2161", { run: run.id, from, to, steps });
}

const failed = (
  values: Values,
  run: RunRow,
  { from, to }: Pick<Migration, "from" | "to">,
  error: unknown,
): HoldfastError => {
  // A store that is down or damaged isn't the migration's fault.
  if (HoldfastError.is(error) && isStoreFault(error)) return error;
  const message = typeof error === "string" ? error : values.headline(toError(error));
  return new HoldfastError("HF-2115", { run: run.id, from, to, message }, { cause: error });
};

/** The changes so far, plus those that this migration's function returns. */
async function changed(
  { values, clock, limitMs = STATE_MS }: PlanDeps,
  { run, migration }: Hop,
  state: RunState,
  sofar: readonly StateChange[],
): Promise<readonly StateChange[]> {
  const view = withChanges(await viewState(values, run.id, state), sofar);
  try {
    const held = new Handed(view);
    const answered = Promise.resolve(migration.state?.(view));
    const edits = checkEdits(await within(clock, limitMs, answered));
    held.check();
    const changes = new Map(sofar.map((one) => [`${one.what} ${one.name}`, one]));
    for (const [what, name, value] of edited(edits, view)) {
      // The value as the run will read it.
      const after = values.echo(values.encode(name || what, value));
      const before = valueIn(view, what, name);
      if (dataDigest(before) === dataDigest(after)) continue;
      const known = changes.get(`${what} ${name}`);
      changes.set(`${what} ${name}`, { what, name, before: known ? known.before : before, after });
    }
    return [...changes.values()];
  } catch (error) {
    throw failed(values, run, migration, error);
  }
}

function within<T>(clock: Clock, ms: number, answer: Promise<T>): Promise<T> {
  let cancel = (): void => undefined;
  const limit = new Promise<never>((_, reject) => {
    cancel = clock.setTimer(() => reject(new Error("its state function did not answer in time.")), ms);
  });
  return Promise.race([answer, limit]).finally(() => cancel());
}

const PARTS = { memory: "memory", steps: "step", loops: "loop" } as const;

function checkEdits(edits: unknown): Edits {
  if (edits === undefined) return {};
  if (!isPlain(edits))
    throw new Error("its state function gave back something that is not a record of changes.");
  for (const [part, value] of Object.entries(edits)) {
    if (![...Object.keys(PARTS), "input", "config"].includes(part))
      throw new Error(`its state function gave back ${part}, which is not a part of the state.`);
    if (part !== "input" && value !== undefined && !isPlain(value))
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

/** A map, a date or a class instance would look like an empty record. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** The argument of a migration's function. A function that modifies it instead of returning changes gets an error. */
class Handed {
  /** Values that can't be frozen: maps, sets, dates, bytes. */
  readonly #soft: object[] = [];
  readonly #before: string;

  constructor(view: StateView) {
    this.#freeze(view);
    this.#before = dataDigest(this.#soft);
  }

  #freeze(value: unknown): void {
    if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
    if (!Array.isArray(value) && !isPlain(value)) return void this.#soft.push(value);
    Object.freeze(value);
    for (const inner of Object.values(value)) this.#freeze(inner);
  }

  check(): void {
    if (dataDigest(this.#soft) !== this.#before)
      throw new Error("its state function has changed what it was given; it must answer what changes.");
  }
}
