import { makeFloat } from "./numbers.ts";
import { TemplateSyntax } from "./problem.ts";
import { stripped, SPACE as WHITE_SPACE } from "./python-text.ts";

export type TokenType = "text" | "open" | "close" | "name" | "string" | "number" | "operator" | "end";

export interface Token {
  readonly type: TokenType;
  /** The text of a name or operator; for `open` and `close`: `{{`, `{%`, `}}`, `%}`. */
  readonly text: string;
  /** The value of a string or number. */
  readonly value: unknown;
  readonly line: number;
}

const SPACE = `[${WHITE_SPACE}]`;
const RAW_OPEN = new RegExp(`\\{%[-+]?${SPACE}*raw${SPACE}*(?:-%\\}${SPACE}*|%\\})`, "y");
const RAW_CLOSE = new RegExp(`\\{%([-+]?)${SPACE}*endraw${SPACE}*(?:\\+%\\}|-%\\}${SPACE}*|%\\})`, "g");
const SPACES = new RegExp(`${SPACE}+`, "y");
const CLOSE: Readonly<Record<string, RegExp>> = {
  "{{": new RegExp(`-\\}\\}${SPACE}*|\\}\\}`, "y"),
  "{%": new RegExp(`\\+%\\}|-%\\}${SPACE}*|%\\}`, "y"),
};
const COMMENT_CLOSE = new RegExp(`\\+#\\}|-#\\}${SPACE}*|#\\}`, "g");
const FLOAT = /(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/iy;
const INTEGER = /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy;
const NAME = /[\p{L}\p{N}\p{M}_]+/uy;
const STRING = /'[^'\\]*(?:\\[^][^'\\]*)*'|"[^"\\]*(?:\\[^][^"\\]*)*"/y;
const OPERATOR = /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,;]/y;
/** More than any prompt needs; each token costs about a microsecond. */
const MOST_TOKENS = 20_000;
const BRACKETS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** Splits a template into text and the tokens of its tags, by the rules of Jinja with `keep_trailing_newline`. */
export function lex(source: string): Token[] {
  return new Lexer(source.replace(/\r\n?/g, "\n")).all();
}

/** The tokens of a single expression. */
export function lexExpression(source: string): Token[] {
  return new Lexer(source.replace(/\r\n?/g, "\n")).expression();
}

class Lexer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #at = 0;
  #line = 1;

  constructor(source: string) {
    this.#source = source;
  }

  all(): Token[] {
    const begin = /\{[{%#]/g;
    for (;;) {
      begin.lastIndex = this.#at;
      const found = begin.exec(this.#source);
      if (!found) break;
      this.#tag(found[0], found.index);
    }
    this.#text(this.#source.slice(this.#at));
    this.#push("end", "");
    return this.#tokens;
  }

  expression(): Token[] {
    const closing: string[] = [];
    while (this.#at < this.#source.length) if (!this.#skip(SPACES)) this.#token(closing);
    this.#push("end", "");
    return this.#tokens;
  }

  #tag(open: string, index: number): void {
    const control = this.#source[index + 2];
    const before = this.#source.slice(this.#at, index);
    this.#text(control === "-" ? stripped(before, undefined, "right") : before, before);
    this.#at = index;
    if (open === "{#") return this.#comment();
    if (open === "{%" && this.#skip(RAW_OPEN)) return this.#raw();
    this.#advance(open + (control === "-" || control === "+" ? control : ""));
    this.#push("open", open);
    this.#inside(open);
  }

  /** `original`: the text before trimming, whose length locates the next one. */
  #text(text: string, original = text): void {
    if (text !== "") this.#push("text", text);
    this.#advance(original);
  }

  #comment(): void {
    COMMENT_CLOSE.lastIndex = this.#at + 2;
    const close = COMMENT_CLOSE.exec(this.#source);
    if (!close) throw this.#problem("a comment is not closed: #} is missing");
    this.#advance(this.#source.slice(this.#at, COMMENT_CLOSE.lastIndex));
  }

  #raw(): void {
    RAW_CLOSE.lastIndex = this.#at;
    const close = RAW_CLOSE.exec(this.#source);
    if (!close) throw this.#problem("{% raw %} is not closed: {% endraw %} is missing");
    const text = this.#source.slice(this.#at, close.index);
    this.#text(close[1] === "-" ? stripped(text, undefined, "right") : text, text);
    this.#advance(close[0]);
  }

  #inside(open: string): void {
    const close = CLOSE[open] as RegExp;
    const closing: string[] = [];
    for (;;) {
      if (this.#at >= this.#source.length)
        throw this.#problem(`${open} is not closed: ${open === "{{" ? "}}" : "%}"} is missing`);
      if (closing.length === 0) {
        close.lastIndex = this.#at;
        const found = close.exec(this.#source);
        if (found) {
          this.#push("close", open === "{{" ? "}}" : "%}");
          return this.#advance(found[0]);
        }
      }
      if (!this.#skip(SPACES)) this.#token(closing);
    }
  }

  #token(closing: string[]): void {
    const float = this.#source[this.#at - 1] === "." ? undefined : this.#match(FLOAT);
    if (float !== undefined) return this.#push("number", float, makeFloat(Number(float.replaceAll("_", ""))));
    const integer = this.#match(INTEGER);
    if (integer !== undefined) return this.#push("number", integer, this.#whole(integer.replaceAll("_", "")));
    const name = this.#match(NAME);
    if (name !== undefined) return this.#push("name", name);
    const string = this.#match(STRING);
    if (string !== undefined) return this.#push("string", string, this.#unescaped(string.slice(1, -1)));
    const operator = this.#match(OPERATOR);
    if (operator === undefined) throw this.#problem(`${this.#source[this.#at]} is not expected here`);
    if (BRACKETS[operator]) closing.push(BRACKETS[operator]);
    else if (")]}".includes(operator) && closing.pop() !== operator)
      throw this.#problem(`${operator} closes nothing`);
    this.#push("operator", operator);
  }

  #whole(digits: string): number {
    const value = Number(digits);
    if (Number.isSafeInteger(value)) return value;
    throw this.#problem(`${digits} is too large: whole numbers go up to ${Number.MAX_SAFE_INTEGER}`);
  }

  /** Escapes in strings follow Python. */
  #unescaped(text: string): string {
    return text.replace(ESCAPE, (whole, code: string) => {
      const plain = PLAIN_ESCAPES[code];
      if (plain !== undefined) return plain;
      if (/^[0-7]/.test(code)) return String.fromCharCode(Number.parseInt(code, 8));
      if (/^x[\da-f]{2}|^u[\da-f]{4}|^U[\da-f]{8}/i.test(code)) {
        const point = Number.parseInt(code.slice(1), 16);
        if (point <= 0x10ffff) return String.fromCodePoint(point);
      }
      if (/^[xuUN]/.test(code)) throw this.#problem(`the escape ${whole} is not complete or not supported`);
      return whole;
    });
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source)?.[0];
    if (found !== undefined) this.#advance(found);
    return found;
  }

  #skip(pattern: RegExp): boolean {
    return this.#match(pattern) !== undefined;
  }

  #advance(text: string): void {
    this.#at += text.length;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) this.#line += 1;
  }

  #push(type: TokenType, text: string, value?: unknown): void {
    if (this.#tokens.length >= MOST_TOKENS) throw this.#problem(`it has more than ${MOST_TOKENS} parts`);
    this.#tokens.push({ type, text, value, line: this.#line });
  }

  #problem(message: string): TemplateSyntax {
    return new TemplateSyntax(message, this.#line);
  }
}

const ESCAPE = /\\([0-7]{1,3}|x[\da-fA-F]{0,2}|u[\da-fA-F]{0,4}|U[\da-fA-F]{0,8}|[^])/g;
const PLAIN_ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  v: "\v",
  "\n": "",
};
