import { braceFormat } from "./format.ts";
import { isInteger } from "./numbers.ts";
import { TemplateProblem, tooLarge } from "./problem.ts";
import { capitalized, centered, isSpace, splitLines, stripped, titled, words } from "./python-text.ts";
import {
  Callable,
  characters,
  Dict,
  entriesOf,
  hashed,
  isMapping,
  isText,
  lengthOf,
  lookUp,
  makeList,
  type Named,
  nameOfKind,
  type Plain,
  plainText,
  same,
  sequence,
} from "./value.ts";

/** The part of the template that a method may use. */
export interface Surroundings {
  /** The maximum length of a text. */
  readonly most: number;
  spend(work: number): void;
  reach(value: unknown, key: string | number): unknown;
}

type Method<T> = (self: T, args: readonly unknown[], named: Named, around: Surroundings) => unknown;

const string = (value: unknown): string => {
  if (isText(value)) return plainText(value);
  throw new TemplateProblem(`a text is needed, not ${nameOfKind(value)}`);
};
const whole = (value: unknown, otherwise: number): number => {
  if (value === undefined || value === null) return otherwise;
  if (isInteger(value)) return value;
  throw new TemplateProblem(`a whole number is needed, not ${nameOfKind(value)}`);
};
const optional = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : string(value);

export function replaced(self: string, from: string, to: string, count: number, most: number): string {
  if (from === "") {
    const all = characters(self);
    const times = count < 0 ? all.length + 1 : Math.min(count, all.length + 1);
    if (self.length + times * to.length > most) throw tooLarge(most);
    const head = all.map((one, index) => (index < times ? to + one : one)).join("");
    return times > all.length ? head + to : head;
  }
  const parts = self.split(from);
  const times = count < 0 ? parts.length - 1 : Math.min(count, parts.length - 1);
  if (self.length + times * to.length > most) throw tooLarge(most);
  return [parts.slice(0, times + 1).join(to), ...parts.slice(times + 1)].join(from);
}

const split: Method<string> = (self, args, named) => {
  const by = args[0] ?? named.get("sep");
  const most = whole(args[1] ?? named.get("maxsplit"), -1);
  if (by === undefined || by === null) return words(self, most);
  if (string(by) === "") throw new TemplateProblem("a text cannot be split at nothing");
  const parts = self.split(string(by));
  if (most < 0 || parts.length <= most + 1) return parts;
  return [...parts.slice(0, most), parts.slice(most).join(string(by))];
};

const splitFromRight: Method<string> = (self, args, named) => {
  const by = args[0] ?? named.get("sep");
  const most = whole(args[1] ?? named.get("maxsplit"), -1);
  if (by === undefined || by === null) {
    if (most < 0) return words(self);
    throw new TemplateProblem("rsplit at spaces with a limit is not supported");
  }
  if (string(by) === "") throw new TemplateProblem("a text cannot be split at nothing");
  const parts = self.split(string(by));
  if (most < 0 || parts.length <= most + 1) return parts;
  const from = parts.length - most;
  return [parts.slice(0, from).join(string(by)), ...parts.slice(from)];
};

const partition =
  (isLast: boolean): Method<string> =>
  (self, [by]) => {
    const at = isLast ? self.lastIndexOf(string(by)) : self.indexOf(string(by));
    if (string(by) === "") throw new TemplateProblem("a text cannot be split at nothing");
    const parts =
      at < 0
        ? isLast
          ? ["", "", self]
          : [self, "", ""]
        : [self.slice(0, at), by, self.slice(at + string(by).length)];
    return makeList(parts, "tuple");
  };

/** The index of a part by code point, or -1. */
const found =
  (isLast: boolean, isStrict: boolean): Method<string> =>
  (self, args) => {
    const [from, to] = [args[1], args[2]].map((one) =>
      one === undefined || one === null ? undefined : whole(one, 0),
    );
    const all = characters(self);
    const start = from === undefined ? 0 : from < 0 ? Math.max(0, all.length + from) : from;
    const inner = all.slice(start, to).join("");
    const at = isLast ? inner.lastIndexOf(string(args[0])) : inner.indexOf(string(args[0]));
    if (at < 0 && isStrict) throw new TemplateProblem("the text does not have the part that is looked for");
    return at < 0 || start > all.length ? -1 : start + lengthOf(inner.slice(0, at));
  };

const begins =
  (isEnd: boolean): Method<string> =>
  (self, args) => {
    if (args.length > 1)
      throw new TemplateProblem("startswith and endswith take one text, or several in brackets");
    const parts = Array.isArray(args[0]) ? args[0] : [args[0]];
    return parts.some((part) => (isEnd ? self.endsWith(string(part)) : self.startsWith(string(part))));
  };

