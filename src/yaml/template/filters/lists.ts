import { calculate } from "../operators.ts";
import { TemplateProblem } from "../problem.ts";
import {
  entriesOf,
  hashed,
  isMapping,
  isText,
  Lazy,
  lengthOf,
  Missing,
  makeGroup,
  makeList,
  type Named,
  nameOfKind,
  need,
  order,
  plainText,
  same,
  sequence,
  text,
  truthy,
  unlisted,
} from "../value.ts";
import { type Filter, type FilterSurroundings, filter, type Given, REQUIRED, variadic } from "./filter.ts";

/** `"a.b.0"`: the parts of a path, numbers as indexes. */
const parts = (path: unknown): (string | number)[] => {
  if (typeof path === "number") return [path];
  if (!isText(path)) throw new TemplateProblem(`an attribute is a name, not ${nameOfKind(path)}`);
  return plainText(path)
    .split(".")
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
};

type Key = (value: unknown) => unknown;

/** Returns a function that reads an attribute. Without a path it returns the value itself. */
function attribute(path: unknown, around: FilterSurroundings, fallback: unknown = null): Key {
  if (path === null || path === undefined) return (value) => value;
  const steps = parts(path);
  return (value) =>
    steps.reduce<unknown>((found, step) => {
      if (found instanceof Missing) throw new TemplateProblem(`${text(path)} is not there`);
      const next = around.item(found, step);
      return next instanceof Missing && fallback !== null ? fallback : next;
    }, value);
}

const folded = (value: unknown): unknown => (isText(value) ? plainText(value).toLowerCase() : value);
const keyed = (given: Given, fallback: unknown = null): Key => {
  const key = attribute(given.get("attribute"), given.around, fallback);
  return given.is("case_sensitive") ? (value) => need(key(value)) : (value) => folded(need(key(value)));
};

function sorted(value: unknown, given: Given): unknown[] {
  const path = given.get("attribute");
  const paths = isText(path) ? plainText(path).split(",") : [path];
  const keys = paths.map((one) => attribute(one, given.around));
  const fold: Key = given.is("case_sensitive") ? (one) => one : folded;
  const key: Key = (one) => keys.map((step) => fold(need(step(one))));
  return inOrder(value, key, given.is("reverse"), given.around).map(({ item }) => item);
}

/** Stable in both directions, as in Python. */
function inOrder(value: unknown, key: Key, isReversed: boolean, around: FilterSurroundings): Keyed[] {
  const items = sequence(value);
  around.spend(items.length * Math.ceil(Math.log2(items.length + 1)));
  const sign = isReversed ? -1 : 1;
  return items.map((item) => ({ item, key: key(item) })).sort((a, b) => sign * order(a.key, b.key));
}

interface Keyed {
  readonly item: unknown;
  readonly key: unknown;
}

function unique(value: unknown, given: Given): Lazy {
  const key = keyed(given);
  const seen = new Set<string>();
  return new Lazy(
    sequence(value).filter((one) => {
      const mark = hashed(key(one));
      if (seen.has(mark)) return false;
      seen.add(mark);
      return true;
    }),
  );
}

const extreme = (sign: number): Filter =>
  filter({ case_sensitive: false, attribute: null }, (value, given) => {
    const items = sequence(value);
    if (items.length === 0) return new Missing("the least or greatest of an empty list", []);
    const key = keyed(given);
    return items
      .map((item) => ({ item, key: key(item) }))
      .reduce((best, one) => (sign * order(one.key, best.key) > 0 ? one : best)).item;
  });

function grouped(value: unknown, given: Given): unknown[] {
  const fallback = given.get("default");
  const key = keyed(given, fallback);
  const shown = attribute(given.get("attribute"), given.around, fallback);
  const groups: { key: unknown; members: unknown[] }[] = [];
  for (const { item, key: its } of inOrder(value, key, false, given.around)) {
    const last = groups.at(-1);
    if (last && same(last.key, its)) last.members.push(item);
    else groups.push({ key: its, members: [item] });
  }
  return groups.map(({ members }) => makeGroup(shown(members[0]), members));
}

function dictSorted(value: unknown, given: Given): unknown[] {
  if (!isMapping(value)) throw new TemplateProblem("dictsort takes an object");
  const by = given.get("by");
  if (by !== "key" && by !== "value") throw new TemplateProblem('dictsort sorts by "key" or "value"');
  const fold: Key = given.is("case_sensitive") ? (one) => one : folded;
  const pairs = entriesOf(value).map((pair) => makeList(pair, "tuple"));
  const key: Key = (pair) => fold((pair as unknown[])[by === "key" ? 0 : 1]);
  return inOrder(pairs, key, given.is("reverse"), given.around).map(({ item }) => item);
}

function batches(value: unknown, given: Given): Lazy {
  const size = given.whole("linecount");
  const fill = given.get("fill_with");
  if (size <= 0) throw new TemplateProblem("batch needs a number of at least 1");
  const items = sequence(value);
  const made: unknown[][] = [];
  for (let at = 0; at < items.length; at += size) made.push(items.slice(at, at + size) as unknown[]);
  const last = made.at(-1);
  given.room(size);
  if (last && fill !== null) while (last.length < size) last.push(fill);
  return new Lazy(made);
}

