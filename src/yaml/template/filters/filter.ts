import { type Float, isFloat, isInteger, isNumber } from "../numbers.ts";
import { TemplateProblem, tooLarge } from "../problem.ts";
import type { Named } from "../value.ts";
import { isText, nameOfKind, need, plainText, truthy } from "../value.ts";

/** What a filter may use of the template it stands in. */
export interface FilterSurroundings {
  /** How long a text may get. */
  readonly most: number;
  /** Counts work beyond going once through what is given. */
  spend(work: number): void;
  /** The value under a key or at an index, as `[…]` would find it. */
  item(value: unknown, key: string | number): unknown;
  filter(name: string, value: unknown, args: readonly unknown[], named: Named): unknown;
  test(name: string, value: unknown, args: readonly unknown[], named: Named): boolean;
}

export interface Filter {
  /** The names of what it takes, in order; undefined: anything. */
  readonly parameters: readonly string[] | undefined;
  readonly required: number;
  /** Whether it is for values that are not there. */
  readonly takesMissing: boolean;
  apply(value: unknown, args: readonly unknown[], named: Named, around: FilterSurroundings): unknown;
}

/** What a parameter must be given. */
export const REQUIRED = Symbol("required");

/** The values that a filter was given, by name. */
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

  /** A text; a text of that length must be possible. */
  string(name: string): string {
    return stringOf(this.#values.get(name));
  }

  /** Undefined when it is none. */
  optional(name: string): string | undefined {
    const value = this.#values.get(name);
    return value === null ? undefined : stringOf(value);
  }

  /** Refuses what would get too long, before it is made. */
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

/** A filter with the parameters that Jinja documents, in its order, and what they are when they are not given. */
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

/** A filter that takes whatever it is given. */
export const variadic = (apply: Filter["apply"]): Filter => ({
  parameters: undefined,
  required: 0,
  takesMissing: false,
  apply,
});

/** What is wrong with what a filter is given, if anything. */
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
