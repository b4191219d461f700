import { HoldfastError } from "./errors.ts";
import type { EventMeta, UsageMeta } from "./events.ts";
import type { ScopeNode } from "./replay.ts";
import type { Effect } from "./types.ts";

/** A call of user code that is under way; usage reported inside it belongs to its outcome. */
export interface Frame {
  readonly key: string;
  readonly effect: Effect;
  /** The call it was made in. */
  readonly outer: Frame | undefined;
  usage: UsageMeta | undefined;
  /** Waits of the run's own that it sits in. */
  waits: number;
  ended: boolean;
}

/**
 * Where a ctx call happens. Names are counted per scope, so that a branch, an item or an iteration has the same
 * addresses whatever runs beside it.
 */
export interface Scope {
  readonly prefix: string;
  /** What the journal holds for this scope, if anything. */
  readonly node: ScopeNode | undefined;
  readonly counts: Map<string, number>;
  readonly abort: AbortSignal;
  readonly frame: Frame | undefined;
  /** Inside a loop, long strings are stored once and shared with its states. */
  readonly shared: boolean;
}

export interface Address {
  /** Name within the scope, `#2` and so on included. */
  readonly name: string;
  /** Full key within the run. */
  readonly key: string;
}

/** Reserved by the address grammar, or not printable. */
const REFUSED = /[/#[\]\p{Cc}]/u;

export function checkName(name: unknown): asserts name is string {
  if (typeof name !== "string" || name === "" || name.length > 128 || REFUSED.test(name))
    throw new HoldfastError("HF-1005", { name: String(name) });
}

/** The address of the next call of this name in the scope: the second one gets `#2`. */
export function address(scope: Scope, name: string): Address {
  checkName(name);
  return place(scope, name);
}

/** The same for names made by the engine, which may use reserved characters. */
export function place(scope: Scope, name: string): Address {
  const count = (scope.counts.get(name) ?? 0) + 1;
  scope.counts.set(name, count);
  const unique = count === 1 ? name : `${name}#${count}`;
  return { name: unique, key: scope.prefix + unique };
}

export function innerScope(
  scope: Scope,
  segment: string,
  change: Partial<Pick<Scope, "abort" | "frame" | "shared">>,
): Scope {
  return {
    prefix: `${scope.prefix}${segment}/`,
    node: scope.node?.scopes.get(segment),
    counts: new Map(),
    abort: change.abort ?? scope.abort,
    frame: "frame" in change ? change.frame : scope.frame,
    shared: change.shared ?? scope.shared,
  };
}

/** A note in the journal under an address of its own, so that a replay does not write it twice. */
export type Note =
  | "memory_written"
  | "usage_recorded"
  | "decision_made"
  | "agent_updated"
  | "checkpoint_marked"
  | "value_recorded";
export type NoteMeta<K extends Note> = EventMeta[K];