const pad =
  (side: "left" | "right" | "both"): Method<string> =>
  (self, args, _, { most }) => {
    const [width, fill] = [whole(args[0], 0), optional(args[1]) ?? " "];
    if (lengthOf(fill) !== 1) throw new TemplateProblem("the fill must be one character");
    if (width > most) throw tooLarge(most);
    if (side === "both") return centered(self, width, fill);
    const room = fill.repeat(Math.max(0, width - lengthOf(self)));
    return side === "left" ? self + room : room + self;
  };

const all =
  (pattern: RegExp): Method<string> =>
  (self) =>
    pattern.test(self);
const cased =
  (wanted: RegExp, other: RegExp): Method<string> =>
  (self) =>
    wanted.test(self) && !other.test(self);

const OF_TEXT: Readonly<Record<string, Method<string>>> = {
  capitalize: (self) => capitalized(self),
  casefold: (self) => self.toLowerCase().replaceAll("ß", "ss"),
  center: pad("both"),
  count: (self, args) => {
    if (args.length > 1) throw new TemplateProblem("count within a part of a text is not supported");
    return string(args[0]) === "" ? lengthOf(self) + 1 : self.split(string(args[0])).length - 1;
  },
  endswith: begins(true),
  expandtabs: (self, args, named, { most }) => {
    const width = whole(args[0] ?? named.get("tabsize"), 8);
    const tabs = self.split("\t").length - 1;
    if (self.length + tabs * width > most) throw tooLarge(most);
    let column = 0;
    return characters(self)
      .map((one) => {
        const spaces = width > 0 ? width - (column % width) : 0;
        column = one === "\n" || one === "\r" ? 0 : column + (one === "\t" ? spaces : 1);
        return one === "\t" ? " ".repeat(spaces) : one;
      })
      .join("");
  },
  find: found(false, false),
  format: (self, args, named, around) =>
    braceFormat(self, args, named, around.most, (value, key) => around.reach(value, key)),
  index: found(false, true),
  isalnum: all(/^[\p{L}\p{N}]+$/u),
  isalpha: all(/^\p{L}+$/u),
  isascii: (self) => !/[^\0-\x7f]/.test(self),
  isdecimal: all(/^\p{Nd}+$/u),
  isdigit: all(/^[\p{Nd}\u00b2\u00b3\u00b9\u2070-\u2079\u2080-\u2089]+$/u),
  islower: cased(/\p{Ll}/u, /\p{Lu}|\p{Lt}/u),
  isnumeric: all(/^\p{N}+$/u),
  isspace: (self) => self !== "" && isSpace(self),
  istitle: (self) => /\p{L}/u.test(self) && titled(self) === self,
  isupper: cased(/\p{Lu}/u, /\p{Ll}|\p{Lt}/u),
  join: (self, [parts], _, { most }) => {
    const texts = sequence(parts).map(string);
    if (texts.reduce((sum, one) => sum + one.length + self.length, 0) > most) throw tooLarge(most);
    return texts.join(self);
  },
  ljust: pad("left"),
  lower: (self) => self.toLowerCase(),
  lstrip: (self, [chars]) => stripped(self, optional(chars), "left"),
  partition: partition(false),
  removeprefix: (self, [head]) => (self.startsWith(string(head)) ? self.slice(string(head).length) : self),
  removesuffix: (self, [tail]) =>
    string(tail) !== "" && self.endsWith(string(tail)) ? self.slice(0, -string(tail).length) : self,
  replace: (self, [from, to, count], _, { most }) =>
    replaced(self, string(from), string(to), whole(count, -1), most),
  rfind: found(true, false),
  rindex: found(true, true),
  rjust: pad("right"),
  rpartition: partition(true),
  rsplit: splitFromRight,
  rstrip: (self, [chars]) => stripped(self, optional(chars), "right"),
  split,
  splitlines: (self, [keep], named) => splitLines(self, Boolean(keep ?? named.get("keepends"))),
  startswith: begins(false),
  strip: (self, [chars]) => stripped(self, optional(chars), "both"),
  swapcase: (self) =>
    characters(self)
      .map((one) => (one === one.toUpperCase() ? one.toLowerCase() : one.toUpperCase()))
      .join(""),
  title: (self) => titled(self),
  upper: (self) => self.toUpperCase(),
  zfill: (self, [width], _, { most }) => {
    if (whole(width, 0) > most) throw tooLarge(most);
    const [sign = ""] = /^[+-]?/.exec(self) ?? [];
    const room = Math.max(0, whole(width, 0) - lengthOf(self));
    return sign + "0".repeat(room) + self.slice(sign.length);
  },
};

const OF_LIST: Readonly<Record<string, Method<readonly unknown[]>>> = {
  copy: (self) => [...self],
  count: (self, [value]) => self.filter((one) => same(one, value)).length,
  index: (self, args) => {
    const at = self.findIndex((one) => same(one, args[0]));
    if (at < 0 || args.length > 1) throw new TemplateProblem("the list does not have what is looked for");
    return at;
  },
};

