import { didYouMean } from "../../core/nearest.ts";
import type { Arguments, Expression, Link, Parameter, Path, Statement, Target } from "./ast.ts";
import { argumentProblem } from "./filters/filter.ts";
import { FILTER_NAMES, findFilter, LEFT_OUT } from "./filters/index.ts";
import { GLOBAL_NAMES } from "./functions.ts";
import { callProblem, METHOD_NAMES, methodProblem } from "./methods.ts";
import { TEST_NAMES, testProblem } from "./tests.ts";

/** The names, paths and calls that a template uses. */
export interface Asked {
  /** Names that the template doesn't define and uses without testing whether they are defined. */
  readonly roots: readonly string[];
  /** Paths such as `agent.output.field`, up to the first computed part. */
  readonly paths: readonly (readonly string[])[];
  /** Unknown filters, tests and methods, and wrong arguments, with the line in the template. */
  readonly problems: ReadonlyMap<string, number>;
}

/** Finds out what a template needs, without rendering it. */
export function analyse(body: readonly Statement[]): Asked {
  const seen = new Seen();
  seen.body(body, new Set(GLOBAL_NAMES));
  return { roots: [...seen.roots], paths: seen.paths, problems: seen.problems };
}

type Bound = ReadonlySet<string>;

/** Methods that only some values have: `loop.cycle()`, `cycler.next()`. */
const CALLED = ["cycle", "changed", "next", "reset"];

class Seen {
  readonly roots = new Set<string>();
  readonly paths: string[][] = [];
  readonly problems = new Map<string, number>();

  body(body: readonly Statement[], outer: Bound): void {
    const bound = new Set(outer);
    for (const statement of body) {
      this.#statement(statement, bound);
      for (const name of given(statement)) bound.add(name);
    }
  }

  #statement(statement: Statement, bound: Bound): void {
    switch (statement.type) {
      case "text":
        return;
      case "print":
        return this.#value(statement.value, bound);
      case "if":
        for (const [test, body] of statement.branches) {
          this.#value(test, bound);
          this.body(body, bound);
        }
        return this.body(statement.otherwise, bound);
      case "for": {
        const inner = new Set([...bound, "loop", ...namesOf(statement.target)]);
        this.#value(statement.over, bound);
        if (statement.test) this.#value(statement.test, inner);
        this.body(statement.body, inner);
        return this.body(statement.otherwise, bound);
      }
      case "set":
        return this.#value(statement.value, bound);
      case "capture":
      case "filtered":
        this.#links(statement.filters, bound);
        return this.body(statement.body, bound);
      default:
        return this.#nested(statement, bound);
    }
  }

  #nested(
    statement: Extract<Statement, { type: "macro" | "caller" | "with" | "block" }>,
    bound: Bound,
  ): void {
    if (statement.type === "macro")
      return this.#macro(statement.parameters, statement.body, bound, [statement.name]);
    if (statement.type === "caller") {
      this.#value(statement.call, bound);
      return this.#macro(statement.macro.parameters, statement.macro.body, bound, []);
    }
    if (statement.type === "block") return this.body(statement.body, bound);
    for (const [, value] of statement.bindings) this.#value(value, bound);
    const names = statement.bindings.flatMap(([target]) => namesOf(target));
    return this.body(statement.body, new Set([...bound, ...names]));
  }

  #macro(
    parameters: readonly Parameter[],
    body: readonly Statement[],
    bound: Bound,
    also: readonly string[],
  ): void {
    for (const { fallback } of parameters) if (fallback) this.#value(fallback, bound);
    const own = ["caller", "varargs", "kwargs", ...also, ...parameters.map(({ name }) => name)];
    this.body(body, new Set([...bound, ...own]));
  }

  /** `isAsked`: the template only tests whether it is defined. */
  #value(expression: Expression, bound: Bound, isAsked = false): void {
    switch (expression.type) {
      case "const":
        return;
      case "name":
        if (!bound.has(expression.name) && !isAsked) this.roots.add(expression.name);
        return;
      case "list":
      case "tuple":
        return this.#all(expression.items, bound);
      case "dict":
        return this.#all(expression.pairs.flat(), bound);
      case "math":
      case "compare":
        return this.#all([expression.first, ...expression.rest.map(({ right }) => right)], bound);
      case "concat":
      case "and":
      case "or":
        return this.#all(expression.parts, bound);
      case "not":
      case "sign":
        return this.#value(expression.of, bound);
      case "choice":
        this.#all([expression.test, expression.whenTrue], bound);
        return expression.otherwise && this.#value(expression.otherwise, bound);
      case "path":
        return this.#path(expression, bound, isAsked);
    }
  }

  #all(expressions: readonly Expression[], bound: Bound): void {
    for (const one of expressions) this.#value(one, bound);
  }

  #path({ base, links }: Path, bound: Bound, isAsked: boolean): void {
    const end = links.findIndex((link) => link.type !== "attribute" && link.type !== "item");
    const steps = end < 0 ? links : links.slice(0, end);
    const isOnlyAsked = isAsked || asks(links[end]);
    if (base.type === "name" && !bound.has(base.name) && !isOnlyAsked) {
      const isCalled = links[end]?.type === "call";
      this.paths.push([base.name, ...written(isCalled ? steps.slice(0, -1) : steps)]);
    }
    this.#value(base, bound, isOnlyAsked);
    this.#links(links, bound);
  }

  #links(links: readonly Link[], bound: Bound): void {
    for (const [index, link] of links.entries()) {
      if (link.type === "item") this.#value(link.key, bound);
      else if (link.type === "slice")
        this.#all(
          link.parts.filter((one) => one !== undefined),
          bound,
        );
      else if (link.type !== "attribute") {
        this.#all([...link.args, ...link.named.map(([, value]) => value)], bound);
        this.#check(link, links[index - 1]);
      }
    }
  }

  #check(link: Extract<Link, Arguments>, before: Link | undefined): void {
    const problem = linkProblem(link, before);
    if (problem !== undefined && !this.problems.has(problem)) this.problems.set(problem, link.line);
  }
}

