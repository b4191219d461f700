/** A line of a value: a field, an element, or the line that stands for the elements left out. */
export interface JsonLine {
  /** Where it is, as a JSON pointer; unique. */
  readonly path: string;
  readonly name: string | null;
  readonly level: number;
  /** What is shown of it. */
  readonly text: string;
  readonly kind: "string" | "number" | "word" | "object" | "array" | "more";
  /** `null` for what can't be opened. */
  readonly isOpen: boolean | null;
}

/** Texts are cut here, and levels at so many entries, until somebody asks for more. */
const TEXT_CHARS = 400;
const PAGE = 100;
/** The outer levels are open if they are small. */
const OPEN_LEVELS = 2;
const SMALL = 30;

/** What somebody has opened and closed, and how many entries of a level they have asked for. */
export interface JsonFolds {
  readonly open: ReadonlyMap<string, boolean>;
  readonly shown: ReadonlyMap<string, number>;
}

export const NO_FOLDS: JsonFolds = { open: new Map(), shown: new Map() };

type Entries = readonly (readonly [string, unknown])[];

const sizeOf = (value: object): number => (Array.isArray(value) ? value.length : Object.keys(value).length);

/** The first entries of a value. Nothing is made for those that aren't shown. */
function firstOf(value: object, count: number): Entries {
  if (Array.isArray(value))
    return Array.from({ length: Math.min(count, value.length) }, (_, index) => [
      String(index),
      (value as readonly unknown[])[index],
    ]);
  const entries: [string, unknown][] = [];
  for (const key in value) {
    if (entries.length >= count) break;
    if (Object.hasOwn(value, key)) entries.push([key, (value as Readonly<Record<string, unknown>>)[key]]);
  }
  return entries;
}

/** The lines of a value that are to be shown. What is closed costs nothing, however large it is. */
export function jsonLines(value: unknown, folds: JsonFolds = NO_FOLDS): readonly JsonLine[] {
  const lines: JsonLine[] = [];
  const add = (name: string | null, one: unknown, path: string, level: number): void => {
    if (typeof one !== "object" || one === null) {
      lines.push({ path, name, level, ...leaf(one), isOpen: null });
      return;
    }
    const size = sizeOf(one);
    const isOpen = size > 0 && (folds.open.get(path) ?? (level < OPEN_LEVELS && size <= SMALL));
    const kind = Array.isArray(one) ? "array" : "object";
    lines.push({ path, name, level, kind, text: String(size), isOpen: size > 0 ? isOpen : null });
    if (!isOpen) return;
    const shown = folds.shown.get(path) ?? PAGE;
    for (const [key, inner] of firstOf(one, shown)) add(key, inner, `${path}/${escaped(key)}`, level + 1);
    if (size > shown)
      lines.push({
        path: `${path}/…`,
        name: null,
        level: level + 1,
        kind: "more",
        text: String(size - shown),
        isOpen: null,
      });
  };
  add(null, value, "", 0);
  return lines;
}

const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

function leaf(value: unknown): Pick<JsonLine, "kind" | "text"> {
  if (typeof value === "string")
    return {
      kind: "string",
      text: value.length > TEXT_CHARS ? `${value.slice(0, TEXT_CHARS)}… (${value.length})` : value,
    };
  return { kind: typeof value === "number" ? "number" : "word", text: String(value) };
}

/** Opens or closes a line. */
export const folded = (folds: JsonFolds, { path, isOpen }: JsonLine): JsonFolds => ({
  ...folds,
  open: new Map(folds.open).set(path, isOpen !== true),
});

/** Shows more entries of the level that the line stands for. */
export function withMore(folds: JsonFolds, { path }: JsonLine): JsonFolds {
  const level = path.slice(0, path.lastIndexOf("/"));
  const shown = (folds.shown.get(level) ?? PAGE) * 5;
  return { ...folds, shown: new Map(folds.shown).set(level, shown) };
}
