import { type Effected, isEffect, type Note } from "./notes.ts";

export type EffectNote = Note & Effected;

/** The effects that the witness recorded, without those that receivers recognise by key. */
export interface Tally {
  /** In order of arrival. */
  readonly list: readonly EffectNote[];
  /** Effects of `keyed` steps that were repeated under the same key. */
  readonly deduplicated: readonly EffectNote[];
}

export function tally(notes: readonly Note[]): Tally {
  const all = notes.filter(isEffect);
  const deduplicated = new Set([...keyedGroups(all).values()].flatMap(again));
  return {
    list: all.filter((note) => !deduplicated.has(note)),
    deduplicated: all.filter((note) => deduplicated.has(note)),
  };
}

function keyedGroups(all: readonly EffectNote[]): Map<string, EffectNote[]> {
  const groups = new Map<string, EffectNote[]>();
  for (const note of all) {
    if (note.effect !== "keyed") continue;
    const group = JSON.stringify([note.kind, note.runId, note.step, note.key]);
    groups.set(group, [...(groups.get(group) ?? []), note]);
  }
  return groups;
}

/**
 * One attempt may have several effects under one key: those of the attempt that got furthest count; the others are
 * repeats.
 */
function again(group: readonly EffectNote[]): readonly EffectNote[] {
  const byAttempt = new Map<string, EffectNote[]>();
  for (const note of group) {
    // A program may outlive the process that started it, and report its effect during the next attempt.
    const attempt = `${note.attempt ?? 0} ${note.pid}`;
    byAttempt.set(attempt, [...(byAttempt.get(attempt) ?? []), note]);
  }
  const furthest = [...byAttempt.values()].reduce((a, b) => (b.length > a.length ? b : a));
  return group.filter((note) => !furthest.includes(note));
}

export const effectName = ({ kind, id }: Pick<EffectNote, "kind" | "id">): string => `${kind} ${id}`;

/** The notes of each effect, by kind and id. */
export function timesSeen(list: readonly EffectNote[]): Map<string, EffectNote[]> {
  const seen = new Map<string, EffectNote[]>();
  for (const note of list) seen.set(effectName(note), [...(seen.get(effectName(note)) ?? []), note]);
  return seen;
}

/** The number of distinct effects of each kind. */
export function perKind(list: readonly EffectNote[]): Record<string, number> {
  const ids = new Map<string, Set<string>>();
  for (const { kind, id } of list) ids.set(kind, (ids.get(kind) ?? new Set()).add(id));
  return Object.fromEntries([...ids].map(([kind, set]) => [kind, set.size]));
}
