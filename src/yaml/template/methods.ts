import { isPlain, nameOfKind, replaced, sequence, TemplateProblem, text } from "./value.ts";

type Method<T> = (self: T, args: readonly unknown[]) => unknown;

const OF_TEXT: Readonly<Record<string, Method<string>>> = {
  upper: (self) => self.toUpperCase(),
  lower: (self) => self.toLowerCase(),
  strip: (self) => self.trim(),
  lstrip: (self) => self.trimStart(),
  rstrip: (self) => self.trimEnd(),
  split: (self, [by]) =>
    by === undefined || by === null ? self.split(/\s+/).filter(Boolean) : self.split(text(by)),
  splitlines: (self) => self.split(/\r\n|\r|\n/),
  replace: (self, [from, to]) => replaced(self, text(from), text(to)),
  startswith: (self, [head]) => self.startsWith(text(head)),
  endswith: (self, [tail]) => self.endsWith(text(tail)),
  join: (self, [parts]) => sequence(parts).map(text).join(self),
  find: (self, [part]) => self.indexOf(text(part)),
  count: (self, [part]) => self.split(text(part)).length - 1,
};

const OF_OBJECT: Readonly<Record<string, Method<Readonly<Record<string, unknown>>>>> = {
  items: (self) => Object.entries(self),
  keys: (self) => Object.keys(self),
  values: (self) => Object.values(self),
  get: (self, [key, fallback = null]) => (Object.hasOwn(self, text(key)) ? self[text(key)] : fallback),
};

/** Calls one of the few methods that a text or an object has in a template. */
export function callMethod(self: unknown, name: string, args: readonly unknown[]): unknown {
  if (typeof self === "string" && Object.hasOwn(OF_TEXT, name)) return OF_TEXT[name]?.(self, args);
  if (isPlain(self) && Object.hasOwn(OF_OBJECT, name)) return OF_OBJECT[name]?.(self, args);
  throw new TemplateProblem(`${nameOfKind(self)} has no method ${name}()`);
}
