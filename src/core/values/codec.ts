import { HoldfastError } from "../errors.ts";
import { digest } from "../hash.ts";
import { platform } from "../platform.ts";
import { forbidden, MAX_DEPTH, NAMED } from "./decode.ts";
import { hasAccess, isAccess, ownValue, type PartsLeft, partsLeft, plainParts, read } from "./error-parts.ts";
import { shortStack } from "./stack.ts";

export { decode } from "./decode.ts";

/**
 * The codec: JSON, plus tags for what JSON can't express. A tag is an object whose only key is "$", with an array:
 * `{"$":["Date",123]}`. User objects with a key "$" are themselves written as a tag, so user data can never be read as
 * one. Everything else is refused when it is written, never changed silently.
 */
export interface EncodeOptions {
  /** Writes object keys in code-unit order, so that equal data gives equal text. */
  readonly sorted?: boolean;
  /** Called with every long string and all long bytes (as base64); returns the hash to write instead. */
  readonly spill?: (text: string) => string | undefined;
  /** The length from which `spill` is called. Default 1024. */
  readonly spillAt?: number;
  /** Applied to every text on its way in, including keys and the parts of errors. */
  readonly redact?: (text: string) => string;
}

const DEFAULT_SPILL_AT = 1024;
/** The maximum chain of errors inside errors: longer chains are cut, so that reading one never overflows the stack. */
const MAX_CHAIN = 32;

/** Results of a scan, as bits: all plain JSON; needs the writer; can't be saved. */
const PLAIN = 0;
const WRITE = 1;
const BAD = 2;

/**
 * Printable ASCII needs no escape, and detecting that is several times faster than JSON.stringify: enough to make
 * writing by hand worthwhile from WRITE_FROM on. PRINTABLE_TO keeps the pattern's backtracking stack small.
 */
