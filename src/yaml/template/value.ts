import { isPrototypeKey } from "../../core/names.ts";
import { didYouMean } from "../../core/nearest.ts";
import { amount, Float, floatText, isNumber } from "./numbers.ts";
import { TemplateProblem } from "./problem.ts";

/** A name or path that leads nowhere. It may be tested with `is defined`; every other use is a problem. */
export class Missing {
  readonly path: string;
  readonly known: readonly string[];
  /** An `if` without an `else` may have no value: it renders as an empty text and is false. */
  readonly isBlank: boolean;

  constructor(path: string, known: readonly string[], isBlank = false) {
    [this.path, this.known, this.isBlank] = [path, known, isBlank];
  }
}

/** Returns the value; throws if it is missing. */
export function need(value: unknown): unknown {
  if (!(value instanceof Missing) || value.isBlank) return value;
  const [last, known] = [value.path.split(".").at(-1) ?? "", value.known.slice(0, 20)];
  const meant =
    known.length > 0
      ? `${didYouMean(last, known, "; did you mean ") || "."} Known here: ${known.join(", ")}`
      : "";
  throw new TemplateProblem(`${value.path.slice(0, 200)} is not defined${meant}`);
}

/** Text that `escape`, `safe` or `tojson` produced: escaping it again changes nothing. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** An object created by the template: its keys may be any hashable values, in insertion order. */
export class Dict {
  readonly pairs = new Map<string, readonly [unknown, unknown]>();

  constructor(pairs: Iterable<readonly [unknown, unknown]> = []) {
    for (const [key, value] of pairs) {
      const known = this.pairs.get(hashed(key));
      this.pairs.set(hashed(key), [known ? known[0] : key, value]);
    }
  }
}

/** The result of `map`, `select` and the like, which can be iterated once. */
export class Lazy {
  #items: readonly unknown[];
  constructor(items: readonly unknown[]) {
    this.#items = items;
  }

  /** Returns and consumes the next `most` items. */
  take(most = this.#items.length): readonly unknown[] {
    const taken = this.#items.slice(0, most);
    this.#items = this.#items.slice(most);
    return taken;
  }
}

/** A value that can only be called: a macro, a method, a function, the loop, a cycler. */
export abstract class Callable {
  abstract readonly name: string;
  /** The value of its attribute `.name`, if any. */
  attribute(_name: string): unknown {
    return undefined;
  }
  abstract call(args: readonly unknown[], named: Named): unknown;
}

/** A value that the template itself may change: `namespace()`. */
export class Namespace {
  readonly values = new Map<string, unknown>();
}

export type Plain = Readonly<Record<string, unknown>>;
export type Named = ReadonlyMap<string, unknown>;

export const isPlain = (value: unknown): value is Plain =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Missing) &&
  !(value instanceof Markup) &&
  !(value instanceof Dict) &&
  !(value instanceof Lazy) &&
  !(value instanceof Float) &&
  !(value instanceof Namespace) &&
  !(value instanceof Callable);

export const isMapping = (value: unknown): value is Plain | Dict => value instanceof Dict || isPlain(value);
export const isText = (value: unknown): value is string | Markup =>
  typeof value === "string" || value instanceof Markup;
export const plainText = (value: string | Markup): string => (typeof value === "string" ? value : value.text);

/** There are four kinds of lists; only the last three are marked. */
type ListKind = "list" | "tuple" | "range" | "view";
const kinds = new WeakMap<readonly unknown[], ListKind>();
export const listKind = (list: readonly unknown[]): ListKind => kinds.get(list) ?? "list";

export function makeList(items: readonly unknown[], kind: Exclude<ListKind, "list">): readonly unknown[] {
  const list = [...items];
  kinds.set(list, kind);
  return list;
}

/** `groupby` returns pairs with named parts. */
const groups = new WeakSet<readonly unknown[]>();
export const isGroup = (list: readonly unknown[]): boolean => groups.has(list);
export function makeGroup(key: unknown, members: readonly unknown[]): readonly unknown[] {
  const group = makeList([key, members], "tuple");
  groups.add(group);
  return group;
}

/** Refuses names that could reach beyond plain data. */
export function checkKey(key: string): void {
  if (isPrototypeKey(key) || key.startsWith("__"))
    throw new TemplateProblem(`${key} cannot be asked for in a template`);
}

/** A text that identifies a key: equal keys have equal texts. */
export function hashed(key: unknown): string {
  if (isText(key)) return `s${plainText(key)}`;
  if (isNumber(key)) return `n${amount(key) === 0 ? 0 : amount(key)}`;
  if (key === null) return "z";
  if (Array.isArray(key) && listKind(key) === "tuple") return `t${JSON.stringify(key.map(hashed))}`;
  throw new TemplateProblem(`${nameOfKind(key)} cannot be a key`);
}

export function entriesOf(value: Plain | Dict): (readonly [unknown, unknown])[] {
  return value instanceof Dict ? [...value.pairs.values()] : Object.entries(value);
}

/** The value under a key, or undefined. */
export function lookUp(value: Plain | Dict, key: unknown): unknown {
  if (value instanceof Dict) return value.pairs.get(hashed(key))?.[1];
  if (!isText(key)) return undefined;
  const name = plainText(key);
  return Object.hasOwn(value, name) ? (value[name] ?? null) : undefined;
}

