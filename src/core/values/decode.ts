import { HoldfastError } from "../errors.ts";
import { platform } from "../platform.ts";

/** The reading half of the codec; codec.ts describes the format. */
export interface DecodeOptions {
  /** Returns the text that was spilled under a hash. */
  readonly blob?: (hash: string) => string | undefined;
}

/** The maximum nesting: deeper data is refused on both sides, long before the stack overflows. */
export const MAX_DEPTH = 1000;

/** Keys that could reach a prototype. */
export const forbidden = (key: string): boolean =>
  key === "__proto__" || key === "constructor" || key === "prototype";

/** The parts of an error with their own place in its tag. */
export const NAMED: ReadonlySet<string> = new Set(["name", "message", "stack"]);

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const LAST_DATE = 8.64e15;
const INTEGER = /^-?\d+$/;

type Blobs = DecodeOptions["blob"];

/**
 * Reads what `encode` wrote, as fresh plain data. Anything else is refused (HF-3011); no class is ever revived, and
 * unreadable parts are never replaced.
 */
export function decode(text: string, options?: DecodeOptions): unknown {
  if (typeof text !== "string") throw unreadable("it is not text");
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw unreadable("it is not valid JSON");
  }
  if (typeof parsed !== "object" || parsed === null || !needsWalk(text)) return parsed;
  try {
    return revive(parsed, 0, options?.blob);
  } catch (error) {
    throw HoldfastError.is(error) ? error : unreadable("a tag in it is malformed", error);
  }
}

const unreadable = (problem: string, cause?: unknown): HoldfastError =>
  new HoldfastError("HF-3011", { problem }, cause === undefined ? undefined : { cause });

/** A key that matters appears in the text as it is, or behind a \u escape. */
function needsWalk(text: string): boolean {
  return (
    text.includes('$"') ||
    text.includes("\\u") ||
    text.includes("__proto__") ||
    text.includes('"constructor"') ||
    text.includes('"prototype"')
  );
}

/** Works in place: the tree is ours, fresh from JSON.parse. */
function revive(value: unknown, depth: number, blobs: Blobs): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) throw unreadable("it is nested more than 1,000 levels deep");
  if (Array.isArray(value)) {
    const items: unknown[] = value;
    for (let i = 0; i < items.length; i++) {
      if (typeof items[i] === "object") items[i] = revive(items[i], depth + 1, blobs);
    }
    return items;
  }
  const object = value as Record<string, unknown>;
  const keys = Object.keys(object);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    if (key === "$") return reviveTag(object["$"], keys.length, depth, blobs);
    if (forbidden(key)) throw unreadable(`it has a key "${key}"`);
    const item = object[key];
    if (typeof item === "object") object[key] = revive(item, depth + 1, blobs);
  }
  return object;
}

/** The length of each tag's array, including its name. */
const LENGTHS: ReadonlyMap<unknown, number> = new Map([
  ["undefined", 1],
  ["Number", 2],
  ["BigInt", 2],
  ["Date", 2],
  ["Bytes", 2],
  ["Blob", 2],
  ["Set", 2],
  ["Map", 2],
  ["Object", 2],
  ["Error", 5],
]);

const must: (holds: boolean) => asserts holds = (holds) => {
  if (!holds) throw unreadable("it has a malformed tag");
};

function reviveTag(tag: unknown, keys: number, depth: number, blobs: Blobs): unknown {
  must(keys === 1 && Array.isArray(tag));
  const [name, first]: unknown[] = tag;
  const length = LENGTHS.get(name);
  if (length === undefined)
    throw unreadable(`it has an unknown tag ${String(JSON.stringify(name)).slice(0, 64)}`);
  must(tag.length === length);
  switch (name) {
    case "undefined":
      return undefined;
    case "Number":
      must(first === "NaN" || first === "Infinity" || first === "-Infinity" || first === "-0");
      return Number(first);
    case "BigInt":
      must(typeof first === "string" && INTEGER.test(first));
      return BigInt(first);
    case "Date":
      must(typeof first === "number" && Number.isInteger(first) && Math.abs(first) <= LAST_DATE);
      return new Date(first);
    case "Bytes":
      return bytes(revive(first, depth + 1, blobs));
    case "Blob":
      return blobText(first, blobs);
    case "Set":
      return new Set(items(first, depth, blobs));
    case "Map":
      return new Map(entries(first, depth, blobs));
    case "Object":
      return Object.fromEntries(properties(entries(first, depth, blobs)));
    default:
      return reviveError(tag, depth, blobs);
  }
}

function bytes(base64: unknown): Uint8Array {
  must(typeof base64 === "string" && base64.length % 4 === 0 && BASE64.test(base64));
  return platform().fromBase64(base64);
}

function blobText(hash: unknown, blobs: Blobs): string {
  must(typeof hash === "string");
  const text: unknown = blobs?.(hash);
  if (typeof text !== "string") throw unreadable(`its part ${hash.slice(0, 64)} is missing`);
  return text;
}

// Loops, not map(): at full depth every stack frame counts.
function items(list: unknown, depth: number, blobs: Blobs): unknown[] {
  must(Array.isArray(list));
  for (let i = 0; i < list.length; i++) list[i] = revive(list[i], depth + 1, blobs);
  return list;
}

function entries(list: unknown, depth: number, blobs: Blobs): [unknown, unknown][] {
  must(Array.isArray(list));
  for (const pair of list) {
    must(Array.isArray(pair) && pair.length === 2);
    pair[0] = revive(pair[0], depth + 1, blobs);
    pair[1] = revive(pair[1], depth + 1, blobs);
  }
  return list;
}

function properties(pairs: [unknown, unknown][]): [string, unknown][] {
  return pairs.map(([key, value]) => {
    must(typeof key === "string");
    if (forbidden(key)) throw unreadable(`it has a key "${key}"`);
    return [key, value];
  });
}

function reviveError(tag: unknown[], depth: number, blobs: Blobs): Error {
  const [name, message, stack] = tag.slice(1, 4).map((part) => revive(part, depth + 1, blobs));
  must(
    typeof name === "string" && typeof message === "string" && (stack === null || typeof stack === "string"),
  );
  const error = new Error(message);
  const define = (key: string, value: unknown, enumerable: boolean): void =>
    void Object.defineProperty(error, key, { value, enumerable, writable: true, configurable: true });
  if (stack === null) Reflect.deleteProperty(error, "stack");
  else error.stack = stack;
  if (name !== "Error") define("name", name, false);
  for (const [key, value] of properties(entries(tag[4], depth, blobs))) {
    must(!NAMED.has(key));
    define(key, value, key !== "cause" && key !== "errors");
  }
  return error;
}
