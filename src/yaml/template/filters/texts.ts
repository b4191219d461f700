import { percentFormat } from "../format.ts";
import { dumps } from "../json.ts";
import { replaced } from "../methods.ts";
import { isInteger } from "../numbers.ts";
import { TemplateProblem } from "../problem.ts";
import { capitalized, centered, pretty, splitLines, stripped, words } from "../python-text.ts";
import {
  Dict,
  entriesOf,
  isMapping,
  isText,
  lengthOf,
  Markup,
  Missing,
  makeList,
  plainText,
  sequence,
  text,
  truthy,
} from "../value.ts";
import { wrapped } from "../wrap.ts";
import { type Filter, filter, type Given, REQUIRED, stringOf, variadic } from "./filter.ts";

const HTML: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};
const escaped = (value: string): string => value.replace(/[&<>"']/g, (one) => HTML[one] ?? one);

/** Keeps escaped text marked as escaped. */
const like = (value: unknown, result: string): string | Markup =>
  value instanceof Markup ? new Markup(result) : result;

/** Defines a filter from text to text that keeps the escaped mark. */
const mapped = (change: (value: string) => string): Filter =>
  filter({}, (value) => like(value, change(text(value))));

function indented(value: unknown, given: Given): string | Markup {
  const width = given.get("width");
  const pad = isText(width) ? plainText(width) : " ".repeat(Math.max(0, spaces(width, given)));
  const lines = splitLines(`${stringOf(value)}\n`);
  given.room(stringOf(value).length + lines.length * pad.length);
  const rest = lines.slice(1).map((line) => (line === "" && !given.is("blank") ? line : pad + line));
  return like(value, (given.is("first") ? pad : "") + [lines[0] ?? "", ...rest].join("\n"));
}

function spaces(width: unknown, given: Given): number {
  if (!isInteger(width)) throw new TemplateProblem("width must be a whole number or a text");
  given.room(width);
  return width;
}

function truncated(value: unknown, given: Given): unknown {
  const all = Array.from(stringOf(value));
  const [length, end] = [given.whole("length"), given.string("end")];
  const leeway = given.get("leeway") === null ? 5 : given.whole("leeway");
  if (length < lengthOf(end)) throw new TemplateProblem(`the length must be at least ${lengthOf(end)}`);
  if (leeway < 0) throw new TemplateProblem("leeway must not be negative");
  if (all.length <= length + leeway) return value;
  const head = all.slice(0, length - lengthOf(end)).join("");
  if (value instanceof Markup) throw new TemplateProblem("escaped text cannot be shortened");
  if (given.is("killwords")) return head + end;
  const at = head.lastIndexOf(" ");
  return (at < 0 ? head : head.slice(0, at)) + end;
}

/** A word begins after spaces, hyphens and opening brackets. */
const titleCased = (value: string): string =>
  value
    .split(/([-\s({[<]+)/)
    .map((part) => {
      const [first = ""] = part;
      return first.toUpperCase() + part.slice(first.length).toLowerCase();
    })
    .join("");

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
};

function withoutTags(value: unknown): Markup {
  const plain = cut(cut(text(value), "<!--", "-->"), "<", ">");
  const line = words(plain).join(" ");
  return new Markup(
    line.replace(/&(#x?[\da-f]+;?|[a-z][a-z\d]*;?)/gi, (_, name: string) => {
      const bare = name.replace(/;$/, "");
      if (name.endsWith(";") && Object.hasOwn(ENTITIES, bare)) return ENTITIES[bare] as string;
      const code = /^#x/i.test(bare) ? Number.parseInt(bare.slice(2), 16) : Number(bare.slice(1));
      if (bare.startsWith("#") && name.endsWith(";") && code >= 0xa0 && code < 0xd800)
        return String.fromCharCode(code);
      if (bare.startsWith("#") && name.endsWith(";") && code >= 0x20 && code < 0x7f)
        return String.fromCharCode(code);
      throw new TemplateProblem(`striptags does not know &${name}`);
    }),
  );
}

function cut(value: string, open: string, close: string): string {
  const kept: string[] = [];
  let at = 0;
  for (;;) {
    const start = value.indexOf(open, at);
    const end = start < 0 ? -1 : value.indexOf(close, start);
    if (start < 0 || end < 0) return kept.join("") + value.slice(at);
    kept.push(value.slice(at, start));
    at = end + close.length;
  }
}

const quoted = (value: unknown, isQuery: boolean): string => {
  const all = encodeURIComponent(text(value)).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return isQuery ? all.replaceAll("%20", "+") : all.replaceAll("%2F", "/");
};

function urlEncoded(value: unknown): string {
  if (isMapping(value)) return query(entriesOf(value));
  if (!Array.isArray(value)) return quoted(value, false);
  return query(
    value.map((pair) => {
      const [key, one, ...rest] = sequence(pair);
      if (one === undefined || rest.length > 0) throw new TemplateProblem("urlencode takes pairs");
      return [key, one] as const;
    }),
  );
}

const query = (pairs: readonly (readonly [unknown, unknown])[]): string =>
  pairs.map(([key, value]) => `${quoted(key, true)}=${quoted(value, true)}`).join("&");

function attributes(value: unknown, given: Given): string {
  if (!isMapping(value)) throw new TemplateProblem("xmlattr takes an object");
  const parts = entriesOf(value)
    .filter(([, one]) => one !== null && !(one instanceof Missing))
    .map(([key, one]) => {
      if (/[\s/>=]/.test(stringOf(key)))
        throw new TemplateProblem(`${text(key)} cannot be the name of an attribute`);
      return `${escaped(stringOf(key))}="${one instanceof Markup ? one.text : escaped(text(one))}"`;
    });
  return (given.is("autospace") && parts.length > 0 ? " " : "") + parts.join(" ");
}

const indentOf = (value: unknown): string | undefined => {
  if (value === null) return undefined;
  if (isText(value)) return plainText(value);
  if (isInteger(value) && value <= 100) return " ".repeat(Math.max(0, value));
  throw new TemplateProblem("indent must be a whole number up to 100");
};

/** Replaces characters that are special in HTML with JSON escapes. */
const htmlSafe = (value: string): string =>
  value.replace(/[<>&']/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

export const TEXT_FILTERS: Readonly<Record<string, Filter>> = {
  capitalize: mapped(capitalized),
  center: filter({ width: 80 }, (value, given) => {
    given.room(given.whole("width"));
    return like(value, centered(text(value), given.whole("width")));
  }),
  escape: filter({}, (value) => (value instanceof Markup ? value : new Markup(escaped(text(value))))),
  forceescape: filter({}, (value) => new Markup(escaped(text(value)))),
  format: variadic((value, args, named, { most }) => {
    if (args.length > 0 && named.size > 0)
      throw new TemplateProblem("format takes values by place or by name, not both");
    const values = named.size > 0 ? new Dict([...named]) : makeList(args, "tuple");
    return percentFormat(text(value), values, most);
  }),
  indent: filter({ width: 4, first: false, blank: false }, indented),
  json: filter({ indent: 2 }, (value, given) =>
    dumps(value, { indent: indentOf(given.get("indent")), isSorted: false }),
  ),
  lower: mapped((value) => value.toLowerCase()),
  pprint: filter({}, (value) => pretty(value)),
  replace: filter({ old: REQUIRED, new: REQUIRED, count: null }, (value, given) =>
    replaced(
      text(value),
      text(given.get("old")),
      text(given.get("new")),
      given.get("count") === null ? -1 : given.whole("count"),
      given.around.most,
    ),
  ),
  safe: filter({}, (value) => (value instanceof Markup ? value : new Markup(text(value)))),
  string: filter({}, (value) => (isText(value) ? value : text(value))),
  striptags: filter({}, (value) => withoutTags(value)),
  title: filter({}, (value) => titleCased(text(value))),
  tojson: filter(
    { indent: null },
    (value, given) =>
      new Markup(htmlSafe(dumps(value, { indent: indentOf(given.get("indent")), isSorted: true }))),
  ),
  trim: filter({ chars: null }, (value, given) =>
    like(value, stripped(text(value), given.optional("chars"), "both")),
  ),
  truncate: filter({ length: 255, killwords: false, end: "...", leeway: null }, truncated),
  upper: mapped((value) => value.toUpperCase()),
  urlencode: filter({}, (value) => urlEncoded(value)),
  wordcount: filter({}, (value) => text(value).match(/[\p{L}\p{N}\p{M}_]+/gu)?.length ?? 0),
  wordwrap: filter(
    { width: 79, break_long_words: true, wrapstring: null, break_on_hyphens: true },
    (value, given) => {
      const end = given.optional("wrapstring") ?? "\n";
      given.room(stringOf(value).length * (1 + end.length));
      return splitLines(stringOf(value))
        .map((line) =>
          wrapped(
            line,
            given.whole("width"),
            truthy(given.get("break_long_words")),
            given.is("break_on_hyphens"),
          ).join(end),
        )
        .join(end);
    },
  ),
  xmlattr: filter({ autospace: true }, attributes),
};
