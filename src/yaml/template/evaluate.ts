import { nearest } from "../../core/nearest.ts";
import type { CallNode, KeywordNode, MacroNode, MemberNode, Name, Node, SliceNode } from "./ast.ts";
import { ALIASES, FILTERS, TESTS } from "./filters.ts";
import { callMethod } from "./methods.ts";
import { binary, negative } from "./operators.ts";
import {
  checkKey,
  isPlain,
  Missing,
  nameOfKind,
  type Plain,
  sequence,
  TemplateProblem,
  text,
  tooLarge,
  truthy,
} from "./value.ts";

export interface Limits {
  /** Characters that a template may come to. */
  readonly output: number;
  /** Numbers that range() may make. */
  readonly range: number;
  /** Nodes that may be evaluated: what nested loops may cost. */
  readonly work: number;
}

class Scope {
  readonly names = new Map<string, unknown>();
  readonly #outer: Scope | Plain;

  constructor(outer: Scope | Plain) {
    this.#outer = outer;
  }

  find(name: string): unknown {
    if (this.names.has(name)) return this.names.get(name);
    if (this.#outer instanceof Scope) return this.#outer.find(name);
    return Object.hasOwn(this.#outer, name) ? this.#outer[name] : new Missing(name, Object.keys(this.#outer));
  }
}

type Jump = "break" | "continue" | undefined;

class Macro {
  readonly node: MacroNode;
  constructor(node: MacroNode) {
    this.node = node;
  }
}

/** A value that the template itself may change: `namespace()`. */
class Namespace {
  readonly values: Record<string, unknown> = {};
}

const CONSTANTS: Readonly<Record<string, unknown>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
};

export const GLOBALS: readonly string[] = ["range", "dict", "namespace", ...Object.keys(CONSTANTS)];

/** Walks a template's tree over plain data. It can reach nothing else: there are no functions but those named here. */
export class Evaluator {
  readonly #limits: Limits;
  #parts: string[] = [];
  #size = 0;
  #work = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  render(body: readonly Node[], data: Plain): string {
    this.#block(body, new Scope(data));
    return this.#parts.join("");
  }

  value(node: Node, data: Plain): unknown {
    return need(this.#value(node, new Scope(data)));
  }

  #write(part: string): void {
    this.#size += part.length;
    if (this.#size > this.#limits.output) throw tooLarge(this.#limits.output);
    this.#parts.push(part);
  }

  /** What a block writes, instead of writing it. */
  #captured(body: readonly Node[], scope: Scope): string {
    const before = this.#parts;
    this.#parts = [];
    this.#block(body, scope);
    const written = this.#parts.join("");
    this.#parts = before;
    return written;
  }

