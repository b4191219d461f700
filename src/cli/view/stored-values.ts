import { HoldfastError } from "../../core/errors.ts";
import { Values } from "../../core/journal/values.ts";
import { silentLogger } from "../../core/logger.ts";
import type { Store } from "../../core/store/contract.ts";
import { Redactor } from "../../core/values/redact.ts";
import { count, fit, oneLine } from "../format.ts";

/** Reads values without an engine. */
export const valuesOf = (store: Store): Values =>
  new Values(
    store,
    { valueBytes: Number.POSITIVE_INFINITY, warnBytes: Number.POSITIVE_INFINITY },
    silentLogger,
  );

/** A value of a run, or why it isn't available: dropped by retention, damaged, or its key is missing. */
export type Fetched = { readonly value: unknown } | { readonly gone: string };

export async function fetched(read: () => unknown): Promise<Fetched> {
  try {
    return { value: await read() };
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    return { gone: error.code === "HF-1023" ? "dropped by retention" : `${error.code} ${error.message}` };
  }
}

const redactor = new Redactor({});

/** Removes keys of well-known services and the like, so that they aren't printed by accident. */
export const withoutSecrets = (text: string): string => redactor.text(text);

/** Field names that indicate a secret. */
const SECRET_NAME =
  /pass(word|wd|phrase)?$|secret|token$|api_?key|authorization|credential|private_?key|^key$/i;

export const isSecretName = (name: string): boolean => SECRET_NAME.test(name);

/** Replaces what is hidden without `--reveal`. */
export const MASK = "***";

/** One line of a value without secrets, cut to `columns`. */
export function summary(value: unknown, columns: number): string {
  return fit(oneLine(redactor.text(brief(value, 0))), columns);
}

/** Fields of an object as `key=value`; deeper values only by their size. */
function brief(value: unknown, depth: number): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (ArrayBuffer.isView(value)) return `${count(value.byteLength)} bytes`;
  if (Array.isArray(value))
    return depth > 0 || value.length > 3 ? `[${count(value.length)}]` : listed(value, depth);
  const entries = Object.entries(value);
  if (depth > 0) return `{${count(entries.length)}}`;
  return entries.map(([key, one]) => `${key}=${isSecretName(key) ? MASK : brief(one, depth + 1)}`).join(" ");
}

const listed = (values: readonly unknown[], depth: number): string =>
  `[${values.map((one) => brief(one, depth + 1)).join(", ")}]`;

/** A value as data with shortened texts and without secrets: enough to recognise it. */
export function masked(value: unknown, longest = 60): unknown {
  if (typeof value === "string") return fit(redactor.text(value), longest);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Error)
    return { name: value.name, message: fit(redactor.text(value.message), longest) };
  if (value instanceof Date || ArrayBuffer.isView(value)) return summary(value, longest);
  if (Array.isArray(value)) return cutList(value, longest);
  const entries =
    value instanceof Map
      ? [...value].map(([key, one]) => [String(key), one] as const)
      : Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, one]) => [key, isSecretName(key) ? MASK : masked(one, longest)]),
  );
}

const MOST_ITEMS = 20;

function cutList(values: readonly unknown[], longest: number): unknown[] {
  const shown = values.slice(0, MOST_ITEMS).map((one) => masked(one, longest));
  return values.length > MOST_ITEMS ? [...shown, `… ${count(values.length - MOST_ITEMS)} more`] : shown;
}

/** The value with `--reveal`, otherwise its masked form. */
export const shownValue = (value: unknown, reveal: boolean): unknown => (reveal ? value : masked(value));