function linkProblem(link: Extract<Link, Arguments>, before: Link | undefined): string | undefined {
  const names = link.named.map(([name]) => name);
  if (link.type === "call") {
    if (before?.type !== "attribute" || CALLED.includes(before.name)) return undefined;
    const { name } = before;
    const problem = methodProblem(name);
    if (problem !== undefined) return `There is no ${name}(): ${problem}.${didYouMean(name, METHOD_NAMES)}`;
    const wrong = callProblem(name, link.args.length, names);
    return wrong && `${wrong}.`;
  }
  if (link.type === "test") {
    if (!TEST_NAMES.includes(link.name))
      return `There is no test ${link.name}.${didYouMean(link.name, TEST_NAMES)}`;
    const wrong = testProblem(link.name, link.args.length, names.length);
    return wrong && `The test ${link.name} is given what it does not take: ${wrong}.`;
  }
  const filter = findFilter(link.name);
  if (!filter) {
    const why = LEFT_OUT[link.name];
    return why === undefined
      ? `There is no filter ${link.name}.${didYouMean(link.name, FILTER_NAMES)}`
      : `The filter ${link.name} is not supported: ${why}.`;
  }
  const wrong = argumentProblem(filter.parameters, filter.required, link.args.length, names);
  return wrong && `The filter ${link.name} is given what it does not take: ${wrong}.`;
}

/** True when the next link only tests for a value, or supplies a default. */
const asks = (link: Link | undefined): boolean =>
  (link?.type === "filter" && ["default", "d"].includes(link.name)) ||
  (link?.type === "test" && ["defined", "undefined"].includes(link.name));

/** The names of a path, up to the first computed part. */
function written(links: readonly Link[]): string[] {
  const names: string[] = [];
  for (const link of links) {
    if (link.type === "attribute") names.push(link.name);
    else if (link.type === "item" && link.key.type === "const" && typeof link.key.value === "string")
      names.push(link.key.value);
    else break;
  }
  return names;
}

/** Names defined after a statement. Conditional definitions count: the author is trusted to handle them. */
function given(statement: Statement): string[] {
  switch (statement.type) {
    case "macro":
      return [statement.name];
    case "set":
    case "capture":
      return namesOf(statement.target);
    case "if":
      return [...statement.branches.flatMap(([, body]) => body), ...statement.otherwise].flatMap(given);
    default:
      return [];
  }
}

function namesOf(target: Target): string[] {
  if (target.type === "name") return [target.name];
  return target.type === "targets" ? target.items.flatMap(namesOf) : [];
}
