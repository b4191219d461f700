import type { ParseBudget } from "../../core/values/parse-budget.ts";
import type { Arguments, Expression, Link, Path } from "./ast.ts";
import { findFilter, LEFT_OUT } from "./filters/index.ts";
import { methodOf, type Surroundings } from "./methods.ts";
import { isInteger } from "./numbers.ts";
import { calculate, compared, signed } from "./operators.ts";
import { TemplateProblem, tooLarge } from "./problem.ts";
import type { Scope } from "./scope.ts";
import { TESTS, testProblem } from "./tests.ts";
import {
  Callable,
  checkKey,
  Dict,
  entriesOf,
  hashed,
  isGroup,
  isMapping,
  isText,
  Lazy,
  listKind,
  lookUp,
  Markup,
  Missing,
  makeList,
  type Named,
  Namespace,
  nameOfKind,
  need,
  plainText,
  sequence,
  text,
  truthy,
} from "./value.ts";

/** The number of characters per unit of work: texts are processed in bulk. */
const PER_UNIT = 32;

/** Filters that visit every nested part of their input, which costs more. */
const DEEP = new Set(["tojson", "json", "pprint", "string", "join", "unique"]);
/** Filters that process each character separately. */
const SLOW = new Set([
  "tojson",
  "json",
  "pprint",
  "title",
  "wordcount",
  "wordwrap",
  "urlencode",
  "truncate",
  "striptags",
]);
const SLOWER = 8;

/** Evaluates expressions over plain data. Nothing else is reachable, and the only functions are those named here. */
export class Expressions implements Surroundings {
  readonly most: number;
  readonly #budget: ParseBudget;
  readonly #globals: ReadonlyMap<string, unknown>;

  constructor(budget: ParseBudget, most: number, globals: ReadonlyMap<string, unknown>) {
    [this.#budget, this.most, this.#globals] = [budget, most, globals];
  }

  spend(work: number): void {
    this.#budget.spend("work", work);
  }

  deeper<T>(inner: () => T): T {
    return this.#budget.deeper(inner);
  }

  /** Charges for a value by its size, so that creating it costs as much as it is large. */
  measured<T>(value: T): T {
    if (isText(value)) {
      if (plainText(value).length > this.most) throw tooLarge(this.most);
      this.spend(Math.ceil(plainText(value).length / PER_UNIT));
    } else if (Array.isArray(value)) this.spend(value.length);
    else if (isMapping(value)) this.spend(2 * entriesOf(value).length);
    return value;
  }

  /** Charges for everything inside a value, for filters that visit all of it. */
  weighed<T>(value: T): T {
    this.measured(value);
    if (Array.isArray(value)) for (const one of value) this.#deeply(one);
    else if (isMapping(value)) for (const [, one] of entriesOf(value)) this.#deeply(one);
    return value;
  }

  #deeply(value: unknown): void {
    this.spend(2);
    if (isText(value) || isMapping(value) || Array.isArray(value)) this.weighed(value);
  }

  truth(expression: Expression, scope: Scope): boolean {
    return truthy(this.value(expression, scope));
  }

  value(expression: Expression, scope: Scope): unknown {
    this.spend(1);
    switch (expression.type) {
      case "const":
        return expression.value;
      case "name":
        return this.#name(expression.name, scope);
      case "list":
        return expression.items.map((one) => need(this.value(one, scope)));
      case "tuple":
        return makeList(
          expression.items.map((one) => need(this.value(one, scope))),
          "tuple",
        );
      case "dict":
        return this.#dict(expression.pairs, scope);
      case "choice":
        if (this.truth(expression.test, scope)) return this.value(expression.whenTrue, scope);
        if (expression.otherwise) return this.value(expression.otherwise, scope);
        return new Missing("the value of an if without an else", [], true);
      case "and":
      case "or":
        return this.#logic(expression.type, expression.parts, scope);
      case "not":
        return !this.truth(expression.of, scope);
      case "sign":
        return signed(expression.sign, need(this.value(expression.of, scope)));
      case "path":
        return this.#path(expression, scope);
      default:
        return this.#operators(expression, scope);
    }
  }

