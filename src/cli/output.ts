import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import { causesOf } from "../core/values/stack.ts";
import { plainJson } from "../core/values/unseen.ts";
import { describe, type ErrorDocument } from "./error-document.ts";
import { EXIT, type ExitCode, exitCodeOf } from "./exit-codes.ts";
import { chosenFields } from "./fields.ts";
import { width, wrap } from "./format.ts";
import type { Globals } from "./globals.ts";
import type { Host, Sink } from "./host.ts";
import type { Outcome } from "./outcome.ts";
import { fileError } from "./output-file.ts";
import { createPaint, type Paint } from "./paint.ts";
import { detectAgent, hasColor, wantsAscii } from "./surroundings.ts";

/** ASCII replacements for glyphs. */
const PLAIN: Readonly<Record<string, string>> = {
  "✓": "+",
  "✗": "x",
  "●": "*",
  "○": "o",
  "◌": "~",
  "‖": "=",
  "▶": ">",
  "·": "-",
  "→": "->",
  "…": "...",
  "│": "|",
  "—": "-",
  "–": "-",
  "≤": "<=",
  "“": '"',
  "”": '"',
};
const GLYPHS = new RegExp(`[${Object.keys(PLAIN).join("")}]`, "g");

/** Data goes to standard output, everything else to standard error. */
export class Output {
  /** Colours for standard output, and for standard error. */
  readonly paint: Paint;
  readonly note: Paint;
  /** The coding agent that reads this; `undefined` for people and scripts. */
  readonly agent: string | undefined;
  readonly #host: Host;
  readonly #globals: Globals;
  readonly #ascii: boolean;
  #log: ((line: string) => void) | undefined;
  /** Lets the live display move out of the way for a line. */
  #through: ((text: string) => void) | undefined;

  constructor(host: Host, globals: Globals) {
    const { env, stdout, stderr } = host;
    this.#host = host;
    this.#globals = globals;
    this.#ascii = wantsAscii(env, globals.ascii);
    this.agent = detectAgent(env);
    this.paint = createPaint(hasColor(env, stdout.isTTY, globals.color));
    this.note = createPaint(hasColor(env, stderr.isTTY, globals.color));
  }

  get isJson(): boolean {
    return this.#globals.json || this.#globals.jsonl;
  }

  /** A line of progress. */
  say(line = ""): void {
    if (!this.#globals.quiet) this.#progress(line);
  }

  /** Shown even with `--quiet`. */
  warn(line: string): void {
    this.#progress(`${this.note.yellow("!")} ${line}`);
  }

  /** A line for `--verbose`. */
  detail(line: string): void {
    if (this.#globals.verbose) this.#progress(this.note.dim(line));
  }

  #progress(line: string): void {
    const text = `${this.plain(wrapped(line, this.#host.stderr))}\n`;
    if (this.#through) this.#through(text);
    else this.#host.stderr.write(text);
  }

  /** Sends lines of progress through `write` from now on; returns a function that ends it. */
  drawThrough(write: (text: string) => void): () => void {
    this.#through = write;
    return () => (this.#through = undefined);
  }

  /** Replaces glyphs with ASCII if necessary. */
  plain(text: string): string {
    return this.#ascii ? text.replace(GLYPHS, (glyph) => PLAIN[glyph] as string) : text;
  }

  /** With `--jsonl`, writes one line of the stream. */
  record(line: Readonly<Record<string, unknown>>): void {
    this.#log?.(`${toJson(line)}\n`);
    if (this.#globals.jsonl) this.#host.stdout.write(`${toJson(line)}\n`);
  }

  /** Also passes every record to `write`. */
  logTo(write: (line: string) => void): void {
    this.#log = write;
  }

  /** Prints a command's result. */
  finish(command: string, { data, text, isValue, error, next = [], exit = EXIT.done }: Outcome): ExitCode {
    const { fields } = this.#globals;
    if (this.isJson) {
      const chosen = fields ? chosenFields(data, fields) : data;
      this.#document({ schema: schemaOf(command), ok: !error, ...defined({ error }), ...chosen });
      return exit;
    }
    if (error) this.#progress(this.errorText(error).join("\n"));
    if (text !== undefined && text !== "") {
      const shown = text.replace(/\n+$/, "");
      this.#host.stdout.write(this.plain(`${isValue ? shown : wrapped(shown, this.#host.stdout)}\n`));
    }
    if (this.agent !== undefined) for (const one of next) this.#host.stdout.write(`next: ${one}\n`);
    return exit;
  }

  /** Prints why a command failed. */
  fail(command: string, thrown: unknown): ExitCode {
    const error = fileError(thrown);
    const told = describe(error);
    if (this.isJson) this.#document({ schema: schemaOf(command), ok: false, error: told });
    else {
      this.#progress(this.errorText(told).join("\n"));
      if (this.#globals.verbose && error instanceof Error) this.#progress(this.note.dim(stackOf(error)));
    }
    return HoldfastError.is(error) ? exitCodeOf(error.code) : EXIT.failed;
  }

  #document(document: object): void {
    this.#host.stdout.write(`${toJson(document, this.#globals.jsonl ? undefined : 2)}\n`);
  }

  /** What, why, what is safe, how to fix it; the code is at the right of the first line. */
  errorText({ code, message, at = "", why, safe, fix, docs }: ErrorDocument): string[] {
    const { note } = this;
    const line = Math.max(60, Math.min(this.#host.stderr.columns, 110));
    const [first = "", ...others] = wrap(message, line - 12);
    const gap = " ".repeat(Math.max(2, line - width(first) - 2 - code.length));
    const more = docs === "" ? [] : [["More", docs] as const];
    const facts = [["At", at], ["Why", why], ["Safe", safe], ["Fix", fix.join("\n")], ...more] as const;
    const shown = facts.filter(([, text]) => text !== "");
    return [
      `${note.red("✗")} ${note.bold(first)}${gap}${note.dim(code)}`,
      ...others.map((text) => `  ${note.bold(text)}`),
      ...shown.flatMap(([label, text]) =>
        wrap(text, line - 8).map(
          (part, index) => `  ${note.dim((index === 0 ? label : "").padEnd(4))}  ${part}`,
        ),
      ),
    ];
  }
}

/** Breaks lines at spaces where a terminal would break them in the middle of a word; what follows is indented. */
function wrapped(text: string, { isTTY, columns }: Pick<Sink, "isTTY" | "columns">): string {
  if (!isTTY) return text;
  const lines = text.split("\n").map((line) => {
    if (width(line) <= columns) return line;
    const indent = /^ */.exec(line)?.[0] ?? "";
    const room = Math.max(20, columns - indent.length - 2);
    return indent + wrap(line.slice(indent.length), room).join(`\n${indent}  `);
  });
  return lines.join("\n");
}

export const schemaOf = (command: string): string => `holdfast/${command.replaceAll(" ", "-")}/v1`;

/** The whole stack: an unexpected error may be the engine's. Includes the causes, where user code is. */
const stackOf = (error: Error): string =>
  causesOf(error)
    .map((one, index) => `${index === 0 ? "" : "caused by "}${one.stack ?? ""}`)
    .join("\n");

/** Values of runs may contain more than JSON supports. */
function toJson(value: unknown, indent?: number): string {
  return plainJson(JSON.stringify(value, (_, one: unknown) => portable(one), indent));
}

function portable(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  if (value instanceof Error) return { name: value.name, message: value.message };
  return value;
}
