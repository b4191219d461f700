import { percentFormat } from "./format.ts";
import { amount, type Float, isFloat, isNumber, makeFloat, makeInteger } from "./numbers.ts";
import { TemplateProblem, tooLarge } from "./problem.ts";
import {
  isMapping,
  isText,
  listKind,
  lookUp,
  Markup,
  makeList,
  nameOfKind,
  order,
  plainText,
  same,
  sequence,
} from "./value.ts";

export function signed(sign: "+" | "-", value: unknown): unknown {
  if (!isNumber(value)) throw new TemplateProblem(`${sign} needs a number, not ${nameOfKind(value)}`);
  const size = sign === "-" ? -amount(value) : amount(value);
  return isFloat(value) ? makeFloat(size) : makeInteger(size);
}

export function compared(operator: string, left: unknown, right: unknown): boolean {
  switch (operator) {
    case "==":
      return same(left, right);
    case "!=":
      return !same(left, right);
    case "in":
      return contains(right, left);
    case "not in":
      return !contains(right, left);
    case "is":
    case "is not":
      return isSame(left, right) === (operator === "is");
    default: {
      if ([left, right].some((one) => isNumber(one) && Number.isNaN(amount(one)))) return false;
      const by = order(left, right);
      if (operator === "<") return by < 0;
      if (operator === "<=") return by <= 0;
      return operator === ">" ? by > 0 : by >= 0;
    }
  }
}

/** Python's `is`, for the values where it doesn't depend on object identity: None, True and False. */
export function isSame(left: unknown, right: unknown): boolean {
  const single = (one: unknown): boolean => one === null || typeof one === "boolean";
  if (!single(left) && !single(right))
    throw new TemplateProblem("only None, True and False can be told apart as the same; == compares values");
  return left === right;
}

export function contains(holder: unknown, value: unknown): boolean {
  if (isText(holder)) {
    if (!isText(value)) throw new TemplateProblem(`${nameOfKind(value)} cannot be in a text`);
    return plainText(holder).includes(plainText(value));
  }
  if (isMapping(holder)) return lookUp(holder, value) !== undefined;
  return sequence(holder).some((one) => same(one, value));
}

/** Evaluates `left operator right`. `most` limits the length of a text or list. */
export function calculate(operator: string, left: unknown, right: unknown, most: number): unknown {
  if (isNumber(left) && isNumber(right)) return arithmetic(operator, left, right);
  if (operator === "+") return joined(left, right);
  if (operator === "*") {
    if (isNumber(left)) return repeated(right, left, most);
    if (isNumber(right)) return repeated(left, right, most);
  }
  if (operator === "%" && isText(left)) return percentFormat(plainText(left), right, most);
  throw new TemplateProblem(`${operator} needs numbers, not ${nameOfKind(left)} and ${nameOfKind(right)}`);
}

function joined(left: unknown, right: unknown): unknown {
  if (isText(left) && isText(right)) {
    if (left instanceof Markup || right instanceof Markup)
      throw new TemplateProblem("+ does not join escaped text and other text: use ~");
    return left + right;
  }
  if (Array.isArray(left) && Array.isArray(right) && listKind(left) === listKind(right)) {
    if (listKind(left) === "list") return [...left, ...right];
    if (listKind(left) === "tuple") return makeList([...left, ...right], "tuple");
  }
  throw new TemplateProblem(`${nameOfKind(left)} and ${nameOfKind(right)} cannot be added; ~ joins texts`);
}

function repeated(value: unknown, times: number | Float | boolean, most: number): unknown {
  if (isFloat(times)) throw new TemplateProblem("* repeats a text or list only a whole number of times");
  const count = Math.max(0, amount(times));
  if (isText(value)) {
    if (plainText(value).length * count > most) throw tooLarge(most);
    const result = plainText(value).repeat(count);
    return value instanceof Markup ? new Markup(result) : result;
  }
  if (!Array.isArray(value) || !["list", "tuple"].includes(listKind(value)))
    throw new TemplateProblem(`* needs numbers, not ${nameOfKind(value)} and a number`);
  if (value.length * count > most) throw tooLarge(most);
  const items = Array.from({ length: count }, () => value).flat(1);
  return listKind(value) === "tuple" ? makeList(items, "tuple") : items;
}

function arithmetic(
  operator: string,
  left: number | Float | boolean,
  right: number | Float | boolean,
): unknown {
  const [a, b] = [amount(left), amount(right)];
  const isAnyFloat = isFloat(left) || isFloat(right);
  const result = (value: number): unknown => (isAnyFloat ? makeFloat(value) : makeInteger(value));
  if (b === 0 && (operator === "/" || operator === "//" || operator === "%"))
    throw new TemplateProblem("division by zero");
  switch (operator) {
    case "+":
      return result(a + b);
    case "-":
      return result(a - b);
    case "*":
      return result(a * b);
    case "/":
      return makeFloat(a / b);
    case "//":
      return result(isAnyFloat ? Math.floor((a - modulo(a, b)) / b + 0.5) : Math.floor(a / b));
    case "%":
      return result(modulo(a, b));
    default:
      return power(a, b, isAnyFloat);
  }
}

/** The remainder has the sign of the divisor. */
function modulo(a: number, b: number): number {
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0
    ? rest + b
    : rest === 0 && b < 0
      ? -0
      : Math.abs(rest) === 0
        ? 0
        : rest;
}

function power(a: number, b: number, isAnyFloat: boolean): unknown {
  if (a === 0 && b < 0) throw new TemplateProblem("zero has no negative powers");
  const value = a ** b;
  if (Number.isNaN(value) && a < 0) throw new TemplateProblem("a root of a negative number is not supported");
  if (isAnyFloat || b < 0) {
    if (!Number.isFinite(value) && Number.isFinite(a) && Number.isFinite(b))
      throw new TemplateProblem("the power is too large");
    return makeFloat(value);
  }
  return makeInteger(value);
}