const PRINTABLE = /^[ !#-[\]-~]*$/;
const PRINTABLE_TO = 65_536;
const WRITE_FROM = 256;

const UNSTORABLE = /[\0\ud800-\udfff]/u;

const { getPrototypeOf, getOwnPropertyDescriptor, getOwnPropertyNames, getOwnPropertySymbols } = Object;
const lookupGetter: (key: PropertyKey) => unknown = (Object.prototype as any).__lookupGetter__;
const isRawJson: ((value: unknown) => boolean) | undefined = (JSON as any).isRawJSON;

interface State {
  readonly sorted: boolean;
  readonly spill: EncodeOptions["spill"];
  readonly spillAt: number;
  readonly writeAt: number;
  readonly redact: EncodeOptions["redact"];
  /** The containers around the current value, outermost first. */
  readonly above: unknown[];
  problem: string;
  /** The path to the problem, innermost first: filled only while a problem is being reported. */
  path: string[];
  /** The number of errors around the current value. */
  chain: number;
  spilling: boolean;
  /** Set once a field of an error couldn't be saved completely. */
  parts: PartsLeft | undefined;
}

/**
 * Writes plain data as text; refuses anything that wouldn't come back the same (HF-2001, with its path). For the fields
 * of an Error only the parts that can be saved are kept, so that a failure can always be recorded.
 */
export function encode(value: unknown, options?: EncodeOptions): string {
  const spill = options?.spill;
  const spillAt = spill === undefined ? Number.POSITIVE_INFINITY : (options?.spillAt ?? DEFAULT_SPILL_AT);
  const state: State = {
    sorted: options?.sorted === true,
    spill,
    spillAt,
    writeAt: Math.min(spillAt, WRITE_FROM),
    redact: options?.redact,
    above: [],
    problem: "",
    path: [],
    chain: 0,
    spilling: false,
    parts: undefined,
  };
  const found = scan(state, value, 0);
  if (found >= BAD) throw refusal(state);
  try {
    // JSON.stringify would call a toJSON on a modified built-in prototype.
    if (found === PLAIN && !state.redact && !("toJSON" in Array.prototype)) return JSON.stringify(value);
    return write(state, value, 0);
  } catch (error) {
    if (state.spilling || HoldfastError.is(error)) throw error;
    // A Proxy that answers differently the second time, or a text longer than a string can be.
    bad(state, `writing it failed (${messageOf(error)})`);
    throw refusal(state, error);
  }
}

/** The digest of a value's data: equal for equal data, regardless of key order. */
export function dataDigest(value: unknown): string {
  return digest(encode(value, { sorted: true }));
}

// ---- scan: may it be saved, and does it need tags?

function bad(state: State, problem: string): number {
  state.problem = problem;
  state.path = [];
  return BAD;
}

function within(state: State, segment: string): number {
  state.path.push(segment);
  return BAD;
}

function refusal(state: State, cause?: unknown): HoldfastError {
  const steps = state.path.reverse();
  const shown = steps.length > 40 ? [...steps.slice(0, 20), "…", ...steps.slice(-10)] : steps;
  const detail = { path: `$${shown.join("")}`, problem: state.problem };
  return new HoldfastError("HF-2001", detail, cause === undefined ? undefined : { cause });
}

function keySegment(key: string): string {
  return /^[A-Za-z_]\w{0,63}$/.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 64))}]`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "no reason given";
}

function scan(state: State, value: unknown, depth: number): number {
  switch (typeof value) {
    case "string":
      return value.length < state.writeAt ? PLAIN : WRITE;
    case "number":
      return Number.isFinite(value) && (value !== 0 || 1 / value > 0) ? PLAIN : WRITE;
    case "boolean":
      return PLAIN;
    case "undefined":
    case "bigint":
      return WRITE;
    case "function":
      return bad(state, "it is a function");
    case "symbol":
      return bad(state, "it is a symbol");
    case "object":
      return value === null ? PLAIN : scanObject(state, value, depth);
  }
}

function scanObject(state: State, value: object, depth: number): number {
  if (depth >= MAX_DEPTH) return bad(state, "it is nested more than 1,000 levels deep");
  const { above } = state;
  for (let i = depth - 1; i >= 0; i--) if (above[i] === value) return bad(state, "it contains itself");
  above[depth] = value;
  try {
    const proto: unknown = getPrototypeOf(value);
    if (proto === Object.prototype || (proto === null && isRawJson?.(value) !== true)) {
      return scanPlain(state, value, depth);
    }
    if (proto === Array.prototype && Array.isArray(value)) return scanArray(state, value, depth);
    return scanSpecial(state, value, proto, depth);
  } catch (error) {
    return bad(state, `reading it failed (${messageOf(error)})`);
  }
}

function scanPlain(state: State, object: object, depth: number): number {
  const keys = Object.keys(object);
  if (getOwnPropertyNames(object).length !== keys.length) return bad(state, "it has a hidden property");
  if (getOwnPropertySymbols(object).length > 0) return bad(state, "it has a symbol as a key");
  let found = PLAIN;
  let last = "";
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    if ((state.sorted && key < last) || !tame(key)) found |= WRITE;
    if (forbidden(key)) return bad(state, `it has a key "${key}"`);
    last = key;
    const property = getOwnPropertyDescriptor(object, key) as PropertyDescriptor;
    if (property.get !== undefined || property.set !== undefined) {
      bad(state, "it is computed by an accessor");
      return within(state, keySegment(key));
    }
    found |= scan(state, property.value, depth + 1);
    if (found >= BAD) return within(state, keySegment(key));
  }
  return found;
}

/**
 * True when a key can be written as a JSON key. "$" means a tag. Keys that need an escape are listed in a tag as well:
 * JSON.parse of Node 24 and 26 may read an escaped key as another one (nodejs/node#63785).
 */
function tame(key: string): boolean {
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i);
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c || (unit >= 0xd800 && unit <= 0xdfff)) return false;
  }
  return key !== "$";
}

function scanArray(state: State, array: readonly unknown[], depth: number): number {
  const { length } = array;
  const named = Object.keys(array).length;
  if (named > length || getOwnPropertySymbols(array).length > 0) {
    return bad(state, "it is an array with extra properties");
  }
  if (named < length) return bad(state, "it is an array with holes");
  let found = PLAIN;
  for (let i = 0; i < length; i++) {
    if (lookupGetter.call(array, i) !== undefined) found = bad(state, "it is computed by an accessor");
    else if (array[i] === undefined && getOwnPropertyDescriptor(array, i)?.writable === undefined) {
      found = bad(state, "it is a hole in an array");
    } else found |= scan(state, array[i], depth + 1);
    if (found >= BAD) return within(state, `[${i}]`);
  }
  return found;
}

function scanSpecial(state: State, value: object, proto: unknown, depth: number): number {
  // Checked on writing: parts of an error that can't be saved are left out there.
  if (isError(value)) return state.chain < MAX_CHAIN ? WRITE : bad(state, "its chain of causes is too long");
  if (isBytes(value, proto)) return WRITE;
  const known = proto === Date.prototype || proto === Map.prototype || proto === Set.prototype;
  if (!known) return bad(state, `it is an instance of class ${className(proto)}`);
  if (Reflect.ownKeys(value).length > 0)
    return bad(state, `it is a ${className(proto)} with extra properties`);
  if (proto === Date.prototype) {
    return Number.isNaN(Date.prototype.getTime.call(value)) ? bad(state, "it is an invalid Date") : WRITE;
  }
  let index = 0;
  if (proto === Set.prototype) {
    for (const item of Set.prototype.values.call(value)) {
      if (scan(state, item, depth + 1) >= BAD) return within(state, `.values[${index}]`);
      index++;
    }
    return WRITE;
  }
  for (const [key, item] of Map.prototype.entries.call(value)) {
    if (scan(state, key, depth + 1) >= BAD) return within(state, `.keys[${index}]`);
    if (scan(state, item, depth + 1) >= BAD) return within(state, `.values[${index}]`);
    index++;
  }
  return WRITE;
}

/** Also true for errors of another realm, such as Node's own inside a `vm` context. */
function isError(value: object): boolean {
  return value instanceof Error || Object.prototype.toString.call(value) === "[object Error]";
}

/** Only Node has it. */
const BUFFER: unknown = globalThis.Buffer?.prototype;

function isBytes(value: object, proto: unknown): value is Uint8Array {
  return (proto === Uint8Array.prototype || proto === BUFFER) && ArrayBuffer.isView(value);
}

function className(proto: unknown): string {
  const name: unknown = (proto as any)?.constructor?.name;
  return typeof name === "string" && name !== "" ? name.slice(0, 64) : "(anonymous)";
}

// ---- write: only after a scan found nothing bad

function quote(text: string): string {
  return text.length <= PRINTABLE_TO && PRINTABLE.test(text) ? `"${text}"` : JSON.stringify(text);
}

function writeText(state: State, given: string): string {
  const text = state.redact ? state.redact(given) : given;
  // Text that a store may not keep exactly stays in the value, where it is escaped.
  if (text.length >= state.spillAt && !UNSTORABLE.test(text)) {
    state.spilling = true;
    const hash = state.spill?.(text);
    state.spilling = false;
    if (hash !== undefined) return `{"$":["Blob",${JSON.stringify(hash)}]}`;
  }
  return quote(text);
}

function write(state: State, value: unknown, depth: number): string {
  switch (typeof value) {
    case "string":
      return writeText(state, value);
    case "number":
      if (Number.isFinite(value) && (value !== 0 || 1 / value > 0)) return `${value}`;
      return `{"$":["Number","${value === 0 ? "-0" : value}"]}`;
    case "boolean":
      return value ? "true" : "false";
    case "undefined":
      return '{"$":["undefined"]}';
    case "bigint":
      return `{"$":["BigInt","${value}"]}`;
    case "object":
      return value === null ? "null" : writeObject(state, value, depth);
    default:
      throw new TypeError("it changed while it was read");
  }
}

function writeObject(state: State, value: object, depth: number): string {
  state.above[depth] = value;
  if (Array.isArray(value)) return `[${writeItems(state, value, depth)}]`;
  const proto: unknown = getPrototypeOf(value);
  if (proto === Object.prototype || proto === null) return writePlain(state, value, depth);
  if (proto === Date.prototype) return `{"$":["Date",${Date.prototype.getTime.call(value)}]}`;
  if (isError(value)) return writeError(state, value, depth);
  if (isBytes(value, proto)) {
    const base64 = platform().toBase64(value);
    return `{"$":["Bytes",${writeText({ ...state, redact: undefined }, base64)}]}`;
  }
  if (proto === Set.prototype) {
    return `{"$":["Set",[${writeItems(state, Set.prototype.values.call(value), depth)}]]}`;
  }
  return `{"$":["Map",[${writeEntries(state, Map.prototype.entries.call(value), depth)}]]}`;
}

function writeItems(state: State, items: Iterable<unknown>, depth: number): string {
  let text = "";
  for (const item of items) {
    if (text !== "") text += ",";
    text += write(state, item, depth + 1);
  }
  return text;
}

function writeEntries(state: State, entries: Iterable<readonly [unknown, unknown]>, depth: number): string {
  let text = "";
  for (const [key, item] of entries) {
    if (text !== "") text += ",";
    text += `[${write(state, key, depth + 1)},${write(state, item, depth + 1)}]`;
  }
  return text;
}

function writePlain(state: State, given: any, depth: number): string {
  const object = state.redact ? redactKeys(state.redact, given) : given;
  const keys = Object.keys(object);
  if (state.sorted) keys.sort();
  if (!keys.every(tame)) {
    const pairs = keys.map((key) => `[${quote(key)},${write(state, object[key], depth + 1)}]`);
    return `{"$":["Object",[${pairs.join(",")}]]}`;
  }
  let text = "{";
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    text += `${i === 0 ? "" : ","}"${key}":${write(state, object[key], depth + 1)}`;
  }
  return `${text}}`;
}

/** Two keys that have become equal are told apart by a number. */
function redactKeys(redact: (text: string) => string, object: any): any {
  const keys = Object.keys(object);
  if (keys.every((key) => redact(key) === key)) return object;
  const clean: Record<string, unknown> = {};
  for (const key of keys) {
    const name = redact(key);
    let unique = name;
    for (let n = 2; Object.hasOwn(clean, unique) || (unique !== key && unique in object); n++)
      unique = `${name}#${n}`;
    clean[unique] = object[key];
  }
  return clean;
}

