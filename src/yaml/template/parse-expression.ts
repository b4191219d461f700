import type { Arguments, Expression, FilterLink, Link, Operand } from "./ast.ts";
import type { Tokens } from "./tokens.ts";

/** The rules to apply: Jinja's, or those of a simple condition, which is a Python expression. */
export type Dialect = "jinja" | "python";

/** Words that end an expression where a value could stand. */
const COMPARE = ["==", "!=", "<", "<=", ">", ">="];
const CONSTANTS: Readonly<Record<string, unknown>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
};

/** Parses expressions with the precedence of Jinja's own parser. */
export class ExpressionParser {
  readonly tokens: Tokens;
  readonly #dialect: Dialect;
  /** Called with every name, so that macros know what they use. */
  readonly onName: (name: string) => void;

  constructor(tokens: Tokens, dialect: Dialect, onName: (name: string) => void) {
    this.tokens = tokens;
    this.#dialect = dialect;
    this.onName = onName;
  }

  /** One expression, or a tuple of several separated by commas. */
  tuple(options: { readonly withChoice?: boolean; readonly ends?: readonly string[] } = {}): Expression {
    const { withChoice = true, ends = [] } = options;
    const items: Expression[] = [];
    let isTuple = false;
    for (;;) {
      if (this.#isTupleEnd(ends)) break;
      items.push(this.expression(withChoice));
      if (this.tokens.operator(",") === undefined) break;
      isTuple = true;
    }
    const [only] = items;
    if (isTuple) return { type: "tuple", items };
    if (only) return only;
    throw this.tokens.problem(`an expression is expected instead of ${this.tokens.described()}`);
  }

  #isTupleEnd(ends: readonly string[]): boolean {
    return this.tokens.is("close") || this.tokens.is("operator", ")") || this.tokens.isWord(...ends);
  }

