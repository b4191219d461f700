import { create, current } from "mutative";
import { HoldfastError } from "../errors.ts";
import { encode } from "./codec.ts";
import { forbidden } from "./decode.ts";

/** A change made by an iteration: operation, path, value. */
export type StatePatch = readonly [
  op: "add" | "replace" | "remove",
  path: readonly (string | number)[],
  value?: unknown,
];

/** Opens a draft to mutate; the function ends it with the next state and the changes. */
export function openDraft<S extends object>(
  state: S,
): { draft: S; finish: () => { next: S; patches: StatePatch[] } } {
  const [draft, finalize] = create(state, { enablePatches: { arrayLengthAssignment: true } });
  const finish = () => {
    const [next, patches] = finalize() as unknown as [
      S,
      { op: StatePatch[0]; path: (string | number)[]; value?: unknown }[],
    ];
    return {
      next,
      // Only what is removed from a set is found by its value.
      patches: patches.map(
        ({ op, path, ...more }): StatePatch => ("value" in more ? [op, path, more.value] : [op, path]),
      ),
    };
  };
  return { draft: draft as S, finish };
}

/** The state with these changes. Copies only what they change. */
export const applyPatches = <S extends object>(state: S, patches: readonly StatePatch[]): S =>
  new PatchedState(state).take(patches).state;

/**
 * A state that takes lists of changes one after another. What they change is copied once, and changed in place from
 * then on, so that n changes cost O(n). Applied through a draft, n additions to a list cost O(n²).
 */
export class PatchedState<S extends object> {
  #state: S;
  /** What was copied here, so that nobody else has it. */
  #own = new WeakSet<object>();

  constructor(state: S) {
    this.#state = state;
  }

  /** The state after the lists so far. The next one changes it. */
  get state(): S {
    return this.#state;
  }

  take(patches: readonly StatePatch[]): this {
    for (const patch of patches) {
      const [, path, value] = patch;
      const holder = this.#holderOf(path);
      if (path.length > 0) change(holder, patch, keyIn(holder, path.at(-1) as Key));
      else this.#state = value as S;
    }
    return this;
  }

  /** A copy of what has the place of a change, and of everything around it. */
  #holderOf(path: readonly Key[]): Holder {
    let holder = this.#owned(this.#state);
    this.#state = holder as unknown as S;
    for (const part of path.slice(0, -1)) {
      const key = keyIn(holder, part);
      const before = childOf(holder, key);
      const child = this.#owned(before);
      if (child !== before) exchange(holder, key, before, child);
      holder = child;
    }
    return holder;
  }

  #owned(value: unknown): Holder {
    if (typeof value === "object" && value !== null && this.#own.has(value)) return value as Holder;
    const copy = copyOf(value);
    this.#own.add(copy);
    return copy;
  }
}

type Key = StatePatch[1][number];
type Holder = Map<unknown, unknown> | Set<unknown> | unknown[] | Record<Key, unknown>;

function copyOf(value: unknown): Holder {
  if (Array.isArray(value)) return value.slice();
  if (value instanceof Map) return new Map(value);
  if (value instanceof Set) return new Set(value);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    throw misplaced();
  return { ...value };
}

function change(holder: Holder, [op, , value]: StatePatch, key: Key): void {
  if (op !== "remove" && !(Array.isArray(holder) && op === "add")) return put(holder, key, value);
  if (holder instanceof Map) holder.delete(key);
  else if (holder instanceof Set) holder.delete(equalIn(holder, value));
  else if (!Array.isArray(holder)) delete holder[key];
  else if (op === "remove") holder.splice(Number(key), 1);
  else holder.splice(Number(key), 0, value);
}

function put(holder: Holder, key: Key, value: unknown): void {
  if (holder instanceof Map) holder.set(key, value);
  else if (holder instanceof Set) holder.add(value);
  else if (typeof key === "string" && forbidden(key)) throw misplaced();
  else (holder as Record<Key, unknown>)[key] = value;
}

/** An element of a set keeps its place. */
function exchange(holder: Holder, key: Key, before: unknown, child: Holder): void {
  if (!(holder instanceof Set)) return put(holder, key, child);
  const all = [...holder];
  holder.clear();
  for (const one of all) holder.add(one === before ? child : one);
}

const misplaced = (): HoldfastError =>
  new HoldfastError("HF-3011", { problem: "a change in it is at a place that its state doesn't have" });

function childOf(holder: Holder, key: Key): unknown {
  if (holder instanceof Map) return holder.get(key);
  if (holder instanceof Set) return [...holder][Number(key)];
  return Object.hasOwn(holder, key) ? (holder as Record<Key, unknown>)[key] : undefined;
}

/** A key of a map can be an object. The one in the change was read apart from the map. */
const keyIn = (holder: Holder, key: Key): Key =>
  holder instanceof Map ? (equalIn(holder, key) as Key) : key;

function equalIn(holder: Map<unknown, unknown> | Set<unknown>, value: unknown): unknown {
  if (typeof value !== "object" || value === null || holder.has(value)) return value;
  const text = encode(value);
  for (const one of holder.keys()) if (encode(one) === text) return one;
  return value;
}

/** The state behind a draft, as it is now: for reading many values, which is slow through the draft. */
export const currentOf = <S extends object>(draft: S): S => current(draft);
