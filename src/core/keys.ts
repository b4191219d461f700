/**
 * The grammar of step keys. Nobody else builds a key or takes one apart.
 *
 * ```
 * key      = *( segment "/" ) segment        the steps around it, outermost first
 * segment  = name [ "#" count ] [ "[" member "]" ]
 *            count: from the second step of that name on; member: an iteration of a loop, a branch of a group
 * gate     = "approve:" segment [ "#fork" ] [ "##" attempt ]       before the call of a step
 * note     = "plan" | "plan:" group | "memory:" name | "inbox:" name | "checkpoint:" label      beside steps; counted as they are
 * undo     = "compensate/" key               of the step that is undone, with ">" for "/"
 * ```
 */
const SLASH = "/";
const COUNT = "#";
const APPROVAL = "approve:";
const PLAN = "plan";
const MEMORY = "memory:";
const MARK = "checkpoint:";
const FORK = "#fork";

/** The scope of undos. */
export const UNDO = "compensate";
const UNDOS = UNDO + SLASH;

/** True when the grammar reserves the name, so that no step may have it. */
export const isReserved = (name: string): boolean => /[/#[\]]|^approve:/.test(name) || name === UNDO;

/** True for the names of the engine's own records beside steps: nothing else may be called like them. */
export const isOwnName = (name: string): boolean =>
  /^(?:signal|memory|inbox|checkpoint|plan|random|uuid):/.test(name);

// Places

export const segmentsOf = (key: string): string[] => key.split(SLASH);

export const keyOf = (segments: readonly string[]): string => segments.join(SLASH);

export const lastSegment = (key: string): string => key.slice(key.lastIndexOf(SLASH) + 1);

export const firstSegment = (key: string): string => {
  const slash = key.indexOf(SLASH);
  return slash < 0 ? key : key.slice(0, slash);
};

/** The prefix of the keys in a scope. */
export const prefixOf = (outer: string): string => outer + SLASH;

/** The part of a key before its last segment; "" at the top. */
export const scopeOf = (key: string): string => key.slice(0, key.lastIndexOf(SLASH) + 1);

/** The key of the step around it; "" at the top. */
export const outerOf = (key: string): string => key.slice(0, Math.max(0, key.lastIndexOf(SLASH)));

export const isAtTop = (key: string): boolean => !key.includes(SLASH);

/** The keys of the steps around a key, outermost first. */
export function around(key: string): string[] {
  const segments = segmentsOf(key);
  return segments.slice(1).map((_, index) => keyOf(segments.slice(0, index + 1)));
}

/** Walks down the scopes around a key; returns its name in the innermost one. */
export function descend(key: string, into: (segment: string) => void): string {
  let start = 0;
  for (let slash = key.indexOf(SLASH); slash >= 0; slash = key.indexOf(SLASH, start)) {
    into(key.slice(start, slash));
    start = slash + 1;
  }
  return start === 0 ? key : key.slice(start);
}

export const isInside = (key: string, outer: string): boolean => key.startsWith(prefixOf(outer));

/** True when `key` ends with these segments. */
export const endsIn = (key: string, end: string): boolean => key.endsWith(SLASH + end);

// Counts and members

/** The name of the nth step of a name in its scope. */
export const countedName = (name: string, nth: number): string =>
  nth === 1 ? name : `${name}${COUNT}${nth}`;

export const countOf = (segment: string): number => Number(/#(\d+)/.exec(segment)?.[1] ?? 1);

/** True for a step of that name other than the first. */
export const isLaterOf = (segment: string, name: string): boolean => segment.startsWith(name + COUNT);

export const memberName = (name: string, member: string | number): string => `${name}[${member}]`;

export const isMember = (segment: string): boolean => segment.endsWith("]");

/** True for an iteration of a loop, or a branch without a name. */
export const isIteration = (segment: string): boolean => /.\[\d+\]$/s.test(segment);

/** The group or loop that a key is a member of; the key itself where it is none. */
export const groupOf = (key: string): string => (isMember(key) ? key.slice(0, key.lastIndexOf("[")) : key);

/** True for a member of that group or loop, or anything inside one. */
export const isWithin = (key: string, group: string): boolean => key.startsWith(`${group}[`);

/** A name without its place in a group and its count: `match[3]` and `pay#2` are `match` and `pay`. */
export const baseName = (segment: string): string => segment.replace(/[[#].*$/, "");

/** A name with its count, without its place in a group. */
export const unplaced = (segment: string): string => segment.replace(/\[.*$/, "");

/** A key as a path of plain names. */
export const plainPath = (key: string): string => keyOf(segmentsOf(key).map(baseName));

// The engine's own steps

/** Two signs, because `pay#2` is the second step of that name, not the second attempt. */
export const approvalName = (name: string, attempt: number): string =>
  `${APPROVAL}${name}${attempt > 1 ? `##${attempt}` : ""}`;

/** The gate of a fork that may not simply repeat what its source did. */
export const forkName = (name: string): string => name + FORK;

/** True when a step is the question to a person before a call. */
export const isApproval = (key: string): boolean => lastSegment(key).startsWith(APPROVAL);

/** The step that a gate before a call is about, and whether a fork asks. */
export function approvalOf(gate: string): { readonly step: string; readonly isFork: boolean } | undefined {
  if (!isApproval(gate)) return undefined;
  const name = lastSegment(gate)
    .slice(APPROVAL.length)
    .replace(/##\d+$/, "");
  const isFork = name.endsWith(FORK);
  return { step: scopeOf(gate) + (isFork ? name.slice(0, -FORK.length) : name), isFork };
}

export const signalStep = (name: string): string => `signal:${name}`;

export const inboxNote = (name: string): string => `inbox:${name}`;

/** Memory keys may contain characters that names may not. */
export const memoryNote = (name: string): string => MEMORY + name.replace(/[/#[\]]/g, "_");

export const planNote = (group: string): string => `${PLAN}:${group}`;

/** The owner of a plan: the scope (its prefix) that it was made in, or the key of a group. */
export const plannedBy = (note: string): string => note.replace(/plan(#\d+$|:|$)(?!.*\/)/, "");

/** The gate before a step and the plan of a group go where the step or the group goes: what their names begin with. */
export const besideOf = (segment: string): string => /^(?:approve|plan):/.exec(segment)?.[0] ?? "";

/** Notes of memory writes are named after what they wrote, not after steps. */
export const isMemoryNote = (segment: string): boolean => segment.startsWith(MEMORY);

/** The note of a marked checkpoint. */
export const markNote = (label: string): string => MARK + label;

export const isMarkNote = (segment: string): boolean => segment.startsWith(MARK);

// Undos

export const isUndo = (key: string): boolean => key.startsWith(UNDOS);

/** The name, in the scope of undos, of the step that undoes `step`; and back. */
export const undoName = (step: string): string => step.replaceAll(SLASH, ">");
export const undoneBy = (name: string): string => name.replaceAll(">", SLASH);

/** The key of the step that undoes `step`. */
export const undoKey = (step: string): string => UNDOS + undoName(step);
