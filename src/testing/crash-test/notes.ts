import { existsSync, readFileSync } from "node:fs";
import type { Effect } from "../../core/types.ts";

/** Which call of a step something happened in. */
export interface CallPlace {
  readonly runId: string;
  /** Empty in the workflow's function, outside all steps. */
  readonly step: string;
  readonly effect: Effect;
  readonly attempt: number;
  readonly epoch: number;
  /** Fingerprint of the idempotency key. */
  readonly key: string;
  /** Digest of the declared arguments; empty when there are none. */
  readonly args: string;
}

/** A step's function is about to be called. */
export type Begun = CallPlace & { readonly type: "begun" };

/** It has come back. `value`: what it returned, as stored, when that can be stored. */
export type Ended = CallPlace & { readonly type: "ended"; readonly ok: boolean; readonly value?: string };

/** An effect that the workflow's own code told of. */
export type Effected = Partial<CallPlace> & {
  readonly type: "effect";
  readonly kind: string;
  readonly id: string;
};

/** What the witness wrote down, in order of arrival. */
export type Note = (Begun | Ended | Effected) & { readonly n: number; readonly pid: number };

/** Half a line was never acknowledged to anyone. */
export function readLines<T>(file: string): T[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => (line.endsWith("}") ? [JSON.parse(line) as T] : []));
}

/** What the witness wrote down, with the effects of programs that a step had started given to that step's call. */
export const readNotes = (file: string): Note[] => attributed(readLines<Note>(file));

/** A program that a step has started knows no more of it than its key: whoever began last under that key has started it. */
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

/** A step of a run; child runs may have steps of the same name. */
export const callKey = ({ runId, step }: Pick<CallPlace, "runId" | "step">): string => `${runId} ${step}`;

export function countBy<T>(list: readonly T[], key: (one: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of list) counts.set(key(one), (counts.get(key(one)) ?? 0) + 1);
  return counts;
}