const OF_OBJECT: Readonly<Record<string, Method<Plain | Dict>>> = {
  copy: (self) => new Dict(entriesOf(self)),
  get: (self, [key, fallback = null]) => {
    hashed(key);
    const found = lookUp(self, key);
    return found === undefined ? fallback : found;
  },
  items: (self) =>
    makeList(
      entriesOf(self).map((pair) => makeList(pair, "tuple")),
      "view",
    ),
  keys: (self) =>
    makeList(
      entriesOf(self).map(([key]) => key),
      "view",
    ),
  values: (self) =>
    makeList(
      entriesOf(self).map(([, value]) => value),
      "view",
    ),
};

/** Python methods that modify their object, or that make no sense here. */
const REFUSED: Readonly<Record<string, string>> = Object.fromEntries(
  [
    "append",
    "extend",
    "insert",
    "remove",
    "pop",
    "clear",
    "sort",
    "reverse",
    "update",
    "setdefault",
    "popitem",
  ].map((name) => [
    name,
    "data cannot be changed in a template; namespace() and {% set %} hold what changes",
  ]),
);

/** The names of all methods that a template can call. */
export const METHOD_NAMES: readonly string[] = [
  ...new Set([...Object.keys(OF_TEXT), ...Object.keys(OF_LIST), ...Object.keys(OF_OBJECT)]),
];

export const methodProblem = (name: string): string | undefined =>
  METHOD_NAMES.includes(name)
    ? undefined
    : (REFUSED[name] ?? "texts, lists and objects have no such method in a template");

/** The number of positional arguments of each method; none if not listed. */
const ARITY: Readonly<Record<string, readonly [least: number, most: number]>> = {
  center: [1, 2],
  count: [1, 1],
  endswith: [1, 1],
  expandtabs: [0, 1],
  find: [1, 3],
  format: [0, 1_000],
  get: [1, 2],
  index: [1, 3],
  join: [1, 1],
  ljust: [1, 2],
  lstrip: [0, 1],
  partition: [1, 1],
  removeprefix: [1, 1],
  removesuffix: [1, 1],
  replace: [2, 3],
  rfind: [1, 3],
  rindex: [1, 3],
  rjust: [1, 2],
  rpartition: [1, 1],
  rsplit: [0, 2],
  rstrip: [0, 1],
  split: [0, 2],
  splitlines: [0, 1],
  startswith: [1, 1],
  strip: [0, 1],
  zfill: [1, 1],
};
const BY_NAME: Readonly<Record<string, readonly string[]>> = {
  split: ["sep", "maxsplit"],
  rsplit: ["sep", "maxsplit"],
  splitlines: ["keepends"],
  expandtabs: ["tabsize"],
};

/** The problem with a method call, if any. */
export function callProblem(name: string, count: number, named: readonly string[]): string | undefined {
  const [least, most] = ARITY[name] ?? [0, 0];
  const stranger = name === "format" ? undefined : named.find((one) => !BY_NAME[name]?.includes(one));
  if (stranger !== undefined) return `${name}() takes no ${stranger}`;
  if (count > most) return `${name}() takes ${most === 0 ? "nothing" : `at most ${most}`} in its brackets`;
  return count < least ? `${name}() needs ${least} in its brackets` : undefined;
}

/** Methods process each character separately. */
const PER_UNIT = 8;

class BoundMethod<T> extends Callable {
  readonly name: string;
  readonly #method: Method<T>;
  readonly #self: T;
  readonly #around: Surroundings;

  constructor(name: string, method: Method<T>, self: T, around: Surroundings) {
    super();
    [this.name, this.#method, this.#self, this.#around] = [name, method, self, around];
  }

  call(args: readonly unknown[], named: Named): unknown {
    const problem = callProblem(this.name, args.length, [...named.keys()]);
    if (problem !== undefined) throw new TemplateProblem(problem);
    const size = typeof this.#self === "string" ? this.#self.length : 0;
    this.#around.spend(Math.ceil(size / PER_UNIT));
    return this.#method(this.#self, args, named, this.#around);
  }
}

/** The value's method of that name, if it has one. */
export function methodOf(self: unknown, name: string, around: Surroundings): Callable | undefined {
  const of = <T>(table: Readonly<Record<string, Method<T>>>, value: T): Callable | undefined => {
    const method = Object.hasOwn(table, name) ? table[name] : undefined;
    return method && new BoundMethod(name, method, value, around);
  };
  if (isText(self)) return of(OF_TEXT, plainText(self));
  if (Array.isArray(self)) return of<readonly unknown[]>(OF_LIST, self);
  return isMapping(self) ? of<Plain | Dict>(OF_OBJECT, self) : undefined;
}