  expression(withChoice = true): Expression {
    return this.tokens.deeper(() => (withChoice ? this.#choice() : this.#logic("or")));
  }

  #choice(): Expression {
    let whenTrue = this.#logic("or");
    while (this.tokens.skip("name", "if")) {
      const test = this.#logic("or");
      const otherwise = this.tokens.skip("name", "else") ? this.expression() : undefined;
      whenTrue = { type: "choice", test, whenTrue, otherwise };
    }
    return whenTrue;
  }

  #logic(type: "or" | "and"): Expression {
    const part = (): Expression => (type === "or" ? this.#logic("and") : this.#not());
    const parts = [part()];
    while (this.tokens.skip("name", type)) parts.push(part());
    return parts.length === 1 ? (parts[0] as Expression) : { type, parts };
  }

  #not(): Expression {
    if (!this.tokens.skip("name", "not")) return this.#compare();
    return this.tokens.deeper(() => ({ type: "not", of: this.#not() }));
  }

  #compare(): Expression {
    const first = this.#sum();
    const rest: Operand[] = [];
    for (;;) {
      const operator = this.#comparison();
      if (operator === undefined) break;
      rest.push({ operator, right: this.#sum() });
    }
    return rest.length === 0 ? first : { type: "compare", first, rest };
  }

  #comparison(): string | undefined {
    const operator = this.tokens.operator(...COMPARE);
    if (operator !== undefined) return operator;
    if (this.tokens.skip("name", "in")) return "in";
    if (this.tokens.is("name", "not") && this.tokens.is("name", "in", 1)) {
      this.tokens.next();
      this.tokens.next();
      return "not in";
    }
    if (this.#dialect !== "python" || !this.tokens.skip("name", "is")) return undefined;
    return this.tokens.skip("name", "not") ? "is not" : "is";
  }

  #sum(): Expression {
    return this.#chain(["+", "-"], () => this.#concat());
  }

  #concat(): Expression {
    const parts = [this.#product()];
    while (this.#dialect === "jinja" && this.tokens.operator("~") !== undefined) parts.push(this.#product());
    return parts.length === 1 ? (parts[0] as Expression) : { type: "concat", parts };
  }

  #product(): Expression {
    return this.#chain(["*", "/", "//", "%"], () =>
      this.#dialect === "python" ? this.#signedPower() : this.#chain(["**"], () => this.#unary(true)),
    );
  }

  /** In Python a sign binds less tightly than a power, and powers associate to the right. */
  #signedPower(): Expression {
    const sign = this.tokens.operator("-", "+");
    if (sign !== undefined)
      return this.tokens.deeper(() => ({ type: "sign", sign: sign as "+" | "-", of: this.#signedPower() }));
    const first = this.#unary(true);
    if (this.tokens.operator("**") === undefined) return first;
    return this.tokens.deeper(() => ({
      type: "math",
      first,
      rest: [{ operator: "**", right: this.#signedPower() }],
    }));
  }

  #chain(operators: readonly string[], part: () => Expression): Expression {
    const first = part();
    const rest: Operand[] = [];
    for (;;) {
      const operator = this.tokens.operator(...operators);
      if (operator === undefined) break;
      rest.push({ operator, right: part() });
    }
    return rest.length === 0 ? first : { type: "math", first, rest };
  }

  #unary(withFilter: boolean): Expression {
    const sign = this.tokens.operator("-", "+");
    const base: Expression =
      sign === undefined
        ? this.#primary()
        : this.tokens.deeper(() => ({ type: "sign", sign: sign as "+" | "-", of: this.#unary(false) }));
    const links: Link[] = [];
    this.postfix(links);
    if (withFilter && this.#dialect === "jinja") this.#filters(links);
    return links.length === 0 ? base : { type: "path", base, links };
  }

  #primary(): Expression {
    const { tokens } = this;
    const token = tokens.current;
    if (token.type === "name") {
      tokens.next();
      if (Object.hasOwn(CONSTANTS, token.text)) return { type: "const", value: CONSTANTS[token.text] };
      this.onName(token.text);
      return { type: "name", name: token.text };
    }
    if (token.type === "string") {
      let value = "";
      while (tokens.is("string")) value += tokens.next().value as string;
      return { type: "const", value };
    }
    if (token.type === "number") return { type: "const", value: tokens.next().value };
    if (tokens.operator("(") !== undefined) {
      const inner: Expression = tokens.is("operator", ")") ? { type: "tuple", items: [] } : this.tuple();
      tokens.expect("operator", ")");
      return inner;
    }
    if (tokens.operator("[") !== undefined)
      return { type: "list", items: this.#until("]", () => this.expression()) };
    if (tokens.operator("{") !== undefined)
      return { type: "dict", pairs: this.#until("}", () => this.#pair()) };
    throw tokens.problem(`${tokens.described()} is not expected here`);
  }

  #pair(): readonly [Expression, Expression] {
    const key = this.expression();
    this.tokens.expect("operator", ":");
    return [key, this.expression()];
  }

  #until<T>(end: string, item: () => T): T[] {
    const items: T[] = [];
    while (this.tokens.operator(end) === undefined) {
      if (items.length > 0) this.tokens.expect("operator", ",");
      if (this.tokens.operator(end) !== undefined) break;
      items.push(item());
    }
    return items;
  }

  postfix(links: Link[]): void {
    for (;;) {
      if (this.tokens.operator(".") !== undefined) links.push(this.#attribute());
      else if (this.tokens.operator("[") !== undefined) links.push(this.#subscript());
      else if (this.tokens.is("operator", "(")) links.push({ type: "call", ...this.arguments() });
      else return;
    }
  }

  #attribute(): Link {
    const token = this.tokens.next();
    if (token.type === "name") return { type: "attribute", name: token.text };
    if (token.type !== "number" || typeof token.value !== "number")
      throw this.tokens.problem("a name or a number is expected behind the point", token.line);
    return { type: "item", key: { type: "const", value: token.value } };
  }

  #subscript(): Link {
    const part = (): Expression | undefined =>
      this.tokens.is("operator", ":") || this.tokens.is("operator", "]") ? undefined : this.expression();
    const first = part();
    if (!this.tokens.is("operator", ":")) {
      this.tokens.expect("operator", "]");
      if (first) return { type: "item", key: first };
      throw this.tokens.problem("[] needs something in it");
    }
    const parts = [first];
    while (parts.length < 3 && this.tokens.operator(":") !== undefined) parts.push(part());
    this.tokens.expect("operator", "]");
    return { type: "slice", parts };
  }

  arguments(): Arguments {
    const { line } = this.tokens.expect("operator", "(");
    const args: Expression[] = [];
    const named: (readonly [string, Expression])[] = [];
    this.#until(")", () => {
      if (this.tokens.is("operator", "*") || this.tokens.is("operator", "**"))
        throw this.tokens.problem("* and ** in calls are not supported");
      if (this.tokens.is("name") && this.tokens.is("operator", "=", 1)) {
        const name = this.tokens.next().text;
        this.tokens.next();
        named.push([name, this.expression()]);
        return;
      }
      if (named.length > 0) throw this.tokens.problem("values by place come before values by name");
      args.push(this.expression());
    });
    return { args, named, line };
  }

  #filters(links: Link[]): void {
    for (;;) {
      if (this.tokens.is("operator", "|")) links.push(...this.filters());
      else if (this.tokens.isWord("is")) links.push(this.#test());
      else if (this.tokens.is("operator", "(")) links.push({ type: "call", ...this.arguments() });
      else return;
    }
  }

  /** `|a|b(c)`. `isFirstBare`: the first has no bar, as in `{% filter a %}`. */
  filters(isFirstBare = false): FilterLink[] {
    const links: FilterLink[] = [];
    while ((isFirstBare && links.length === 0) || this.tokens.operator("|") !== undefined) {
      const { text: name, line } = this.#dotted();
      const given = this.tokens.is("operator", "(") ? this.arguments() : { args: [], named: [], line };
      links.push({ type: "filter", name, ...given });
    }
    return links;
  }

  #dotted(): { readonly text: string; readonly line: number } {
    const first = this.tokens.expect("name");
    let { text } = first;
    while (this.tokens.operator(".") !== undefined) text += `.${this.tokens.expect("name").text}`;
    return { text, line: first.line };
  }

  #test(): Link {
    this.tokens.next();
    const isNegated = this.tokens.skip("name", "not");
    const { text: name, line } = this.#dotted();
    if (this.tokens.is("operator", "(")) return { type: "test", name, isNegated, ...this.arguments() };
    const args = this.#isTestValue() ? [this.#testValue()] : [];
    return { type: "test", name, isNegated, args, named: [], line };
  }

  #isTestValue(): boolean {
    const { tokens } = this;
    if (tokens.isWord("is")) throw tokens.problem("tests with is cannot follow each other");
    if (tokens.is("name")) return !tokens.isWord("else", "or", "and");
    return (
      tokens.is("string") || tokens.is("number") || tokens.is("operator", "[") || tokens.is("operator", "{")
    );
  }

  #testValue(): Expression {
    const base = this.#primary();
    const links: Link[] = [];
    this.postfix(links);
    return links.length === 0 ? base : { type: "path", base, links };
  }
}
