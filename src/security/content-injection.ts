import { FEATURES, RULES } from "./content-features.ts";
import { DISCUSSION, MARKS, OBEYED, PHRASES, type Phrase } from "./content-phrases.ts";
import { readings } from "./content-text.ts";

/** A kind of attack that a text shows signs of. */
export interface Sign {
  readonly kind: string;
  readonly weight: number;
}

/** Two weak signs of these kinds count as a strong one. */
const ADDED_UP: ReadonlySet<string> = new Set(["override", "hide", "tool"]);

/** The signs in a text, the strongest of each kind. */
export function injectionSigns(text: string): Sign[] {
  const found = new Map<string, number>();
  const add = ({ kind, weight }: Sign) => found.set(kind, Math.max(found.get(kind) ?? 0, weight));
  for (const reading of readings(text)) {
    const discusses = DISCUSSION.test(reading) && !OBEYED.test(reading);
    const said = discusses ? reading.replace(QUOTED, " ") : reading;
    for (const { pattern, ...mark } of MARKS)
      if (pattern.test(said)) add(discusses ? { ...mark, weight: mark.weight - 1 } : mark);
    const slight = new Map<string, number>();
    for (const one of phrasesIn(said)) {
      add(one);
      if (ADDED_UP.has(one.kind)) slight.set(one.kind, (slight.get(one.kind) ?? 0) + one.weight);
    }
    for (const one of featuresIn(said)) add(one);
    for (const [kind, sum] of slight) add({ kind, weight: Math.min(sum, 2) });
  }
  return [...found].map(([kind, weight]) => ({ kind, weight }));
}

/** Short quotations; each kind of mark closes itself. */
const QUOTED =
  /"[^"\n]{1,160}"|'[^'\n]{1,160}'|`[^`\n]{1,160}`|“[^”\n]{1,160}”|«[^»\n]{1,160}»|「[^」\n]{1,160}」/g;

/** Alternatives by their first word. */
type Group = ReadonlyMap<string, readonly (readonly string[])[]>;

interface Prepared {
  readonly sign: Sign;
  /** Groups of alternatives, and how many words may precede each. */
  readonly groups: readonly { readonly any: Group; readonly gap: number }[];
}

function alternatives(words: string): Group {
  const group = new Map<string, (readonly string[])[]>();
  for (const one of words.split("|").map((text) => text.split(" ")))
    group.set(one[0] ?? "", [...(group.get(one[0] ?? "") ?? []), one]);
  return group;
}

function prepared({ kind, weight, parts }: Phrase): Prepared {
  let gap = 0;
  const groups: { any: Group; gap: number }[] = [];
  for (const part of parts) {
    if (typeof part === "number") {
      gap = part;
      continue;
    }
    groups.push({ any: alternatives(part), gap });
    gap = 0;
  }
  return { sign: { kind, weight }, groups };
}

/** Indexed by first word, so that a text is scanned once regardless of the number of phrases. */
const BY_FIRST = new Map<string, Prepared[]>();
for (const one of PHRASES.map(prepared))
  for (const first of one.groups[0]?.any.keys() ?? [])
    BY_FIRST.set(first, [...(BY_FIRST.get(first) ?? []), one]);

const WORD = /[\p{L}\p{M}\p{N}']+/gu;

function* phrasesIn(text: string): Generator<Sign> {
  const words = text.match(WORD) ?? [];
  for (const [at, word] of words.entries())
    for (const { sign, groups } of BY_FIRST.get(word) ?? []) if (follows(words, at, groups, 0)) yield sign;
}

/** True when the groups from `index` on match at this word, or after a few others. */
function follows(words: readonly string[], at: number, groups: Prepared["groups"], index: number): boolean {
  const group = groups[index];
  if (!group) return true;
  for (let start = at; start <= at + group.gap && start < words.length; start++)
    for (const one of group.any.get(words[start] as string) ?? [])
      if (stands(words, start, one) && follows(words, start + one.length, groups, index + 1)) return true;
  return false;
}

const stands = (words: readonly string[], at: number, all: readonly string[]): boolean =>
  all.every((word, offset) => words[at + offset] === word);

/** Features by the first of their words. */
const FEATURE_BY_FIRST = new Map<string, { readonly name: string; readonly words: readonly string[] }[]>();
for (const [name, words] of Object.entries(FEATURES))
  for (const [first, all] of alternatives(words)) {
    const known = FEATURE_BY_FIRST.get(first) ?? [];
    FEATURE_BY_FIRST.set(first, [...known, ...all.map((one) => ({ name, words: one }))]);
  }

const SENTENCE_END = /[.!?;\n]+\s|[。！？]/;

/** The topics of its sentences. */
function* featuresIn(text: string): Generator<Sign> {
  for (const sentence of text.split(SENTENCE_END)) {
    const words = sentence.match(WORD) ?? [];
    const found = new Set<string>();
    for (const [at, first] of words.entries())
      for (const { name, words: all } of FEATURE_BY_FIRST.get(first) ?? [])
        if (!found.has(name) && stands(words, at, all)) found.add(name);
    for (const { all, ...sign } of RULES) if (all.every((name) => found.has(name))) yield sign;
  }
}
