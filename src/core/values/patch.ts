import { apply, create, current, type Patches } from "mutative";

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
      patches: patches.map(
        ({ op, path, value }): StatePatch => (op === "remove" ? [op, path] : [op, path, value]),
      ),
    };
  };
  return { draft: draft as S, finish };
}

export function applyPatches<S extends object>(state: S, patches: readonly StatePatch[]): S {
  const full = patches.map(([op, path, value]) => ({ op, path: [...path], value }));
  return apply(state, full as Patches<true>) as S;
}

/** The state behind a draft, as it is now: for reading many values, which is slow through the draft. */
export const currentOf = <S extends object>(draft: S): S => current(draft);
