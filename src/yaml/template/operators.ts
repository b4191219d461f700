import { isPlain, nameOfKind, order, same, TemplateProblem, text, tooLarge } from "./value.ts";

export function negative(operator: string, value: unknown): number {
  if (typeof value !== "number")
    throw new TemplateProblem(`${operator} needs a number, not ${nameOfKind(value)}`);
  return operator === "-" ? -value : value;
}

/** What `left operator right` comes to. `most`: how long a text may get. */
export function binary(operator: string, left: unknown, right: unknown, most: number): unknown {
  switch (operator) {
    case "==":
      return same(left, right);
    case "!=":
      return !same(left, right);
    case "<":
      return order(left, right) < 0;
    case "<=":
      return order(left, right) <= 0;
    case ">":
      return order(left, right) > 0;
    case ">=":
      return order(left, right) >= 0;
    case "in":
      return contains(right, left);
    case "not in":
      return !contains(right, left);
    case "~":
      return text(left) + text(right);
    case "+":
      return plus(left, right);
    default:
      return calculate(operator, left, right, most);
  }
}

function contains(holder: unknown, value: unknown): boolean {
  if (Array.isArray(holder)) return holder.some((one) => same(one, value));
  if (typeof holder === "string") return holder.includes(text(value));
  if (isPlain(holder)) return Object.hasOwn(holder, text(value));
  throw new TemplateProblem(`nothing can be in ${nameOfKind(holder)}`);
}

function plus(left: unknown, right: unknown): unknown {
  if (typeof left === "number" && typeof right === "number") return left + right;
  if (typeof left === "string" && typeof right === "string") return left + right;
  if (Array.isArray(left) && Array.isArray(right)) return [...left, ...right];
  throw new TemplateProblem(`${nameOfKind(left)} and ${nameOfKind(right)} cannot be added; ~ joins texts`);
}

function calculate(operator: string, left: unknown, right: unknown, most: number): unknown {
  if (operator === "*" && typeof left === "string" && typeof right === "number") {
    if (left.length * right > most) throw tooLarge(most);
    return left.repeat(Math.max(0, Math.trunc(right)));
  }
  if (typeof left !== "number" || typeof right !== "number")
    throw new TemplateProblem(`${operator} needs numbers, not ${nameOfKind(left)} and ${nameOfKind(right)}`);
  if (right === 0 && operator !== "*" && operator !== "**" && operator !== "-")
    throw new TemplateProblem("division by zero");
  switch (operator) {
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
    case "//":
      return Math.floor(left / right);
    case "%":
      return left - right * Math.floor(left / right);
    case "**":
      return left ** right;
    default:
      throw new TemplateProblem(`there is no operator ${operator}`);
  }
}
