import { ParseBudget } from "../../core/values/parse-budget.ts";
import type { Expression, FilterLink, ForNode, MacroNode, Statement, Target } from "./ast.ts";
import { Expressions } from "./evaluate.ts";
import { CONDITION_FUNCTIONS, globals } from "./functions.ts";
import { Loop, type LoopState } from "./loop.ts";
import { TemplateProblem, tooLarge } from "./problem.ts";
import { Scope } from "./scope.ts";
import {
  Callable,
  Dict,
  Missing,
  makeList,
  type Named,
  Namespace,
  need,
  type Plain,
  sequence,
  text,
} from "./value.ts";

export interface Limits {
  /** Characters of output. */
  readonly output: number;
  /** Numbers that range() may produce. */
  readonly range: number;
  /** Units of work: evaluated nodes, and items and characters processed. */
  readonly work: number;
  /** Nesting of macros and recursive loops. */
  readonly depth: number;
}

/** The cost of a loop iteration besides its body. */
const PER_TURN = 3;

/** Evaluates a simple condition. */
export function evaluateCondition(condition: Expression, data: Plain, limits: Limits): unknown {
  const budget = new ParseBudget("a condition", { work: limits.work, depth: limits.depth });
  return need(new Expressions(budget, limits.output, CONDITION_FUNCTIONS).value(condition, new Scope(data)));
}

/** Renders a template over plain data. */
export class Renderer {
  readonly #expressions: Expressions;
  readonly #limits: Limits;
  readonly #root: Scope;
  #parts: string[] = [];
  #size = 0;

  constructor(data: Plain, limits: Limits) {
    this.#limits = limits;
    this.#root = new Scope(data);
    const budget = new ParseBudget("a template", { work: limits.work, depth: limits.depth });
    this.#expressions = new Expressions(budget, limits.output, globals(limits.range));
  }

  render(body: readonly Statement[]): string {
    this.#body(body, this.#root);
    return this.#parts.join("");
  }

  #write(part: string): void {
    this.#size += part.length;
    if (this.#size > this.#limits.output) throw tooLarge(this.#limits.output);
    this.#parts.push(part);
  }

  /** Returns a body's output instead of writing it. */
  captured(body: readonly Statement[], scope: Scope): string {
    return this.#capture(() => this.#body(body, scope));
  }