  #operators(
    expression: Extract<Expression, { type: "math" | "compare" | "concat" }>,
    scope: Scope,
  ): unknown {
    if (expression.type === "concat")
      return this.measured(expression.parts.map((one) => text(need(this.value(one, scope)))).join(""));
    let left = need(this.value(expression.first, scope));
    for (const { operator, right } of expression.rest) {
      const next = need(this.value(right, scope));
      if (expression.type === "math") left = this.measured(calculate(operator, left, next, this.most));
      else {
        this.weighed(operator === "in" || operator === "not in" ? next : left);
        if (!compared(operator, left, next)) return false;
        left = next;
      }
    }
    return expression.type === "math" ? left : true;
  }

  #name(name: string, scope: Scope): unknown {
    const found = scope.find(name);
    if (found instanceof Missing && this.#globals.has(name)) return this.#globals.get(name);
    checkKey(name);
    return found;
  }

  #logic(type: "and" | "or", parts: readonly Expression[], scope: Scope): unknown {
    const last = parts.length - 1;
    for (const [index, part] of parts.entries()) {
      const value = this.value(part, scope);
      if (index === last || truthy(value) === (type === "or")) return value;
    }
    return null;
  }

  #dict(pairs: readonly (readonly [Expression, Expression])[], scope: Scope): Dict {
    return new Dict(
      pairs.map(([key, value]) => {
        const name = need(this.value(key, scope));
        if (isText(name)) checkKey(plainText(name));
        return [name, need(this.value(value, scope))] as const;
      }),
    );
  }

  #path({ base, links }: Path, scope: Scope): unknown {
    return this.follow(this.value(base, scope), links, scope, base.type === "name" ? base.name : "(…)");
  }

  /** Evaluates `value` followed by all `links`. `where` is its source text, for messages. */
  follow(value: unknown, links: readonly Link[], scope: Scope, where: string): unknown {
    let [found, place] = [value, where];
    for (const link of links) {
      this.spend(1);
      if (link.type === "attribute" || link.type === "item") {
        const key = link.type === "attribute" ? link.name : need(this.value(link.key, scope));
        found =
          link.type === "attribute"
            ? this.#attribute(found, link.name, place)
            : this.#item(found, key, place);
        place = `${place}.${isText(key) || isInteger(key) ? text(key) : "…"}`;
      } else found = this.#link(found, link, scope);
    }
    return found;
  }

  #link(value: unknown, link: Exclude<Link, { type: "attribute" | "item" }>, scope: Scope): unknown {
    if (link.type === "slice") return this.#slice(need(value), link.parts, scope);
    const { args, named } = this.arguments(link, scope);
    if (link.type === "call") return this.call(value, args, named);
    if (link.type === "filter") return this.filter(link.name, value, args, named);
    return this.test(link.name, value, args, named) !== link.isNegated;
  }

  arguments({ args, named }: Arguments, scope: Scope): { args: unknown[]; named: Map<string, unknown> } {
    const values = new Map<string, unknown>();
    for (const [name, value] of named) {
      checkKey(name);
      if (values.has(name)) throw new TemplateProblem(`${name} is given twice`);
      values.set(name, this.value(value, scope));
    }
    return { args: args.map((one) => this.value(one, scope)), named: values };
  }

  call(callee: unknown, args: readonly unknown[], named: Named): unknown {
    const found = need(callee);
    if (!(found instanceof Callable)) throw new TemplateProblem(`${nameOfKind(found)} cannot be called`);
    for (const one of args) this.measured(one);
    return this.measured(found.call(args, named));
  }

  filter(name: string, value: unknown, args: readonly unknown[], named: Named): unknown {
    const filter = findFilter(name);
    if (!filter) throw new TemplateProblem(LEFT_OUT[name] ?? `there is no filter ${name}`);
    for (const one of args) this.measured(one);
    const given = filter.takesMissing ? value : need(value);
    if (DEEP.has(name)) this.weighed(given);
    else this.measured(given);
    try {
      const result = this.measured(filter.apply(given, args, named, this));
      if (SLOW.has(name)) for (const one of [given, result]) if (isText(one)) this.spend(perCharacter(one));
      return result;
    } catch (error) {
      if (!(error instanceof TemplateProblem) || error.message.startsWith("filter ")) throw error;
      throw new TemplateProblem(`filter ${name}: ${error.message}`);
    }
  }

  test(name: string, value: unknown, args: readonly unknown[], named: Named): boolean {
    const problem = testProblem(name, args.length, named.size);
    if (name === "defined" || name === "undefined") {
      if (problem !== undefined) throw new TemplateProblem(`test ${name}: ${problem}`);
      return value instanceof Missing === (name === "undefined");
    }
    const test = TESTS.get(name);
    if (!test) throw new TemplateProblem(`there is no test ${name}`);
    if (problem !== undefined) throw new TemplateProblem(`test ${name}: ${problem}`);
    if (value instanceof Missing && test.isFalseOfMissing) return false;
    return test.passes(
      this.measured(need(value)),
      test.takes === 1 ? this.measured(need(args[0])) : undefined,
    );
  }

  item(value: unknown, key: string | number): unknown {
    return this.#item(value, key, "(…)");
  }

  reach(value: unknown, key: string | number): unknown {
    return need(typeof key === "number" ? this.#item(value, key, "(…)") : this.#attribute(value, key, "(…)"));
  }

  #attribute(holder: unknown, name: string, place: string): unknown {
    checkKey(name);
    const where = `${place}.${name}`;
    if (holder instanceof Missing) return new Missing(`${holder.path}.${name}`, holder.known);
    if (holder instanceof Namespace)
      return holder.values.has(name)
        ? holder.values.get(name)
        : new Missing(where, [...holder.values.keys()]);
    if (holder instanceof Callable) {
      const fact = holder.attribute(name);
      return fact === undefined ? new Missing(where, []) : fact;
    }
    if (Array.isArray(holder) && isGroup(holder) && (name === "grouper" || name === "list"))
      return holder[name === "grouper" ? 0 : 1];
    const found = isMapping(holder) ? lookUp(holder, name) : undefined;
    const known = isMapping(holder) ? entriesOf(holder).map(([key]) => text(key)) : [];
    if (found !== undefined) return found;
    return methodOf(holder, name, this) ?? new Missing(where, known);
  }

  #item(holder: unknown, key: unknown, place: string): unknown {
    const where = `${place}.${isText(key) || isInteger(key) ? text(key) : "…"}`;
    if (isText(key)) checkKey(plainText(key));
    if (holder instanceof Missing) return new Missing(`${holder.path}.${text(key)}`, holder.known);
    if (isMapping(holder) && !(Array.isArray(key) && listKind(key) === "list") && !isMapping(key)) {
      hashed(key);
      const found = lookUp(holder, key);
      if (found !== undefined) return found;
    }
    if (isText(key)) return this.#attribute(holder, plainText(key), place);
    const index = typeof key === "boolean" ? Number(key) : key;
    const isIndexed = isText(holder) || (Array.isArray(holder) && listKind(holder) !== "view");
    if (!isInteger(index) || !isIndexed) return new Missing(where, []);
    const found = sequence(holder).at(index);
    if (found === undefined || -index > sequence(holder).length) return new Missing(where, []);
    return holder instanceof Markup ? new Markup(text(found)) : found;
  }

  #slice(value: unknown, parts: readonly (Expression | undefined)[], scope: Scope): unknown {
    const [start, stop, step] = [0, 1, 2].map((index) => {
      const part = parts[index];
      const one = part ? need(this.value(part, scope)) : null;
      if (one !== null && !isInteger(one)) throw new TemplateProblem("a slice takes whole numbers");
      return one;
    });
    if (
      value instanceof Lazy ||
      (!isText(value) && !Array.isArray(value)) ||
      (Array.isArray(value) && listKind(value) === "view")
    )
      throw new TemplateProblem(`${nameOfKind(value)} cannot be sliced`);
    const items = this.measured(sequence(value));
    const picked = sliced(items, start ?? null, stop ?? null, step ?? 1);
    if (value instanceof Markup) return new Markup(picked.join(""));
    if (isText(value)) return picked.join("");
    const kind = listKind(value);
    return kind === "list" || kind === "view" ? picked : makeList(picked, kind);
  }
}

const perCharacter = (value: string | Markup): number => Math.ceil(plainText(value).length / SLOWER);

/** `items[start:stop:step]`, as in Python. */
function sliced(
  items: readonly unknown[],
  start: number | null,
  stop: number | null,
  step: number,
): unknown[] {
  if (step === 0) throw new TemplateProblem("a slice needs a step other than 0");
  const { length } = items;
  const [low, high] = step > 0 ? [0, length] : [-1, length - 1];
  const bound = (value: number | null, otherwise: number): number => {
    if (value === null) return otherwise;
    return Math.min(high, Math.max(low, value < 0 ? value + length : value));
  };
  const from = bound(start, step > 0 ? low : high);
  const to = bound(stop, step > 0 ? high : low);
  const picked: unknown[] = [];
  for (let at = from; step > 0 ? at < to : at > to; at += step) picked.push(items[at]);
  return picked;
}