  #block(body: readonly Node[], scope: Scope): Jump {
    for (const node of body) {
      const jump = this.#statement(node, scope);
      if (jump) return jump;
    }
    return undefined;
  }

  #statement(node: Node, scope: Scope): Jump {
    this.#count();
    switch (node.type) {
      case "Comment":
        return undefined;
      case "Break":
        return "break";
      case "Continue":
        return "continue";
      case "If":
        return this.#block(this.#truth(node.test, scope) ? node.body : node.alternate, scope);
      case "For":
        return this.#loop(node, scope);
      case "Set":
        return this.#set(node, scope);
      case "Macro":
        scope.names.set(node.name.value, new Macro(node));
        return undefined;
      case "FilterStatement":
        this.#write(text(this.#filter(this.#captured(node.body, scope), node.filter, scope)));
        return undefined;
      case "CallStatement":
        throw new TemplateProblem("{% call %} is not supported");
      default:
        this.#write(text(need(this.#value(node, scope))));
        return undefined;
    }
  }

  #loop(node: Extract<Node, { type: "For" }>, scope: Scope): Jump {
    const { iterable } = node;
    const isChosen = iterable.type === "SelectExpression";
    const all = sequence(need(this.#value(isChosen ? iterable.lhs : iterable, scope)));
    const bind = (inner: Scope, item: unknown) => this.#bind(node.loopvar, item, inner);
    const items = isChosen
      ? all.filter((item) => {
          const inner = new Scope(scope);
          bind(inner, item);
          return this.#truth(iterable.test, inner);
        })
      : all;
    if (items.length === 0) return this.#block(node.defaultBlock, scope);
    for (const [index, item] of items.entries()) {
      this.#count();
      const inner = new Scope(scope);
      inner.names.set("loop", loopFacts(items, index));
      bind(inner, item);
      if (this.#block(node.body, inner) === "break") break;
    }
    return undefined;
  }

  #bind(target: Node, value: unknown, scope: Scope): void {
    if (target.type === "Identifier") {
      checkKey(target.value);
      scope.names.set(target.value, value);
      return;
    }
    if (target.type !== "TupleLiteral") throw new TemplateProblem("only names can be given values");
    const values = sequence(value);
    if (values.length !== target.value.length)
      throw new TemplateProblem(`${values.length} values do not fit ${target.value.length} names`);
    for (const [index, name] of target.value.entries()) this.#bind(name, values[index], scope);
  }

  #set(node: Extract<Node, { type: "Set" }>, scope: Scope): Jump {
    const given = node.value ? this.#value(node.value, scope) : this.#captured(node.body, scope);
    const value = given instanceof Namespace ? given : need(given);
    const { assignee } = node;
    if (assignee.type !== "MemberExpression") {
      this.#bind(assignee, value, scope);
      return undefined;
    }
    const holder = this.#value(assignee.object, scope);
    const key = assignee.property.type === "Identifier" ? assignee.property.value : "";
    if (!(holder instanceof Namespace) || key === "")
      throw new TemplateProblem("only names, and what a namespace() holds, can be set");
    checkKey(key);
    holder.values[key] = value;
    return undefined;
  }

  #truth(node: Node, scope: Scope): boolean {
    return truthy(need(this.#value(node, scope)));
  }

  #count(work = 1): void {
    this.#work += work;
    if (this.#work > this.#limits.work)
      throw new TemplateProblem("it takes too long: there is too much in its loops");
  }

  /** What is made counts as much as it is large, whether it is written or not. */
  #measured(value: unknown): unknown {
    if (typeof value === "string" && value.length > this.#limits.output) throw tooLarge(this.#limits.output);
    if (Array.isArray(value)) this.#count(value.length);
    return value;
  }

  #value(node: Node, scope: Scope): unknown {
    this.#count();
    switch (node.type) {
      case "IntegerLiteral":
      case "FloatLiteral":
      case "StringLiteral":
        return node.value;
      case "ArrayLiteral":
      case "TupleLiteral":
        return node.value.map((one) => need(this.#value(one, scope)));
      case "ObjectLiteral":
        return this.#object(node.value, scope);
      case "Identifier":
        return this.#name(node.value, scope);
      case "MemberExpression":
        return this.#member(node, scope);
      case "CallExpression":
        return this.#call(node, scope);
      case "FilterExpression":
        return this.#filter(this.#value(node.operand, scope), node.filter, scope);
      case "TestExpression":
        return this.#test(node, scope) !== node.negate;
      case "Ternary":
        return this.#value(this.#truth(node.condition, scope) ? node.trueExpr : node.falseExpr, scope);
      case "SelectExpression":
        return this.#truth(node.test, scope) ? this.#value(node.lhs, scope) : "";
      case "UnaryExpression":
        return node.operator.value === "not"
          ? !this.#truth(node.argument, scope)
          : negative(node.operator.value, need(this.#value(node.argument, scope)));
      case "BinaryExpression":
        return this.#binary(node, scope);
      default:
        throw new TemplateProblem(`${node.type} is not supported`);
    }
  }

  #name(name: string, scope: Scope): unknown {
    const found = scope.find(name);
    if (found instanceof Missing && Object.hasOwn(CONSTANTS, name)) return CONSTANTS[name];
    checkKey(name);
    return found;
  }

  #object(pairs: Map<Node, Node>, scope: Scope): Plain {
    return Object.fromEntries(
      [...pairs].map(([key, value]) => {
        const name = text(need(this.#value(key, scope)));
        checkKey(name);
        return [name, need(this.#value(value, scope))];
      }),
    );
  }

  #binary(node: Extract<Node, { type: "BinaryExpression" }>, scope: Scope): unknown {
    const operator = node.operator.value;
    const left = need(this.#value(node.left, scope));
    if (operator === "and") return truthy(left) ? this.#value(node.right, scope) : left;
    if (operator === "or") return truthy(left) ? left : this.#value(node.right, scope);
    return this.#measured(binary(operator, left, need(this.#value(node.right, scope)), this.#limits.output));
  }

  #member({ object, property, computed }: MemberNode, scope: Scope): unknown {
    const holder = this.#value(object, scope);
    if (computed && property.type === "SliceExpression") return this.#slice(need(holder), property, scope);
    const key = computed
      ? need(this.#value(property, scope))
      : (property as { readonly value: unknown }).value;
    if (typeof key === "string") checkKey(key);
    return memberOf(holder, key, describe(object));
  }

  #slice(value: unknown, { start, stop, step }: SliceNode, scope: Scope): unknown {
    const [from, to, by] = [start, stop, step].map((one) =>
      one ? need(this.#value(one, scope)) : undefined,
    );
    if (by !== undefined && by !== 1) throw new TemplateProblem("slices with a step are not supported");
    const isText = typeof value === "string";
    if (!isText && !Array.isArray(value)) throw new TemplateProblem(`${nameOfKind(value)} cannot be sliced`);
    const part = sequence(value).slice(from as number | undefined, to as number | undefined);
    return isText ? part.join("") : part;
  }

  #arguments(nodes: readonly Node[], scope: Scope): { args: unknown[]; named: Record<string, unknown> } {
    const args: unknown[] = [];
    const named: Record<string, unknown> = {};
    for (const node of nodes) {
      if (node.type === "KeywordArgumentExpression") {
        checkKey(node.key.value);
        named[node.key.value] = need(this.#value(node.value, scope));
      } else args.push(need(this.#value(node, scope)));
    }
    return { args, named };
  }

  #filter(value: unknown, node: Name | CallNode, scope: Scope): unknown {
    const [callee, given] = node.type === "CallExpression" ? [node.callee, node.args] : [node, []];
    const name = filterName(callee);
    const filter = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined;
    if (!filter) throw new TemplateProblem(`there is no filter ${name}`);
    const { args, named } = this.#arguments(given, scope);
    return this.#measured(filter(name === "default" ? value : need(value), args, named));
  }

  #test({ operand, test }: Extract<Node, { type: "TestExpression" }>, scope: Scope): boolean {
    const value = this.#value(operand, scope);
    if (test.value === "defined") return !(value instanceof Missing);
    if (test.value === "undefined") return value instanceof Missing;
    const check = Object.hasOwn(TESTS, test.value) ? TESTS[test.value] : undefined;
    if (!check) throw new TemplateProblem(`there is no test ${test.value}`);
    return check(need(value));
  }

  #call({ callee, args: nodes }: CallNode, scope: Scope): unknown {
    const { args, named } = this.#arguments(nodes, scope);
    if (callee.type === "MemberExpression" && !callee.computed && callee.property.type === "Identifier") {
      checkKey(callee.property.value);
      return this.#measured(callMethod(need(this.#value(callee.object, scope)), callee.property.value, args));
    }
    if (callee.type !== "Identifier") throw new TemplateProblem("only functions with a name can be called");
    const found = scope.find(callee.value);
    if (found instanceof Macro) return this.#macro(found.node, args, named, scope);
    switch (found instanceof Missing ? callee.value : "") {
      case "range":
        return this.#measured(range(args, this.#limits.range));
      case "dict":
        return named;
      case "namespace":
        return Object.assign(new Namespace(), { values: { ...named } });
      default:
        throw new TemplateProblem(`${callee.value} is not a function of templates`);
    }
  }

  #macro(node: MacroNode, args: readonly unknown[], named: Plain, scope: Scope): string {
    const inner = new Scope(scope);
    for (const [index, parameter] of node.args.entries()) {
      const name = parameter.type === "Identifier" ? parameter.value : parameter.key.value;
      const fallback = (parameter as KeywordNode).value as Node | string;
      const given = index < args.length ? args[index] : Object.hasOwn(named, name) ? named[name] : undefined;
      inner.names.set(
        name,
        given !== undefined || parameter.type === "Identifier"
          ? (given ?? new Missing(name, []))
          : this.#value(fallback as Node, scope),
      );
    }
    return this.#captured(node.body, inner);
  }
}

function need(value: unknown): unknown {
  if (value instanceof Namespace) return value.values;
  if (value instanceof Macro) throw new TemplateProblem(`${value.node.name.value} is a macro, not a value`);
  if (!(value instanceof Missing)) return value;
  const [last, known] = [value.path.split(".").at(-1) ?? "", value.known.slice(0, 20)];
  const meant =
    known.length > 0 ? `; did you mean ${nearest(last, known)}? Known here: ${known.join(", ")}` : "";
  throw new TemplateProblem(`${value.path} is not defined${meant}`);
}

function memberOf(holder: unknown, key: unknown, path: string): unknown {
  const where = `${path}.${text(key)}`;
  if (holder instanceof Missing) return new Missing(`${holder.path}.${text(key)}`, holder.known);
  if (holder instanceof Namespace) return memberOf(holder.values, key, path);
  if (Array.isArray(holder) || typeof holder === "string") {
    const found = typeof key === "number" ? sequence(holder).at(key) : undefined;
    return found === undefined ? new Missing(where, []) : found;
  }
  if (!isPlain(holder)) return new Missing(where, []);
  const name = text(key);
  const value = Object.hasOwn(holder, name) ? holder[name] : undefined;
  return value === undefined ? new Missing(where, Object.keys(holder)) : value;
}

/** How a path reads, for the message about it. */
function describe(node: Node): string {
  if (node.type === "Identifier") return node.value;
  if (node.type !== "MemberExpression") return "(…)";
  const { property } = node;
  const key = property.type === "Identifier" || property.type === "StringLiteral" ? property.value : "…";
  return `${describe(node.object)}.${key}`;
}

const filterName = (callee: Node): string => {
  const name = callee.type === "Identifier" ? callee.value : "";
  return Object.hasOwn(ALIASES, name) ? (ALIASES[name] as string) : name;
};

const loopFacts = (items: readonly unknown[], index: number): Plain => ({
  index: index + 1,
  index0: index,
  first: index === 0,
  last: index === items.length - 1,
  length: items.length,
  revindex: items.length - index,
  revindex0: items.length - index - 1,
});

function range(args: readonly unknown[], most: number): number[] {
  if (args.length === 0 || args.length > 3 || !args.every(Number.isInteger))
    throw new TemplateProblem("range() takes one to three whole numbers");
  const [first, second, step = 1] = args as number[];
  const [from, to] = second === undefined ? [0, first as number] : [first as number, second];
  const count = step === 0 ? -1 : Math.max(0, Math.ceil((to - from) / step));
  if (count < 0 || count > most) throw new TemplateProblem(`range() may make 0 to ${most} numbers`);
  return Array.from({ length: count }, (_, index) => from + index * step);
}
