import type { UsageMeta } from "../journal/events.ts";
import type { ScopeNode } from "../journal/records.ts";
import { countedName, prefixOf } from "../keys.ts";
import { checkName } from "../names.ts";
import type { Effect } from "../types.ts";
import { countTogether } from "./note-counts.ts";

/** A running call of user code; usage reported inside it belongs to its outcome. */
export interface Frame {
  readonly key: string;
  readonly effect: Effect;
  readonly attempt: number;
  /** The call that contains it. */
  readonly outer: Frame | undefined;
  usage: UsageMeta | undefined;
  /** The number of the run's own waits inside it. */
  waits: number;
  ended: boolean;
}

/**
 * The scope of a ctx call. Names are counted per scope, so that a branch, an item or an iteration has the same
 * addresses whatever runs beside it.
 */
export interface Scope {
  readonly prefix: string;
  /** The journal's records for this scope, if any. */
  readonly node: ScopeNode | undefined;
  readonly counts: Map<string, number>;
  readonly abort: AbortSignal;
  readonly frame: Frame | undefined;
  /** Inside a loop, long strings are stored once and shared with its states. */
  readonly shared: boolean;
}

export interface Address {
  /** The name within the scope, including `#2` and so on. */
  readonly name: string;
  /** The full key within the run. */
  readonly key: string;
}

/** The address of the next call of this name in the scope: the second one gets `#2`. */
export function address(scope: Scope, name: string): Address {
  checkName(name);
  return place(scope, name);
}

/** The address for a name made by the engine, which may use reserved characters. */
export const place = (scope: Scope, name: string): Address => counted(scope, name, name);

/** The address of a note. Notes are counted separately, so that a step may also be called `plan` or `decision`. */
export const placeNote = (scope: Scope, name: string): Address =>
  counted(scope, name, countTogether(scope.node, name) ? name : `\0${name}`);

function counted(scope: Scope, name: string, counter: string): Address {
  const unique = nextName(scope, name, counter);
  scope.counts.set(counter, (scope.counts.get(counter) ?? 0) + 1);
  return { name: unique, key: scope.prefix + unique };
}

/** The name of the next call. */
export function nextName({ counts }: Scope, name: string, counter = name): string {
  const before = counts.get(counter) ?? 0;
  return countedName(name, before + 1);
}

/** A scope below another. Its records are looked up again until found: a retried call meets its own past. */
class InnerScope implements Scope {
  readonly prefix: string;
  readonly abort: AbortSignal;
  readonly frame: Frame | undefined;
  readonly shared: boolean;
  readonly #outer: Scope;
  readonly #segment: string;
  #node: ScopeNode | undefined;
  #counts: Map<string, number> | undefined;

  constructor(outer: Scope, segment: string, change: ScopeChange) {
    this.#outer = outer;
    this.#segment = segment;
    this.prefix = outer.prefix + prefixOf(segment);
    this.abort = change.abort ?? outer.abort;
    this.frame = change.frame ?? outer.frame;
    this.shared = change.shared ?? outer.shared;
  }

  /** Made on demand: most calls ask for nothing inside. */
  get counts(): Map<string, number> {
    this.#counts ??= new Map();
    return this.#counts;
  }

  get node(): ScopeNode | undefined {
    this.#node ??= this.#outer.node?.scopes.get(this.#segment);
    return this.#node;
  }
}

type ScopeChange = Partial<Pick<Scope, "abort" | "frame" | "shared">>;

export const innerScope = (outer: Scope, segment: string, change: ScopeChange): Scope =>
  new InnerScope(outer, segment, change);

/** A scope with the addresses of another one and its own abort signal. */
export const siblingScope = (scope: Scope, abort: AbortSignal): Scope => ({
  prefix: scope.prefix,
  get node() {
    return scope.node;
  },
  counts: scope.counts,
  abort,
  frame: scope.frame,
  shared: scope.shared,
});
