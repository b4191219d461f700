import { isPrototypeKey } from "../../core/run/scope.ts";

/** Something in a template goes wrong. Who renders says in which template. */
export class TemplateProblem extends Error {
  override readonly name = "TemplateProblem";
}

/** A name or path that leads nowhere. It may be asked whether it is defined; every other use is a problem. */
export class Missing {
  readonly path: string;
  readonly known: readonly string[];

  constructor(path: string, known: readonly string[]) {
    this.path = path;
    this.known = known;
  }
}

export const tooLarge = (most: number): TemplateProblem =>
  new TemplateProblem(`it comes to more than ${most} characters`);

/** Most characters that one replacement may add up to, before it is made. */
const MOST_REPLACED = 1_048_576;

export function replaced(whole: string, from: string, to: string): string {
  const times = from === "" ? whole.length + 1 : whole.split(from).length - 1;
  if (whole.length + times * to.length > MOST_REPLACED) throw tooLarge(MOST_REPLACED);
  return whole.replaceAll(from, () => to);
}

export type Plain = Readonly<Record<string, unknown>>;

export const isPlain = (value: unknown): value is Plain =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Missing);

/** Names that reach behind plain data have no meaning in a template. */
export function checkKey(key: string): void {
  if (isPrototypeKey(key) || key.startsWith("__"))
    throw new TemplateProblem(`${key} cannot be asked for in a template`);
}

export function truthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isPlain(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, index) => same(one, b[index]));
  if (!isPlain(a) || !isPlain(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]))
  );
}

/** As text in a prompt: scalars as Jinja writes them, lists and objects as JSON. */
export function text(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "number" ? String(value) : json(value);
}

export function json(value: unknown, indent = 0): string {
  return JSON.stringify(value ?? null, undefined, indent);
}

export function nameOfKind(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (Array.isArray(value)) return "a list";
  return (
    { string: "a text", number: "a number", boolean: "a boolean" }[typeof value as string] ?? "an object"
  );
}

/** What a loop goes over: a list, a text's characters, an object's keys. */
export function sequence(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value === "string") return Array.from(value);
  if (isPlain(value)) return Object.keys(value);
  throw new TemplateProblem(`${nameOfKind(value)} cannot be gone through`);
}

export function order(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  throw new TemplateProblem(`${nameOfKind(a)} and ${nameOfKind(b)} cannot be compared`);
}
