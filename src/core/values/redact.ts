import { badOption } from "../check-options.ts";
import { HoldfastError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import type { Waiting } from "../types.ts";
import { DETECTORS } from "./redact-detectors.ts";
import { checkPattern, type RedactionPattern } from "./redact-pattern.ts";

/**
 * What to keep out of the journal, the log and error texts. A match is replaced with `[redacted:kind]`, for the run
 * itself too: it sees the same while it runs and after a resume.
 *
 * @example
 * ```ts
 * import type { Redaction } from "holdfast/manage";
 *
 * export const redact: Redaction = {
 *   patterns: [{ kind: "customer-number", pattern: /\bC-\d{8}\b/ }],
 *   values: ["a password that must never be stored"],
 * };
 * ```
 */
export interface Redaction {
  /** Keys of well-known services, bearer tokens, JSON Web Tokens and private keys. Default true. */
  readonly builtIn?: boolean;
  /** Additional patterns. An expression that could take very long on some text is refused (HF-1032). */
  readonly patterns?: readonly RedactionPattern[];
  /** Known secrets of at least 6 characters. */
  readonly values?: readonly string[];
}

/** A shorter secret would match everywhere. */
export const LEAST_SECRET = 6;
/**
 * User patterns see a long text in pieces, so that none takes long; a match up to `OVERLAP` long is found wherever it
 * is.
 */
const PIECE = 4_096;
const OVERLAP = 512;

const KIND = /^[\w-]{1,40}$/;

/** Replaces secrets in texts. */
export class Redactor {
  readonly #detectors: readonly RedactionPattern[];
  readonly #any: RegExp | undefined;
  readonly #patterns: readonly RedactionPattern[];
  /** Every form of each known secret, longest first. */
  #known: { readonly text: string; readonly mark: string }[] = [];

  constructor({ builtIn = true, patterns = [], values = [] }: Redaction) {
    this.#detectors = builtIn ? DETECTORS : [];
    this.#any = builtIn ? new RegExp(DETECTORS.map(({ pattern }) => pattern.source).join("|")) : undefined;
    this.#patterns = patterns.map(prepared);
    for (const value of values) this.know("value", value);
  }

  /** Keeps `value` out from now on. */
  know(kind: string, value: string): void {
    if (typeof value !== "string" || value.length < LEAST_SECRET)
      throw new HoldfastError("HF-1031", { name: kind, least: LEAST_SECRET });
    const mark = `[redacted:${kind}]`;
    for (const text of formsOf(value))
      if (!this.#known.some((one) => one.text === text)) this.#known.push({ text, mark });
    this.#known.sort((a, b) => b.text.length - a.text.length);
  }

  text(text: string): string {
    let clean = text;
    for (const { text: secret, mark } of this.#known)
      if (clean.includes(secret)) clean = clean.replaceAll(secret, mark);
    if (this.#any?.test(clean))
      for (const { kind, pattern } of this.#detectors) clean = clean.replace(pattern, `[redacted:${kind}]`);
    for (const { kind, pattern } of this.#patterns) clean = inPieces(clean, pattern, `[redacted:${kind}]`);
    return clean;
  }

  /** Redacts the free text of an event's head; names stay. */
  event<E extends { readonly meta: object }>(event: E): E {
    const meta: FreeText = event.meta;
    const { message, reason, waiting, model, usage } = meta;
    const isFree = [message, reason, waiting, model, usage?.model].some((one) => one !== undefined);
    if (!isFree) return event;
    const clean: FreeText = {
      ...(message === undefined ? {} : { message: this.text(message) }),
      ...(reason === undefined ? {} : { reason: this.text(reason) }),
      ...(waiting === undefined ? {} : { waiting: waiting.map((wait) => this.#wait(wait)) }),
      ...(model === undefined ? {} : { model: this.text(model) }),
      ...(usage?.model === undefined ? {} : { usage: { ...usage, model: this.text(usage.model) } }),
    };
    return { ...event, meta: { ...meta, ...clean } };
  }

  #wait(wait: Waiting): Waiting {
    return wait.detail === undefined ? wait : { ...wait, detail: this.text(wait.detail) };
  }

  /** Wraps a logger so that it only receives clean texts. */
  logger(inner: Logger): Logger {
    const through = (level: keyof Logger) => (message: string, fields?: Readonly<Record<string, unknown>>) =>
      inner[level](this.text(message), fields && this.#fields(fields));
    return {
      debug: through("debug"),
      info: through("info"),
      warn: through("warn"),
      error: through("error"),
    };
  }

  #fields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const clean = (value: unknown) => (typeof value === "string" ? this.text(value) : value);
    return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, clean(value)]));
  }
}

interface FreeText {
  readonly message?: string;
  readonly reason?: string;
  readonly waiting?: readonly Waiting[];
  readonly model?: string;
  readonly usage?: { readonly model?: string };
}

function prepared({ kind, pattern }: RedactionPattern): RedactionPattern {
  if (typeof kind !== "string" || !KIND.test(kind))
    throw badOption("redact.patterns.kind", "it is not a short name");
  checkPattern(kind, pattern);
  const flags = [...new Set(`${pattern.flags.replace("y", "")}g`)].join("");
  return { kind, pattern: new RegExp(pattern.source, flags) };
}

/** The secret as it is, and in a URL, inside JSON, in hexadecimal, and in base64, alone or inside something longer. */
function formsOf(value: string): readonly string[] {
  const bytes = new TextEncoder().encode(value);
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const whole = base64Of(bytes, 0).replace(/=+$/, "");
  const base64 = [whole, ...[0, 1, 2].map((before) => insideBase64(bytes, before))];
  const forms = [
    value,
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
    hex,
    hex.toUpperCase(),
  ];
  return [...new Set([...forms, ...base64, ...base64.map(urlSafe)])].filter(
    (form) => form === value || form.length >= LEAST_SECRET,
  );
}

const base64Of = (bytes: Uint8Array, before: number): string =>
  btoa("\0".repeat(before) + Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

/** Its base64 after `before` other bytes, without the letters that depend on the bytes around it. */
function insideBase64(bytes: Uint8Array, before: number): string {
  const from = Math.ceil((before * 8) / 6);
  const to = Math.floor(((before + bytes.length) * 8) / 6);
  return base64Of(bytes, before).slice(from, to);
}

const urlSafe = (text: string): string => text.replaceAll("+", "-").replaceAll("/", "_");

function inPieces(text: string, pattern: RegExp, mark: string): string {
  if (text.length <= PIECE) return text.replace(pattern, mark);
  let clean = "";
  let from = 0;
  while (from < text.length) {
    const end = Math.min(text.length, from + PIECE);
    // A match that begins in the overlap may continue after the piece: the next piece begins with it.
    const limit = end === text.length ? end : end - OVERLAP;
    let at = from;
    pattern.lastIndex = 0;
    for (const match of text.slice(from, end).matchAll(pattern)) {
      const start = from + match.index;
      if (start >= limit && start > from) break;
      clean += text.slice(at, start) + (match[0] === "" ? "" : mark);
      at = start + match[0].length;
    }
    const next = Math.max(at, limit);
    clean += text.slice(at, next);
    from = next;
  }
  return clean;
}
