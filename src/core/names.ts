import { HoldfastError } from "./errors.ts";
import { isReserved, signalStep } from "./keys.ts";

/**
 * The rule for all names from outside: of workflows, steps, signals, memory keys, labels, people, workers, models.
 * Stores keep them in columns and keys, and people see them in terminals, so they are well-formed text of limited
 * length, on one line and in one direction.
 */
const HIDDEN = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
/** The rule for prose, which is never looked up: it may have several lines. */
const HIDDEN_IN_TEXT = /[^\P{Cc}\t\n\r]/u;

/** The length of a name, where nothing else is said. */
export const MOST_IN_NAME = 128;

/** Why this isn't a valid name; `undefined` when it is one. */
export function nameProblem(value: unknown, most = MOST_IN_NAME): string | undefined {
  if (typeof value !== "string" || value === "") return "It must be a text of at least one character.";
  return textProblem(value, most, HIDDEN);
}

function textProblem(text: string, most: number, hidden: RegExp): string | undefined {
  if (text.length > most) return `It may have ${most} characters, and has ${text.length}.`;
  if (/\p{Cs}/u.test(text)) return "It has half of a surrogate pair in it, which no store can keep.";
  const [found] = hidden.exec(text) ?? [];
  if (found === undefined) return undefined;
  const code = found.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  return `It has a control character in it (U+${code}).`;
}

/** Refuses an invalid name. `what`: what it names. */
export function checkNamed(what: string, value: unknown, most?: number): asserts value is string {
  const problem = nameProblem(value, most);
  if (problem !== undefined) throw refused(what, value, problem);
}

/** Refuses a text for people that no store could keep. */
export function checkProse(what: string, value: string, most: number): void {
  const problem = textProblem(value, most, HIDDEN_IN_TEXT);
  if (problem !== undefined) throw refused(what, value, problem);
}

const refused = (what: string, value: unknown, problem: string): HoldfastError =>
  new HoldfastError("HF-1050", { what, name: shown(value), problem });

/** Escaped, so that a malicious name can't affect a terminal. */
const shown = (value: unknown): string =>
  typeof value === "string"
    ? escaped(value.slice(0, 80)) || "The empty text"
    : `A value of type ${typeof value}`;

const escaped = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** The maximum length of a memory key. */
export const MOST_IN_KEY = 256;

/** Refuses a key that memory can't have. */
export function checkMemoryKey(key: unknown): asserts key is string {
  if (typeof key !== "string" || key === "" || isPrototypeKey(key))
    throw new HoldfastError("HF-1005", { name: shown(key) });
  checkNamed("memory key", key, MOST_IN_KEY);
}

/** Memory keys of the library's own interpreters, which no workflow has to declare. */
export const isLibraryKey = (key: string): boolean => /^(?:holdfast\.|dag:|workflow:)/.test(key);

/** Names that already have a meaning for plain objects. */
export const isPrototypeKey = (name: string): boolean =>
  name === "__proto__" || name === "constructor" || name === "prototype";

/** Refuses a name that can't be part of a step's address. */
export function checkName(name: unknown): asserts name is string {
  const isName = typeof name === "string" && nameProblem(name) === undefined;
  if (!isName || isReserved(name) || isPrototypeKey(name))
    throw new HoldfastError("HF-1005", { name: shown(name) });
}

/** The length that the name of its waiting step leaves for a signal's own name. */
export const MOST_IN_SIGNAL = MOST_IN_NAME - signalStep("").length;

export function checkSignal(name: unknown): asserts name is string {
  checkNamed("signal", name, MOST_IN_SIGNAL);
  checkName(name);
}

/** The mailbox for injected context. */
export const INJECT = "inject";

/** True for a mailbox of injected context, which no workflow has to declare. */
export const isInjected = (name: string): boolean => name === INJECT || name.startsWith(`${INJECT}:`);

/** The mailbox for one agent. */
export const injectTo = (agent: string): string => `${INJECT}:${agent}`;
