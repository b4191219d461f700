import { type Float, isFloat, isInteger, isNumber } from "../numbers.ts";
import { TemplateProblem, tooLarge } from "../problem.ts";
import type { Named } from "../value.ts";
import { isText, nameOfKind, need, plainText, truthy } from "../value.ts";

/** The part of the surrounding template that a filter may use. */
export interface FilterSurroundings {
  /** The maximum length of a text. */
  readonly most: number;
  /** Charges for work beyond one pass over the input. */
  spend(work: number): void;
  /** The value at a key or index, as `[…]` finds it. */
  item(value: unknown, key: string | number): unknown;
  filter(name: string, value: unknown, args: readonly unknown[], named: Named): unknown;
  test(name: string, value: unknown, args: readonly unknown[], named: Named): boolean;
}

export interface Filter {
  /** The names of its parameters in order; undefined accepts anything. */
  readonly parameters: readonly string[] | undefined;
  readonly required: number;
  /** True when the filter accepts missing values. */
  readonly takesMissing: boolean;
  apply(value: unknown, args: readonly unknown[], named: Named, around: FilterSurroundings): unknown;
}

/** Marks a parameter without a default. */
export const REQUIRED = Symbol("required");

/** A filter's arguments, by name. */
export class Given {
  readonly #values: ReadonlyMap<string, unknown>;
  readonly around: FilterSurroundings;

  constructor(values: ReadonlyMap<string, unknown>, around: FilterSurroundings) {
    this.#values = values;
    this.around = around;
  }

  get(name: string): unknown {
    return this.#values.get(name);
  }

  is(name: string): boolean {
    return truthy(this.#values.get(name));
  }

  whole(name: string): number {
    const value = this.#values.get(name);
    if (isInteger(value)) return value;
    throw new TemplateProblem(`${name} must be a whole number, not ${nameOfKind(need(value))}`);
  }

  /** A text, checked against the length limit. */
  string(name: string): string {
    return stringOf(this.#values.get(name));
  }

  /** Returns undefined when it is none. */
  optional(name: string): string | undefined {
    const value = this.#values.get(name);
    return value === null ? undefined : stringOf(value);
  }

  /** Refuses a result that would be too long, before it is built. */
  room(length: number): void {
    if (length > this.around.most) throw tooLarge(this.around.most);
  }
}

export function stringOf(value: unknown): string {
  if (isText(value)) return plainText(value);
  throw new TemplateProblem(`a text is needed, not ${nameOfKind(need(value))}`);
}

export function numberOf(value: unknown): number | Float | boolean {
  if (isNumber(value) || isFloat(value)) return value;
  throw new TemplateProblem(`a number is needed, not ${nameOfKind(need(value))}`);
}

type Run = (value: unknown, given: Given) => unknown;

/** Defines a filter with the parameters that Jinja documents, in that order, and their defaults. */
export function filter(defaults: Readonly<Record<string, unknown>>, run: Run, takesMissing = false): Filter {
  const parameters = Object.keys(defaults);
  const required = parameters.filter((name) => defaults[name] === REQUIRED).length;
  return {
    parameters,
    required,
    takesMissing,
    apply: (value, args, named, around) => {
      const problem = argumentProblem(parameters, required, args.length, [...named.keys()]);
      if (problem !== undefined) throw new TemplateProblem(problem);
      const values = new Map(Object.entries(defaults));
      for (const [index, one] of args.entries()) values.set(parameters[index] as string, one);
      for (const [name, one] of named) values.set(name, one);
      return run(value, new Given(values, around));
    },
  };
}

/** Defines a filter that accepts any arguments. */
export const variadic = (apply: Filter["apply"]): Filter => ({
  parameters: undefined,
  required: 0,
  takesMissing: false,
  apply,
});

/** The problem with a filter's arguments, if any. */
export function argumentProblem(
  parameters: readonly string[] | undefined,
  required: number,
  count: number,
  named: readonly string[],
): string | undefined {
  if (!parameters) return undefined;
  if (count > parameters.length) return `it takes at most ${parameters.length} values`;
  const stranger = named.find((name) => !parameters.includes(name));
  if (stranger !== undefined) return `it takes no ${stranger}`;
  const twice = named.find((name) => parameters.indexOf(name) < count);
  if (twice !== undefined) return `it is given ${twice} twice`;
  const missing = parameters.slice(count, required).find((name) => !named.includes(name));
  return missing === undefined ? undefined : `it needs ${missing}`;
}
