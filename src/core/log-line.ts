import type { Logger } from "./logger.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
/** How much a line of the log matters, least first. */
export type LogLevel = (typeof LOG_LEVELS)[number];

export const isAtLeast = (level: LogLevel, least: LogLevel): boolean =>
  LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);

/** A line that a workflow wrote with `ctx.log`. */
export interface LogLine {
  readonly at: number;
  readonly level: LogLevel;
  readonly message: string;
  /** The step whose function wrote it; missing when the workflow's own function did. */
  readonly step?: string;
  readonly attempt?: number;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** What a logger with four methods does with a line of any level. */
export const toLevels = (
  tell: (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void,
): Logger => ({
  debug: (message, fields) => tell("debug", message, fields),
  info: (message, fields) => tell("info", message, fields),
  warn: (message, fields) => tell("warn", message, fields),
  error: (message, fields) => tell("error", message, fields),
});

const MOST_MESSAGE = 4_000;
const MOST_TEXT = 1_000;
const MOST_ENTRIES = 50;
const MOST_DEPTH = 4;
const MOST_FIELDS = 8_000;

/** A text with the secrets replaced that are known. */
export type Clean = (text: string) => string;

/** The message of a line: a text, whatever was given, and of limited length. */
export function logMessage(message: unknown, clean: Clean): string {
  const text = typeof message === "string" ? message : (JSON.stringify(plain(message, clean, 0)) ?? "");
  return cut(clean(text), MOST_MESSAGE);
}

/** Fields as plain data of limited size, without secrets. Never throws: a line of a log must not fail a run. */
export function logFields(fields: unknown, clean: Clean): Readonly<Record<string, unknown>> | undefined {
  if (typeof fields !== "object" || fields === null) return undefined;
  const found = fields instanceof Error ? { err: fields } : fields;
  try {
    const data = plain(found, clean, 0) as Record<string, unknown>;
    const text = JSON.stringify(data);
    if (text === "{}") return undefined;
    return text.length > MOST_FIELDS ? { cut: cut(text, MOST_TEXT) } : data;
  } catch {
    return { unreadable: true };
  }
}

function plain(value: unknown, clean: Clean, depth: number): unknown {
  if (typeof value === "string") return cut(clean(value), MOST_TEXT);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "boolean" || value === null || value === undefined) return value;
  if (typeof value !== "object") return typeof value === "bigint" ? String(value) : `a ${typeof value}`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof Error) return errorOf(value, clean);
  if (depth >= MOST_DEPTH) return "…";
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (value instanceof Map) return plain(Object.fromEntries(value), clean, depth);
  const items = value instanceof Set ? [...value] : value;
  if (Array.isArray(items)) return items.slice(0, MOST_ENTRIES).map((one) => plain(one, clean, depth + 1));
  const entries = Object.entries(items).slice(0, MOST_ENTRIES);
  return Object.fromEntries(entries.map(([key, one]) => [clean(key), plain(one, clean, depth + 1)]));
}

/** Named as pino names them. */
const errorOf = (error: Error, clean: Clean): Record<string, string> => ({
  type: error.name,
  message: cut(clean(error.message), MOST_TEXT),
  stack: cut(clean(error.stack ?? ""), MOST_MESSAGE),
});

/** Never in the middle of a pair of surrogates, which no store could keep. */
function cut(text: string, most: number): string {
  const whole = text.replace(/\p{Cs}/gu, "\ufffd");
  return whole.length <= most ? whole : `${whole.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…`;
}