  #capture(write: () => void): string {
    const before = this.#parts;
    this.#parts = [];
    write();
    const written = this.#parts.join("");
    this.#parts = before;
    return written;
  }

  #body(body: readonly Statement[], scope: Scope): void {
    for (const statement of body) this.#statement(statement, scope);
  }

  #statement(statement: Statement, scope: Scope): void {
    this.#expressions.spend(1);
    switch (statement.type) {
      case "text":
        return this.#write(statement.text);
      case "print":
        return this.#write(
          text(this.#expressions.weighed(need(this.#expressions.value(statement.value, scope)))),
        );
      case "if":
        return this.#if(statement, scope);
      case "for":
        return this.#for(statement, this.#expressions.value(statement.over, scope), scope, 0);
      case "set":
        return this.#bind(statement.target, this.#expressions.value(statement.value, scope), scope);
      case "capture": {
        const written = this.captured(statement.body, new Scope(scope));
        return this.#bind(statement.target, this.#filtered(written, statement.filters, scope), scope);
      }
      case "macro":
        scope.names.set(statement.name, new Macro(statement, scope, this, this.#expressions));
        return undefined;
      default:
        return this.#inner(statement, scope);
    }
  }

  #inner(
    statement: Extract<Statement, { type: "caller" | "filtered" | "with" | "block" }>,
    scope: Scope,
  ): void {
    const inner = new Scope(scope);
    switch (statement.type) {
      case "caller":
        return this.#write(text(this.#call(statement, scope)));
      case "filtered":
        return this.#write(
          text(need(this.#filtered(this.captured(statement.body, inner), statement.filters, scope))),
        );
      case "with":
        for (const [target, value] of statement.bindings)
          this.#bind(target, this.#expressions.value(value, scope), inner);
        return this.#body(statement.body, inner);
      default:
        return this.#body(statement.body, statement.isScoped ? inner : new Scope(this.#root));
    }
  }

  #if({ branches, otherwise }: Extract<Statement, { type: "if" }>, scope: Scope): void {
    const taken = branches.find(([test]) => this.#expressions.truth(test, scope));
    this.#body(taken ? taken[1] : otherwise, scope);
  }

  #for(node: ForNode, over: unknown, scope: Scope, depth: number): void {
    const { target, test, body } = node;
    const all = this.#expressions.measured(sequence(need(over)));
    const items = test
      ? all.filter((item) => {
          const inner = new Scope(scope);
          this.#bind(target, item, inner);
          return this.#expressions.truth(test, inner);
        })
      : all;
    if (items.length === 0) return this.#body(node.otherwise, new Scope(scope));
    const again = node.isRecursive
      ? (inner: unknown) =>
          this.#capture(() => this.#expressions.deeper(() => this.#for(node, inner, scope, depth + 1)))
      : undefined;
    const state: LoopState = { items, depth, again };
    for (const [index, item] of items.entries()) {
      this.#expressions.spend(PER_TURN);
      const inner = new Scope(scope);
      inner.names.set("loop", new Loop(state, index));
      this.#bind(target, item, inner);
      this.#body(body, inner);
    }
  }

  #bind(target: Target, value: unknown, scope: Scope): void {
    if (target.type === "name") {
      scope.names.set(target.name, value);
      return;
    }
    if (target.type === "member") {
      const holder = scope.find(target.holder);
      if (!(holder instanceof Namespace))
        throw new TemplateProblem("only names, and what a namespace() holds, can be set");
      holder.values.set(target.name, value);
      return;
    }
    const values = sequence(need(value));
    if (values.length !== target.items.length)
      throw new TemplateProblem(`${values.length} values do not fit ${target.items.length} names`);
    for (const [index, one] of target.items.entries()) this.#bind(one, values[index], scope);
  }

  #filtered(value: unknown, filters: readonly FilterLink[], scope: Scope): unknown {
    return this.#expressions.follow(value, filters, scope, "(…)");
  }

  #call({ macro, call }: Extract<Statement, { type: "caller" }>, scope: Scope): unknown {
    const last = call.links.at(-1);
    if (last?.type !== "call") return "";
    const { args, named } = this.#expressions.arguments(last, scope);
    const before = this.#expressions.value(call.base, scope);
    const callee = this.#expressions.follow(before, call.links.slice(0, -1), scope, "(…)");
    named.set("caller", new Macro(macro, scope, this, this.#expressions));
    return this.#expressions.call(callee, args, named);
  }
}

/** A macro of the template, with the names around its definition. */
class Macro extends Callable {
  readonly name: string;
  readonly #node: MacroNode;
  readonly #scope: Scope;
  readonly #renderer: Renderer;
  readonly #expressions: Expressions;

  constructor(node: MacroNode, scope: Scope, renderer: Renderer, expressions: Expressions) {
    super();
    this.name = node.name;
    [this.#node, this.#scope, this.#renderer, this.#expressions] = [node, scope, renderer, expressions];
  }

  call(args: readonly unknown[], named: Named): string {
    const inner = new Scope(this.#scope);
    const rest = new Map(named);
    const { parameters, uses, body } = this.#node;
    for (const [index, { name, fallback }] of parameters.entries()) {
      const given = index < args.length ? args[index] : rest.get(name);
      if (index >= args.length) rest.delete(name);
      const value = given !== undefined ? given : fallback && this.#expressions.value(fallback, inner);
      inner.names.set(name, value === undefined ? new Missing(`the parameter ${name}`, []) : value);
    }
    const isOwn = (name: string): boolean => uses.has(name) && !parameters.some((one) => one.name === name);
    if (isOwn("caller")) {
      inner.names.set("caller", rest.get("caller") ?? new Missing("caller", []));
      rest.delete("caller");
    }
    if (isOwn("kwargs")) inner.names.set("kwargs", new Dict(rest));
    else if (rest.size > 0)
      throw new TemplateProblem(`the macro ${this.name} takes no ${[...rest.keys()][0]}`);
    if (isOwn("varargs")) inner.names.set("varargs", makeList(args.slice(parameters.length), "tuple"));
    else if (args.length > parameters.length)
      throw new TemplateProblem(`the macro ${this.name} takes at most ${parameters.length} values`);
    return this.#expressions.deeper(() => this.#renderer.captured(body, inner));
  }
}
