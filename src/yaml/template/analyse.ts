import type { Name, Node } from "./ast.ts";
import { GLOBALS } from "./evaluate.ts";
import { ALIASES, FILTERS, TESTS } from "./filters.ts";

/** What a template asks of what surrounds it. */
export interface Asked {
  /** Names that nothing in the template gives a value, where they are used without asking whether they are defined. */
  readonly roots: readonly string[];
  /** `agent.output.field`: what is read of the roots, as far as it is written out. */
  readonly paths: readonly (readonly string[])[];
  readonly filters: readonly string[];
  readonly tests: readonly string[];
}

/** Finds out what a template needs, without rendering it. */
export function analyse(body: readonly Node[]): Asked {
  const seen = new Seen();
  seen.block(body, new Set(GLOBALS));
  return {
    roots: [...seen.roots],
    paths: seen.paths,
    filters: [...seen.filters].filter(
      (name) => !Object.hasOwn(FILTERS, name) && !Object.hasOwn(ALIASES, name),
    ),
    tests: [...seen.tests].filter(
      (name) => !["defined", "undefined"].includes(name) && !Object.hasOwn(TESTS, name),
    ),
  };
}

type Bound = ReadonlySet<string>;

class Seen {
  readonly roots = new Set<string>();
  readonly paths: string[][] = [];
  readonly filters = new Set<string>();
  readonly tests = new Set<string>();

  block(body: readonly Node[], outer: Bound): void {
    const bound = new Set(outer);
    for (const node of body) {
      this.node(node, bound);
      for (const name of given(node)) bound.add(name);
    }
  }

  /** `isAsked`: it only matters whether it is defined. */
  node(node: Node, bound: Bound, isAsked = false): void {
    switch (node.type) {
      case "Identifier":
        if (!bound.has(node.value) && !isAsked) this.roots.add(node.value);
        return;
      case "MemberExpression":
        return this.#member(node, bound, isAsked);
      case "FilterExpression":
        this.#filter(node.filter, bound);
        return this.node(node.operand, bound, isDefault(node.filter));
      case "FilterStatement":
        this.#filter(node.filter, bound);
        return this.block(node.body, bound);
      case "TestExpression":
        this.tests.add(node.test.value);
        return this.node(
          node.operand,
          bound,
          node.test.value === "defined" || node.test.value === "undefined",
        );
      case "CallExpression":
        if (node.callee.type === "MemberExpression") this.node(node.callee.object, bound);
        else this.node(node.callee, bound);
        return this.#all(node.args, bound);
      case "KeywordArgumentExpression":
        return this.node(node.value, bound);
      case "For":
        return this.#loop(node, bound);
      case "Macro":
        return this.block(
          node.body,
          new Set([
            ...bound,
            ...node.args.map((one) => (one.type === "Identifier" ? one.value : one.key.value)),
          ]),
        );
      default:
        return this.#rest(node, bound);
    }
  }

  #rest(node: Node, bound: Bound): void {
    switch (node.type) {
      case "If":
        this.node(node.test, bound);
        this.block(node.body, bound);
        return this.block(node.alternate, bound);
      case "Set":
        if (node.value) this.node(node.value, bound);
        return this.block(node.body, bound);
      case "ArrayLiteral":
      case "TupleLiteral":
        return this.#all(node.value, bound);
      case "ObjectLiteral":
        return this.#all([...node.value].flat(), bound);
      case "BinaryExpression":
        return this.#all([node.left, node.right], bound);
      case "UnaryExpression":
        return this.node(node.argument, bound);
      case "Ternary":
        return this.#all([node.condition, node.trueExpr, node.falseExpr], bound);
      case "SelectExpression":
        return this.#all([node.lhs, node.test], bound);
      case "SliceExpression":
        return this.#all(
          [node.start, node.stop, node.step].filter((one) => one !== undefined),
          bound,
        );
      default:
        return undefined;
    }
  }

  #all(nodes: readonly Node[], bound: Bound): void {
    for (const node of nodes) this.node(node, bound);
  }

  #member(node: Extract<Node, { type: "MemberExpression" }>, bound: Bound, isAsked: boolean): void {
    const path = pathOf(node);
    if (path && !bound.has(path[0] as string) && !isAsked) this.paths.push(path);
    if (node.computed) this.node(node.property, bound);
    this.node(node.object, bound, isAsked);
  }

  #filter(filter: Name | Extract<Node, { type: "CallExpression" }>, bound: Bound): void {
    const callee = filter.type === "CallExpression" ? filter.callee : filter;
    if (callee.type === "Identifier") this.filters.add(callee.value);
    if (filter.type === "CallExpression") this.#all(filter.args, bound);
  }

  #loop(node: Extract<Node, { type: "For" }>, bound: Bound): void {
    const inner = new Set([...bound, "loop", ...namesOf(node.loopvar)]);
    if (node.iterable.type === "SelectExpression") {
      this.node(node.iterable.lhs, bound);
      this.node(node.iterable.test, inner);
    } else this.node(node.iterable, bound);
    this.block(node.body, inner);
    this.block(node.defaultBlock, bound);
  }
}

const isDefault = (filter: Node): boolean => {
  const callee = filter.type === "CallExpression" ? filter.callee : filter;
  return callee.type === "Identifier" && (callee.value === "default" || callee.value === "d");
};

/** Names that have a value behind a statement. What is set under a condition counts: it is the author's to know. */
function given(node: Node): string[] {
  if (node.type === "Macro") return [node.name.value];
  if (node.type === "Set") return namesOf(node.assignee);
  return node.type === "If" ? [...node.body, ...node.alternate].flatMap(given) : [];
}

function namesOf(target: Node): string[] {
  if (target.type === "Identifier") return [target.value];
  return target.type === "TupleLiteral" ? target.value.flatMap(namesOf) : [];
}

/** `["agent", "output", "field"]` of `agent.output.field`, up to the first part that is computed. */
function pathOf(node: Node): string[] | undefined {
  if (node.type === "Identifier") return [node.value];
  if (node.type !== "MemberExpression") return undefined;
  const before = pathOf(node.object);
  const { property } = node;
  if (property.type === "Identifier" && !node.computed) return before && [...before, property.value];
  return property.type === "StringLiteral" ? before && [...before, property.value] : undefined;
}
