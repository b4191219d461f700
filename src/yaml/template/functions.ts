import { amount, isFloat, isInteger, makeFloat, makeInteger, readFloat, readInteger } from "./numbers.ts";
import { TemplateProblem } from "./problem.ts";
import {
  Callable,
  checkKey,
  Dict,
  entriesOf,
  isMapping,
  isText,
  makeList,
  type Named,
  Namespace,
  nameOfKind,
  need,
  plainText,
  sequence,
  text,
} from "./value.ts";

/** A function available in templates. */
export class NamedFunction extends Callable {
  readonly name: string;
  readonly #run: (args: readonly unknown[], named: Named) => unknown;
  readonly #attributes: Readonly<Record<string, () => unknown>>;

  constructor(
    name: string,
    run: (args: readonly unknown[], named: Named) => unknown,
    attributes: Readonly<Record<string, () => unknown>> = {},
  ) {
    super();
    [this.name, this.#run, this.#attributes] = [name, run, attributes];
  }

  override attribute(name: string): unknown {
    return Object.hasOwn(this.#attributes, name) ? this.#attributes[name]?.() : undefined;
  }

  call(args: readonly unknown[], named: Named): unknown {
    return this.#run(args, named);
  }
}

const noNames = (name: string, named: Named): void => {
  if (named.size > 0) throw new TemplateProblem(`${name}() takes nothing by name`);
};

function range(args: readonly unknown[], named: Named, most: number): readonly unknown[] {
  noNames("range", named);
  if (args.length === 0 || args.length > 3 || !args.every(isInteger))
    throw new TemplateProblem("range() takes one to three whole numbers");
  const [first, second, step = 1] = args as number[];
  const [from, to] = second === undefined ? [0, first as number] : [first as number, second];
  if (step === 0) throw new TemplateProblem("range() needs a step other than 0");
  const count = Math.max(0, Math.ceil((to - from) / step));
  if (count > most) throw new TemplateProblem(`range() may make up to ${most} numbers, not ${count}`);
  return makeList(
    Array.from({ length: count }, (_, index) => from + index * step),
    "range",
  );
}

function pairs(name: string, args: readonly unknown[], named: Named): (readonly [unknown, unknown])[] {
  if (args.length > 1) throw new TemplateProblem(`${name}() takes one object, and values by name`);
  for (const key of named.keys()) checkKey(key);
  const [given] = args.map(need);
  const first = given === undefined ? [] : isMapping(given) ? entriesOf(given) : sequence(given).map(pairOf);
  for (const [key] of first) if (isText(key)) checkKey(plainText(key));
  return [...first, ...named];
}

function pairOf(pair: unknown): readonly [unknown, unknown] {
  const [key, value, ...rest] = sequence(pair);
  if (value === undefined || rest.length > 0)
    throw new TemplateProblem("pairs of a key and a value are needed");
  return [key, value];
}

function namespace(args: readonly unknown[], named: Named): Namespace {
  const made = new Namespace();
  for (const [key, value] of pairs("namespace", args, named)) made.values.set(text(key), value);
  return made;
}

/** `cycler("a", "b")`: `next()` returns the current item and advances. */
function cycler(items: readonly unknown[], named: Named): Callable {
  noNames("cycler", named);
  if (items.length === 0) throw new TemplateProblem("cycler() needs something to cycle through");
  let at = 0;
  return new NamedFunction(
    "cycler",
    () => {
      throw new TemplateProblem("a cycler is not called: use next()");
    },
    {
      current: () => items[at],
      next: () =>
        new NamedFunction("next", () => {
          const now = items[at];
          at = (at + 1) % items.length;
          return now;
        }),
      reset: () =>
        new NamedFunction("reset", () => {
          at = 0;
          return null;
        }),
    },
  );
}

/** `joiner(", ")`: empty the first time, then the text. */
function joiner(args: readonly unknown[], named: Named): Callable {
  const separator = args[0] ?? named.get("sep") ?? ", ";
  if (args.length > 1 || [...named.keys()].some((name) => name !== "sep"))
    throw new TemplateProblem("joiner() takes one text");
  let isUsed = false;
  return new NamedFunction("joiner", () => {
    if (isUsed) return separator;
    isUsed = true;
    return "";
  });
}

export const GLOBAL_NAMES: readonly string[] = ["range", "dict", "namespace", "cycler", "joiner"];

/** The functions that every template has. `most` limits range(). */
export function globals(most: number): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>([
    ["range", new NamedFunction("range", (args, named) => range(args, named, most))],
    ["dict", new NamedFunction("dict", (args, named) => new Dict(pairs("dict", args, named)))],
    ["namespace", new NamedFunction("namespace", namespace)],
    ["cycler", new NamedFunction("cycler", cycler)],
    ["joiner", new NamedFunction("joiner", joiner)],
  ]);
}

/** The functions of a simple condition. */
export const CONDITION_FUNCTIONS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  [
    "int",
    new NamedFunction("int", ([value], named) => {
      noNames("int", named);
      return wholeOf(value);
    }),
  ],
  [
    "float",
    new NamedFunction("float", ([value], named) => {
      noNames("float", named);
      return makeFloat(sizeOf(value, "float"));
    }),
  ],
  [
    "str",
    new NamedFunction("str", ([value = ""], named) => {
      noNames("str", named);
      return text(value);
    }),
  ],
]);

function sizeOf(value: unknown, name: string): number {
  const read = isText(value) ? readFloat(plainText(value)) : undefined;
  const size =
    read ??
    (isFloat(value) || typeof value === "number" || typeof value === "boolean" ? amount(value) : undefined);
  if (size === undefined) throw new TemplateProblem(`${name}() cannot read ${nameOfKind(need(value))}`);
  return size;
}

function wholeOf(value: unknown): number {
  if (!isText(value)) return makeInteger(Math.trunc(sizeOf(value, "int")));
  const read = readInteger(plainText(value), 10);
  if (read === undefined) throw new TemplateProblem("int() cannot read that text");
  return read;
}