function slices(value: unknown, given: Given): Lazy {
  const count = given.whole("slices");
  const fill = given.get("fill_with");
  if (count <= 0) throw new TemplateProblem("slice needs a number of at least 1");
  given.room(count);
  const items = sequence(value);
  const [size, extra] = [Math.floor(items.length / count), items.length % count];
  let offset = 0;
  return new Lazy(
    Array.from({ length: count }, (_, index) => {
      const start = offset + index * size;
      if (index < extra) offset += 1;
      const part = items.slice(start, offset + (index + 1) * size);
      return fill !== null && index >= extra ? [...part, fill] : part;
    }),
  );
}

const mapped: Filter["apply"] = (value, args, named, around) => {
  const [name, ...rest] = args;
  if (args.length === 0 && named.has("attribute")) {
    const stranger = [...named.keys()].find((key) => key !== "attribute" && key !== "default");
    if (stranger !== undefined) throw new TemplateProblem(`map takes no ${stranger}`);
    const key = attribute(named.get("attribute"), around, named.get("default") ?? null);
    return lazily(value, key);
  }
  if (!isText(name)) throw new TemplateProblem("map needs the name of a filter, or attribute=…");
  return lazily(value, (one) => around.filter(plainText(name), one, rest, named));
};

const lazily = (value: unknown, key: Key): Lazy => new Lazy(sequence(value).map(key));

/** `select`, `reject`, and with `byAttribute` `selectattr`, `rejectattr`. */
const chosen = (isWanted: boolean, byAttribute: boolean): Filter =>
  variadic((value, args, named, around) => {
    if (!(value instanceof Lazy) && !truthy(value)) return new Lazy([]);
    if (byAttribute && args.length === 0)
      throw new TemplateProblem("selectattr and rejectattr need an attribute");
    const key = byAttribute ? attribute(args[0], around) : (one: unknown) => one;
    const [test, ...rest] = byAttribute ? args.slice(1) : args;
    return new Lazy(
      sequence(value).filter((one) => passes(key(one), test, rest, named, around) === isWanted),
    );
  });

function passes(
  value: unknown,
  test: unknown,
  rest: readonly unknown[],
  named: Named,
  around: FilterSurroundings,
): boolean {
  if (test === undefined) return truthy(need(value));
  if (!isText(test)) throw new TemplateProblem("a test is given by its name");
  return around.test(plainText(test), value, rest, named);
}

function length(value: unknown): number {
  if (value instanceof Lazy) throw unlisted("counted");
  if (isText(value)) return lengthOf(plainText(value));
  if (isMapping(value) || Array.isArray(value)) return sequence(value).length;
  throw new TemplateProblem(`${nameOfKind(value)} has no length`);
}

function last(value: unknown): unknown {
  if (value instanceof Lazy) throw unlisted("asked for its last");
  const items = sequence(value);
  return items.length === 0 ? new Missing("the last of an empty list", []) : items.at(-1);
}

function first(value: unknown): unknown {
  const [one] = value instanceof Lazy ? value.take(1) : sequence(value);
  return one === undefined ? new Missing("the first of an empty list", []) : one;
}

function reversed(value: unknown): unknown {
  if (isText(value)) return Array.from(plainText(value)).reverse().join("");
  const items = [...sequence(value)].reverse();
  return value instanceof Lazy ? items : new Lazy(items);
}

function sum(value: unknown, given: Given): unknown {
  const key = attribute(given.get("attribute"), given.around);
  if (isText(given.get("start"))) throw new TemplateProblem("sum does not add texts: use join");
  return sequence(value).reduce<unknown>((total, one) => {
    const next = need(key(one));
    if (isText(next)) throw new TemplateProblem("sum does not add texts: use join");
    return calculate("+", total, next, given.around.most);
  }, given.get("start"));
}

export const LIST_FILTERS: Readonly<Record<string, Filter>> = {
  batch: filter({ linecount: REQUIRED, fill_with: null }, batches),
  dictsort: filter({ case_sensitive: false, by: "key", reverse: false }, dictSorted),
  first: filter({}, first),
  groupby: filter({ attribute: REQUIRED, default: null, case_sensitive: false }, grouped),
  items: filter(
    {},
    (value) => {
      if (value instanceof Missing) return new Lazy([]);
      if (!isMapping(value)) throw new TemplateProblem("items takes an object");
      return new Lazy(entriesOf(value).map((pair) => makeList(pair, "tuple")));
    },
    true,
  ),
  join: filter({ d: "", attribute: null }, (value, given) => {
    const key = attribute(given.get("attribute"), given.around);
    const texts = sequence(value).map((one) => text(need(key(one))));
    const by = text(given.get("d"));
    given.room(texts.reduce((total, one) => total + one.length + by.length, 0));
    return texts.join(by);
  }),
  last: filter({}, last),
  length: filter({}, length),
  list: filter({}, (value) => [...sequence(value)]),
  map: variadic(mapped),
  max: extreme(1),
  min: extreme(-1),
  reject: chosen(false, false),
  rejectattr: chosen(false, true),
  reverse: filter({}, reversed),
  select: chosen(true, false),
  selectattr: chosen(true, true),
  slice: filter({ slices: REQUIRED, fill_with: null }, slices),
  sort: filter({ reverse: false, case_sensitive: false, attribute: null }, sorted),
  sum: filter({ attribute: null, start: 0 }, sum),
  unique: filter({ case_sensitive: false, attribute: null }, unique),
};
