import { existsSync, readFileSync } from "node:fs";
import type { CallPlace } from "../witness/log.ts";

/** Recorded before a step's function is called. */
export type Begun = CallPlace & { readonly type: "begun" };

/** Recorded when it has returned. `value`: the returned value as stored, if it can be stored. */
export type Ended = CallPlace & { readonly type: "ended"; readonly ok: boolean; readonly value?: string };

/** An effect reported by the workflow's own code. */
export type Effected = Partial<CallPlace> & {
  readonly type: "effect";
  readonly kind: string;
  readonly id: string;
};

/** The witness's notes, in order of arrival. */
export type Note = (Begun | Ended | Effected) & { readonly n: number; readonly pid: number };

/** An incomplete line was never acknowledged. */
export function readLines<T>(file: string): T[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => (line.endsWith("}") ? [JSON.parse(line) as T] : []));
}

/** The witness's notes, with effects of child programs attributed to the call of the step that started them. */
export const readNotes = (file: string): Note[] => attributed(readLines<Note>(file));

/**
 * A program started by a step knows only the step's key, so its effect belongs to the last call that began under that
 * key.
 */
export function attributed(notes: readonly Note[]): Note[] {
  const calls = new Map<string, CallPlace>();
  return notes.map((note) => {
    if (isBegun(note)) calls.set(note.key, note);
    if (!isEffect(note) || note.step !== undefined || note.key === undefined) return note;
    const { runId, step, effect, attempt, epoch, args } = calls.get(note.key) ?? note;
    return { ...note, runId, step, effect, attempt, epoch, args } as Note;
  });
}

export const isBegun = (note: Note): note is Note & Begun => note.type === "begun";
export const isEnded = (note: Note): note is Note & Ended => note.type === "ended";
export const isEffect = (note: Note): note is Note & Effected => note.type === "effect";

/** Identifies a step of a run; child runs may have steps of the same name. */
export const callKey = ({ runId, step }: Pick<CallPlace, "runId" | "step">): string => `${runId} ${step}`;

export function countBy<T>(list: readonly T[], key: (one: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of list) counts.set(key(one), (counts.get(key(one)) ?? 0) + 1);
  return counts;
}
