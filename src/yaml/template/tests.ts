import { FILTER_NAMES, LEFT_OUT } from "./filters/index.ts";
import { amount, isFloat, isInteger, isNumber } from "./numbers.ts";
import { compared, contains, isSame } from "./operators.ts";
import { TemplateProblem } from "./problem.ts";
import { Callable, isMapping, isText, Lazy, listKind, Markup, nameOfKind, plainText, text } from "./value.ts";

interface Test {
  /** The number of arguments besides the tested value. */
  readonly takes: 0 | 1;
  passes(value: unknown, other: unknown): boolean;
  /** True when the test may be applied to an undefined value, for which it is false. */
  readonly isFalseOfMissing?: boolean;
}

const kind = (passes: (value: unknown) => boolean): Test => ({ takes: 0, passes, isFalseOfMissing: true });
const plain = (passes: (value: unknown) => boolean): Test => ({ takes: 0, passes });
const paired = (passes: Test["passes"]): Test => ({ takes: 1, passes });
const by = (operator: string): Test => paired((value, other) => compared(operator, value, other));

function rest(value: unknown, by_: unknown): number {
  if (!isNumber(value) || !isNumber(by_))
    throw new TemplateProblem(`a number is needed, not ${nameOfKind(isNumber(value) ? by_ : value)}`);
  if (amount(by_) === 0) throw new TemplateProblem("division by zero");
  return amount(value) % amount(by_);
}

const cased = (wanted: RegExp, other: RegExp): Test =>
  plain((value) => wanted.test(text(value)) && !other.test(text(value)));

/** Jinja2 3.1's tests after `is`; the evaluator handles `defined` and `undefined`. */
export const TESTS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ["boolean", kind((value) => typeof value === "boolean")],
  ["callable", plain((value) => value instanceof Callable)],
  ["divisibleby", paired((value, other) => rest(value, other) === 0)],
  ["escaped", kind((value) => value instanceof Markup)],
  ["even", plain((value) => rest(value, 2) === 0)],
  ["false", kind((value) => value === false)],
  [
    "filter",
    plain(
      (value) =>
        isText(value) &&
        (FILTER_NAMES.includes(plainText(value)) || Object.hasOwn(LEFT_OUT, plainText(value))),
    ),
  ],
  ["float", kind((value) => isFloat(value))],
  ["in", paired((value, other) => contains(other, value))],
  ["integer", kind((value) => isInteger(value))],
  [
    "iterable",
    plain((value) => isText(value) || Array.isArray(value) || isMapping(value) || value instanceof Lazy),
  ],
  ["lower", cased(/\p{Ll}/u, /\p{Lu}|\p{Lt}/u)],
  ["mapping", kind(isMapping)],
  ["none", kind((value) => value === null)],
  ["number", kind((value) => isNumber(value))],
  ["odd", plain((value) => Math.abs(rest(value, 2)) === 1)],
  ["sameas", paired(isSame)],
  [
    "sequence",
    kind(
      (value) => isText(value) || (Array.isArray(value) && listKind(value) !== "view") || isMapping(value),
    ),
  ],
  ["string", kind(isText)],
  [
    "test",
    plain(
      (value) =>
        isText(value) && (TESTS.has(plainText(value)) || ["defined", "undefined"].includes(plainText(value))),
    ),
  ],
  ["true", kind((value) => value === true)],
  ["upper", cased(/\p{Lu}/u, /\p{Ll}|\p{Lt}/u)],
  ...["==", "eq", "equalto"].map((name) => [name, by("==")] as const),
  ...["!=", "ne"].map((name) => [name, by("!=")] as const),
  ...[">", "gt", "greaterthan"].map((name) => [name, by(">")] as const),
  ...["<", "lt", "lessthan"].map((name) => [name, by("<")] as const),
  ...[">=", "ge"].map((name) => [name, by(">=")] as const),
  ...["<=", "le"].map((name) => [name, by("<=")] as const),
]);

export const TEST_NAMES: readonly string[] = ["defined", "undefined", ...TESTS.keys()];

/** The problem with a test's arguments, if any. */
export function testProblem(name: string, count: number, named: number): string | undefined {
  const takes = name === "defined" || name === "undefined" ? 0 : (TESTS.get(name)?.takes ?? 0);
  if (named > 0) return "it takes nothing by name";
  return count === takes ? undefined : takes === 0 ? "it takes no value" : "it takes one value";
}
