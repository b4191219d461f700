import { HoldfastError } from "../../core/errors.ts";
import type { Expression, MacroNode, Parameter, Statement, Target } from "./ast.ts";
import { lex, lexExpression } from "./lex.ts";
import { ExpressionParser } from "./parse-expression.ts";
import { TemplateProblem, TemplateSyntax } from "./problem.ts";
import { Tokens } from "./tokens.ts";
import { checkKey } from "./value.ts";

/** The template's tree, or the problem with it. */
export type Parsed<T> = { readonly body: T } | { readonly problem: string };

export const parseTemplate = (source: string): Parsed<readonly Statement[]> =>
  told(source, () => new Parser(new Tokens(lex(source))).template());

/** Parses a simple condition: a Python expression. */
export const parseCondition = (source: string): Parsed<Expression> =>
  told(source, () => {
    const tokens = new Tokens(lexExpression(source));
    const expression = new ExpressionParser(tokens, "python", () => undefined).expression();
    if (!tokens.is("end"))
      throw tokens.problem(`it is not one expression: ${tokens.described()} is left over`);
    return expression;
  });

function told<T>(source: string, parse: () => T): Parsed<T> {
  try {
    return { body: parse() };
  } catch (error) {
    if (error instanceof TemplateSyntax) {
      const isLong = source.trimEnd().includes("\n");
      return { problem: isLong ? `${error.message} (line ${error.line} of the template)` : error.message };
    }
    if (error instanceof TemplateProblem) return { problem: error.message };
    if (HoldfastError.is(error, "HF-1040")) return { problem: "it is nested too deeply" };
    throw error;
  }
}