// ---- errors: always storable, so that a failure can be recorded

/** Read even if inherited or hidden; the rest of an error is its own enumerable data. */
const ALWAYS = ["code", "retryable", "retryAfterMs", "status", "statusCode", "cause", "errors"];

function writeError(state: State, error: object, depth: number): string {
  const [name, message, stack] = [read(error, "name"), read(error, "message"), read(error, "stack")];
  const head = [
    writeText(state, typeof name === "string" ? name : "Error"),
    writeText(state, typeof message === "string" ? message : ""),
    typeof stack === "string" ? writeText(state, shortStack(stack)) : "null",
  ];
  state.chain++;
  const kept = errorData(state, error, depth);
  if (state.sorted) kept.sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = (key: string) => quote(state.redact ? state.redact(key) : key);
  const data = kept.map(([key, value]) => `[${shown(key)},${write(state, value, depth + 1)}]`);
  state.chain--;
  return `{"$":["Error",${head.join(",")},[${data.join(",")}]]}`;
}

function errorData(state: State, error: object, depth: number): [string, unknown][] {
  const kept: [string, unknown][] = [];
  const keep = (key: string, value: unknown): void => {
    const isSavable = (one: unknown) => scan(state, one, depth + 1) < BAD;
    if (isAccess(key, value)) return;
    if (isSavable(value) && !hasAccess(value)) return void kept.push([key, value]);
    const part = plainParts(value, (state.parts ??= partsLeft()), isSavable);
    if (part !== undefined && isSavable(part)) kept.push([key, part]);
  };
  for (const key of ALWAYS) {
    const value = read(error, key);
    if (key === "errors" && Array.isArray(value)) {
      state.above[depth + 1] = value;
      keep(
        key,
        Array.from(value).filter((item) => scan(state, item, depth + 2) < BAD),
      );
    } else if (value !== undefined || ownValue(error, key)) keep(key, value);
  }
  for (const key of Object.keys(error)) {
    if (NAMED.has(key) || ALWAYS.includes(key) || forbidden(key) || !ownValue(error, key)) continue;
    keep(key, read(error, key));
  }
  return kept;
}
