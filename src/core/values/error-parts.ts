import { forbidden } from "./decode.ts";

/** The remaining budget for parts of fields that can't be saved completely, shared by a whole value. */
export interface PartsLeft {
  items: number;
  characters: number;
}

export const partsLeft = (): PartsLeft => ({ items: 500, characters: 32_768 });

const MOST_DEPTH = 8;
/** Fields that show the kind of failure, even on an instance of a class such as `Response`. */
const TELLING: readonly string[] = ["code", "status", "statusCode", "statusText"];
/** Requests and responses are attached to errors, and with them credentials. Redaction may be off. */
const CREDENTIAL =
  /auth(?!or(?!i))|cookie|credential|passw|secret|signature|token|api[-_]?key|private[-_]?key/i;
/** Response headers that explain a failure: when to try again, what is left of a limit, and under which id to ask. */
const MATTERS =
  /^(?:retry-after(?:-ms)?|x-should-retry|content-type|date|traceparent|cf-ray|(?:x-)?(?:request|correlation|trace)-id|x-amzn?-(?:request-?id|errortype|id-2)|x-ms-request-id|(?:[a-z]+-)*ratelimit(?:-[a-z]+)*)$/i;
const MOST_HEADERS = 40;

/** A property's value, or nothing when reading it throws. */
export function read(object: object, key: string): unknown {
  try {
    return Reflect.get(object, key);
  } catch {
    return undefined;
  }
}

export const ownValue = (object: object, key: string): boolean =>
  Object.getOwnPropertyDescriptor(object, key)?.writable !== undefined;

/**
 * Copies the savable parts of an error's field that can't be saved completely: plain objects and lists, dates, errors,
 * and for class instances the fields that show the kind of failure. `undefined` when nothing is left.
 */
export function plainParts(value: unknown, left: PartsLeft, isSavable: (value: object) => boolean): unknown {
  const above: object[] = [];
  const walk = (given: unknown): unknown => {
    if (typeof given !== "object" || given === null) return primitive(given, left);
    if (above.includes(given) || above.length >= MOST_DEPTH || --left.items < 0) return undefined;
    if (given instanceof Date || given instanceof Error) return isSavable(given) ? given : undefined;
    const headers = headersIn(given);
    if (headers) return objectOf(headers);
    above.push(given);
    const copy = Array.isArray(given) ? listOf(given) : objectOf(given);
    above.pop();
    return copy;
  };
  const listOf = (list: readonly unknown[]): unknown => {
    const kept: unknown[] = [];
    for (let i = 0; i < list.length && left.items > 0; i++) {
      const item = ownValue(list, String(i)) ? walk(list[i]) : undefined;
      if (item !== undefined) kept.push(item);
    }
    return kept.length > 0 ? kept : undefined;
  };
  const objectOf = (object: object): unknown => {
    const kept: Record<string, unknown> = {};
    for (const key of keysOf(object)) {
      if (left.items <= 0) break;
      left.characters -= key.length;
      const item = left.characters < 0 ? undefined : walk(read(object, key));
      if (item !== undefined) kept[key] = item;
    }
    return Object.keys(kept).length > 0 ? kept : undefined;
  };
  try {
    return walk(value);
  } catch {
    return undefined; // A Proxy that refuses to be looked at.
  }
}

function keysOf(object: object): readonly string[] {
  const proto: unknown = Object.getPrototypeOf(object);
  if (proto !== Object.prototype && proto !== null)
    return [
      ...TELLING.filter((key) => ["string", "number"].includes(typeof read(object, key))),
      ...(headersIn(read(object, "headers")) === undefined ? [] : ["headers"]),
    ];
  return Object.keys(object).filter(
    (key) => !forbidden(key) && !isAccess(key, read(object, key)) && ownValue(object, key),
  );
}

/** True for a field that may give access to something. Numbers, such as a count of tokens, don't. */
export const isAccess = (key: string, value: unknown): boolean =>
  CREDENTIAL.test(key) && !MATTERS.test(key) && (typeof value === "string" || typeof value === "object");

/** True when a value may contain something that gives access, or is too large to tell. */
export function hasAccess(value: unknown): boolean {
  let left = 2_000;
  const walk = (given: unknown): boolean => {
    if (typeof given !== "object" || given === null || given instanceof Error) return false;
    if (--left < 0) return true;
    const inner = given instanceof Map || given instanceof Set ? [...given.values()] : Object.values(given);
    const names =
      given instanceof Map ? [...given].filter(([key]) => typeof key === "string") : Object.entries(given);
    return names.some(([key, one]) => isAccess(String(key), one)) || inner.some(walk);
  };
  try {
    return !ArrayBuffer.isView(value) && walk(value);
  } catch {
    return true;
  }
}

/** The headers that matter, of a Headers object of any client, or of a Map. */
function headersIn(value: unknown): Record<string, string> | undefined {
  if (!(value instanceof Map) && !Object.prototype.toString.call(value).endsWith("Headers]"))
    return undefined;
  const entries = Array.from(value as Iterable<unknown>).flatMap((entry): [string, string][] => {
    const [name, text] = Array.isArray(entry) ? (entry as unknown[]) : [];
    return typeof name === "string" && typeof text === "string" && MATTERS.test(name) ? [[name, text]] : [];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries.slice(0, MOST_HEADERS));
}

function primitive(value: unknown, left: PartsLeft): unknown {
  if (typeof value === "function" || typeof value === "symbol" || left.items <= 0) return undefined;
  const size = typeof value === "string" ? value.length : 8;
  if (size > left.characters) return undefined;
  left.items--;
  left.characters -= size;
  return value;
}

const MOST_MESSAGE = 4_096;
const MOST_STACK = 4_096;
const MOST_FIELD = 256;
/** The fields that decide what happens next, or show the kind of failure. */
const KEPT: readonly string[] = ["code", "status", "statusCode", "retryable", "retryAfterMs", "requestID"];

/** A compact form of an error that is too large to save. Texts are redacted before they are cut. */
export function smallError(error: Error, redact: (text: string) => string = (text) => text): Error {
  const cut = (key: string, most: number): string => {
    const value = read(error, key);
    const text = typeof value === "string" ? redact(value) : "";
    return text.length <= most ? text : `${text.slice(0, most)}…`;
  };
  const small = new Error(cut("message", MOST_MESSAGE));
  const name = cut("name", MOST_FIELD) || "Error";
  Object.defineProperty(small, "name", { value: name, writable: true, configurable: true });
  small.stack = cut("stack", MOST_STACK);
  for (const key of KEPT) {
    const value = read(error, key);
    if (["number", "boolean"].includes(typeof value)) Reflect.set(small, key, value);
    else if (typeof value === "string" && value.length <= MOST_FIELD) Reflect.set(small, key, value);
  }
  return small;
}