export function truthy(value: unknown): boolean {
  if (need(value) instanceof Missing) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Dict) return value.pairs.size > 0;
  if (value instanceof Markup) return value.text !== "";
  if (value instanceof Float) return value.value !== 0;
  if (value instanceof Lazy) throw unlisted("asked whether it is empty");
  if (isPlain(value)) return Object.keys(value).length > 0;
  return Boolean(value) || (typeof value === "number" && Number.isNaN(value));
}

export const unlisted = (use: string): TemplateProblem =>
  new TemplateProblem(`what map, select and the like give cannot be ${use}: put |list behind it`);

export function same(a: unknown, b: unknown): boolean {
  need(a);
  need(b);
  if (isNumber(a) && isNumber(b)) return amount(a) === amount(b);
  if (isText(a) && isText(b)) return plainText(a) === plainText(b);
  if (Array.isArray(a) && Array.isArray(b)) {
    if (listKind(a) !== listKind(b)) return false;
    return a.length === b.length && a.every((one, index) => same(one, b[index]));
  }
  if (!isMapping(a) || !isMapping(b)) return a === b;
  const entries = entriesOf(a);
  return (
    entries.length === entriesOf(b).length &&
    entries.every(([key, value]) => {
      const other = lookUp(b, key);
      return other !== undefined && same(value, other);
    })
  );
}

/** Negative, 0 or positive, as the first is less, equal or greater. Texts are compared by code point. */
export function order(a: unknown, b: unknown): number {
  if (isNumber(a) && isNumber(b)) return amount(a) - amount(b);
  if (isText(a) && isText(b)) return textOrder(plainText(a), plainText(b));
  if (Array.isArray(a) && Array.isArray(b) && listKind(a) === listKind(b) && listKind(a) !== "range") {
    const index = a.findIndex((one, at) => at >= b.length || !same(one, b[at]));
    if (index === -1) return a.length - b.length;
    return index >= b.length ? 1 : order(a[index], b[index]);
  }
  throw new TemplateProblem(`${nameOfKind(need(a))} and ${nameOfKind(need(b))} cannot be compared`);
}

export function textOrder(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  for (let at = 0; at < most; at += 1) {
    if (a.charCodeAt(at) === b.charCodeAt(at)) continue;
    return (a.codePointAt(at) as number) - (b.codePointAt(at) as number);
  }
  return a.length - b.length;
}

export function nameOfKind(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (Array.isArray(value)) return "a list";
  if (isText(value)) return "a text";
  if (value instanceof Float) return "a number";
  if (value instanceof Lazy) return "what map, select and the like give";
  if (value instanceof Callable) return `the function ${value.name}`;
  return { number: "a number", boolean: "a boolean" }[typeof value as string] ?? "an object";
}

/** A text's characters, by code point. */
export const characters = (text: string): string[] =>
  /[\ud800-\udfff]/.test(text) ? Array.from(text) : text.split("");
export const lengthOf = (text: string): number =>
  /[\ud800-\udfff]/.test(text) ? Array.from(text).length : text.length;

/** The items of a loop: a list, a text's characters, an object's keys. */
export function sequence(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (isText(value)) return characters(plainText(value));
  if (isMapping(value)) return entriesOf(value).map(([key]) => key);
  if (value instanceof Lazy) return value.take();
  if (value instanceof Missing && value.isBlank) return [];
  throw new TemplateProblem(`${nameOfKind(need(value))} cannot be gone through`);
}

/** Formats a value for a prompt: scalars as Jinja writes them, lists and objects as JSON. */
export function text(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Markup) return value.text;
  if (value === null || value === undefined) return "None";
  if (value instanceof Missing && value.isBlank) return "";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (isNumber(value)) return numberText(value as number | Float);
  if (value instanceof Lazy || (Array.isArray(value) && ["range", "view"].includes(listKind(value))))
    throw unlisted("written");
  if (value instanceof Callable || value instanceof Namespace)
    throw new TemplateProblem(`${value instanceof Callable ? value.name : "a namespace"} cannot be written`);
  return compactJson(need(value));
}

export const numberText = (value: number | Float): string =>
  value instanceof Float || !Number.isSafeInteger(value) ? floatText(amount(value)) : String(value);

function compactJson(value: unknown): string {
  if (isText(value)) return JSON.stringify(plainText(value));
  if (value === null || typeof value === "boolean") return String(value);
  if (isNumber(value)) return numberText(value as number | Float);
  if (Array.isArray(value)) return `[${value.map(compactJson).join(",")}]`;
  if (isMapping(value))
    return `{${entriesOf(value)
      .map(([key, one]) => `${JSON.stringify(jsonKey(key))}:${compactJson(one)}`)
      .join(",")}}`;
  return text(need(value));
}

/** Formats an object's key like Python's `json.dumps`. */
export function jsonKey(key: unknown): string {
  if (key === null || typeof key === "boolean") return String(key);
  if (Array.isArray(key)) throw new TemplateProblem("a list cannot be a key in JSON");
  return text(key);
}