/** Jinja statements that are left out, with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  include: "{% include %} is only for prompts that come from a file with !file",
  import: "{% import %} is not supported",
  from: "{% from %} is not supported",
  extends: "{% extends %} is not supported",
  autoescape: "{% autoescape %} is not supported: nothing is escaped automatically",
  print: "{% print %} is not supported: write {{ … }}",
};

class Parser {
  readonly #tokens: Tokens;
  readonly #expressions: ExpressionParser;
  /** The names used by each enclosing macro, innermost last. */
  readonly #used: Set<string>[] = [];
  readonly #blocks = new Set<string>();

  constructor(tokens: Tokens) {
    this.#tokens = tokens;
    this.#expressions = new ExpressionParser(tokens, "jinja", (name) => {
      for (const used of this.#used) used.add(name);
    });
  }

  template(): readonly Statement[] {
    const body = this.#body([]);
    if (!this.#tokens.is("end")) throw this.#tokens.problem(`${this.#tokens.described()} closes nothing`);
    return body;
  }

  /** Parses up to one of the words in `ends`, which is then the current token. */
  #body(ends: readonly string[]): Statement[] {
    const body: Statement[] = [];
    const tokens = this.#tokens;
    for (;;) {
      if (tokens.is("end")) {
        if (ends.length === 0) return body;
        throw tokens.problem(`the template ends before {% ${ends.at(-1)} %}`);
      }
      if (tokens.is("text")) body.push({ type: "text", text: tokens.next().text });
      else if (tokens.skip("open", "{{")) {
        body.push({ type: "print", value: this.#expressions.tuple() });
        tokens.expect("close", "}}");
      } else {
        tokens.expect("open", "{%");
        if (tokens.isWord(...ends)) return body;
        body.push(tokens.deeper(() => this.#statement()));
        tokens.expect("close", "%}");
      }
    }
  }

  /** Parses a statement's body from the end of its tag; also returns the word that ended it. */
  #inner(...ends: readonly string[]): { readonly body: Statement[]; readonly end: string } {
    this.#tokens.operator(":");
    this.#tokens.expect("close", "%}");
    const body = this.#body(ends);
    return { body, end: this.#tokens.next().text };
  }

  #statement(): Statement {
    const { text: word, line } = this.#tokens.expect("name");
    switch (word) {
      case "if":
        return this.#if();
      case "for":
        return this.#for();
      case "set":
        return this.#set();
      case "macro":
        return this.#macro(this.#tokens.expect("name").text, "endmacro");
      case "call":
        return this.#call();
      case "filter": {
        const filters = this.#expressions.filters(true);
        return { type: "filtered", filters, body: this.#inner("endfilter").body };
      }
      case "with":
        return this.#with();
      case "block":
        return this.#block();
      default:
        throw this.#tokens.problem(LEFT_OUT[word] ?? `there is no {% ${word} %}`, line);
    }
  }

  #if(): Statement {
    const branches: (readonly [Expression, readonly Statement[]])[] = [];
    for (;;) {
      const test = this.#expressions.tuple({ withChoice: false });
      const { body, end } = this.#inner("elif", "else", "endif");
      branches.push([test, body]);
      if (end === "elif") continue;
      return { type: "if", branches, otherwise: end === "else" ? this.#inner("endif").body : [] };
    }
  }

  #for(): Statement {
    const { line } = this.#tokens.current;
    const target = this.#target(false);
    if (target.type === "name" && target.name === "loop")
      throw this.#tokens.problem("loop is the loop's own name", line);
    this.#tokens.expect("name", "in");
    const over = this.#expressions.tuple({ withChoice: false, ends: ["recursive"] });
    const test = this.#tokens.skip("name", "if") ? this.#expressions.expression() : undefined;
    const isRecursive = this.#tokens.skip("name", "recursive");
    const { body, end } = this.#inner("endfor", "else");
    const otherwise = end === "else" ? this.#inner("endfor").body : [];
    return { type: "for", target, over, test, isRecursive, body, otherwise };
  }

  #set(): Statement {
    const target = this.#target(true);
    if (this.#tokens.operator("=") !== undefined)
      return { type: "set", target, value: this.#expressions.tuple() };
    const filters = this.#expressions.filters();
    return { type: "capture", target, filters, body: this.#inner("endset").body };
  }

  /** `withMember`: also accepts `namespace.name`. */
  #target(withMember: boolean): Target {
    const items: Target[] = [];
    let isTuple = false;
    for (;;) {
      items.push(this.#oneTarget(withMember));
      if (this.#tokens.operator(",") === undefined) break;
      isTuple = true;
      if (this.#tokens.isWord("in") || this.#tokens.is("operator", "=")) break;
    }
    return isTuple ? { type: "targets", items } : (items[0] as Target);
  }

  #oneTarget(withMember: boolean): Target {
    if (this.#tokens.operator("(") !== undefined) {
      const inner = this.#target(withMember);
      this.#tokens.expect("operator", ")");
      return inner;
    }
    const name = this.#newName();
    if (!withMember || this.#tokens.operator(".") === undefined) return { type: "name", name };
    this.#expressions.onName(name);
    return { type: "member", holder: name, name: this.#newName() };
  }

  #newName(): string {
    const { text } = this.#tokens.expect("name");
    checkKey(text);
    if (["true", "false", "none", "True", "False", "None"].includes(text))
      throw this.#tokens.problem(`${text} cannot be given a value`);
    return text;
  }

  /** `(a, b=1)`, then the body. */
  #macro(name: string, end: string, parameters = this.#parameters()): MacroNode {
    checkKey(name);
    const uses = new Set<string>();
    this.#used.push(uses);
    const { body } = this.#inner(end);
    this.#used.pop();
    return { type: "macro", name, parameters, body, uses };
  }

  #parameters(): readonly Parameter[] {
    const parameters: Parameter[] = [];
    this.#tokens.expect("operator", "(");
    while (this.#tokens.operator(")") === undefined) {
      if (parameters.length > 0) this.#tokens.expect("operator", ",");
      const name = this.#newName();
      const fallback = this.#tokens.operator("=") === undefined ? undefined : this.#expressions.expression();
      if (!fallback && parameters.at(-1)?.fallback)
        throw this.#tokens.problem(`${name} needs a default, as the one before it has one`);
      parameters.push({ name, fallback });
    }
    return parameters;
  }

  #call(): Statement {
    const parameters = this.#tokens.is("operator", "(") ? this.#parameters() : [];
    const call = this.#expressions.expression();
    if (call.type !== "path" || call.links.at(-1)?.type !== "call")
      throw this.#tokens.problem("{% call %} needs the call of a macro");
    return { type: "caller", macro: this.#macro("caller", "endcall", parameters), call };
  }

  #with(): Statement {
    const bindings: (readonly [Target, Expression])[] = [];
    while (!this.#tokens.is("close")) {
      if (bindings.length > 0) this.#tokens.expect("operator", ",");
      const target = this.#oneTarget(false);
      this.#tokens.expect("operator", "=");
      bindings.push([target, this.#expressions.expression()]);
    }
    return { type: "with", bindings, body: this.#inner("endwith").body };
  }

  #block(): Statement {
    const name = this.#newName();
    if (this.#blocks.has(name)) throw this.#tokens.problem(`there are two blocks ${name}`);
    this.#blocks.add(name);
    const isScoped = this.#tokens.skip("name", "scoped");
    if (this.#tokens.isWord("required")) throw this.#tokens.problem("required blocks are not supported");
    const { body } = this.#inner("endblock");
    this.#tokens.skip("name", name);
    return { type: "block", name, isScoped, body };
  }
}
