import { ParseBudget } from "../../core/values/parse-budget.ts";
import type { Token, TokenType } from "./lex.ts";
import { TemplateSyntax } from "./problem.ts";

const DEPTH = 100;

/** A cursor over the tokens of a template, with the parser's queries. */
export class Tokens {
  readonly #all: readonly Token[];
  readonly #budget = new ParseBudget("a template", { depth: DEPTH });
  #at = 0;

  constructor(all: readonly Token[]) {
    this.#all = all;
  }

  get current(): Token {
    return this.#all[this.#at] as Token;
  }

  next(): Token {
    const token = this.current;
    if (token.type !== "end") this.#at += 1;
    return token;
  }

  /** True when the current token, or the one `ahead` of it, matches. */
  is(type: TokenType, text?: string, ahead = 0): boolean {
    const token = this.#all[this.#at + ahead];
    return token?.type === type && (text === undefined || token.text === text);
  }

  isWord(...words: readonly string[]): boolean {
    return this.current.type === "name" && words.includes(this.current.text);
  }

  skip(type: TokenType, text: string): boolean {
    if (!this.is(type, text)) return false;
    this.next();
    return true;
  }

  operator(...among: readonly string[]): string | undefined {
    if (this.current.type !== "operator" || !among.includes(this.current.text)) return undefined;
    return this.next().text;
  }

  expect(type: TokenType, text?: string): Token {
    if (this.is(type, text)) return this.next();
    throw this.problem(`${text ?? `a ${type}`} is expected instead of ${this.described()}`);
  }

  described(): string {
    const { type, text } = this.current;
    if (type === "end") return "the end";
    return type === "text" ? "text" : text;
  }

  problem(message: string, line = this.current.line): TemplateSyntax {
    return new TemplateSyntax(message, line);
  }

  /** Runs `inner` one level deeper; nesting is limited. */
  deeper<T>(inner: () => T): T {
    return this.#budget.deeper(inner);
  }
}
