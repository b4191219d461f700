import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  type LineCounter,
  Parser,
  type Scalar,
} from "yaml";
import { exactNumber } from "../core/values/exact-number.ts";
import type { ParseBudget } from "../core/values/parse-budget.ts";

/** The approximate work of the `yaml` library per token. */
const TOKEN_WORK = 100;

/** Tokens that begin a value, an item or a key: a scalar, a list, a mapping, and separators. */
const VALUES = new Set(["\x1f", "[", "{", ",", "-", "?", "\x18"]);

const OPTIONS: ConstructorParameters<typeof Composer>[0] = {
  version: "1.2",
  schema: "core",
  merge: false,
  // The library compares every key with every other; the code that walks the document finds duplicates with a set.
  uniqueKeys: false,
  customTags: [],
  resolveKnownTags: false,
  prettyErrors: false,
  logLevel: "error",
};

/**
 * Splits a YAML text into tokens. All of them are counted and charged before the library processes the first, so that
 * no text can take more time than the budget allows (HF-1040).
 */
export function lexYaml(text: string, budget: ParseBudget): readonly string[] {
  budget.spend("bytes", text.length);
  const lexemes: string[] = [];
  let depth = 0;
  for (const lexeme of new Lexer().lex(text)) {
    budget.spend("work", TOKEN_WORK);
    if (VALUES.has(lexeme)) budget.spend("keys");
    if (lexeme === "[" || lexeme === "{") budget.reach(++depth);
    else if (lexeme === "]" || lexeme === "}") depth--;
    lexemes.push(lexeme);
  }
  return lexemes;
}

/** Parses the tokens to a syntax tree, without values. */
export function parseTokens(
  lexemes: readonly string[],
  budget: ParseBudget,
  lines?: LineCounter,
): readonly CST.Token[] {
  const parser = new Parser(lines?.addNewLine);
  lines?.addNewLine(0);
  const tokens: CST.Token[] = [];
  for (const lexeme of lexemes) {
    tokens.push(...parser.next(lexeme));
    // Subtracts the document and its top-level node.
    budget.reach(parser.stack.length - 2);
  }
  tokens.push(...parser.end());
  return tokens;
}

/** Parses a whole text with the library. */
export function readYamlText(text: string, budget: ParseBudget): ReturnType<typeof composeYaml> {
  return composeYaml(parseTokens(lexYaml(text, budget), budget), text.length);
}

/** Composes one document from the tokens, with its problems. More than one document is a problem. */
export function composeYaml(
  tokens: readonly CST.Token[],
  length: number,
): { readonly document: Document.Parsed | undefined; readonly errors: readonly YamlError[] } {
  let document: Document.Parsed | undefined;
  for (const one of new Composer(OPTIONS).compose(tokens, true, length)) {
    if (document)
      return {
        document,
        errors: [...document.errors, { pos: one.range, message: "There is more than one document." }],
      };
    document = one;
  }
  return { document, errors: document?.errors ?? [] };
}

export interface YamlError {
  readonly pos: readonly number[];
  readonly message: string;
}

/** True when the scalar equals its source: a number may be too long or too large. */
export function isExactScalar({ value, source = "" }: Scalar): boolean {
  if (typeof value !== "number") return true;
  return exactNumber(source) !== undefined || (/^0[xo]/.test(source) && Number.isSafeInteger(value));
}

/** Thrown for anything but plain data: an alias, a duplicate key, a key that isn't text. */
class NotPlain extends Error {}

/**
 * Parses a YAML text to plain data; returns nothing if it doesn't parse or isn't plain. A number that can't be
 * represented stays text.
 */
export function plainYaml(text: string, budget: ParseBudget): unknown {
  const { document, errors } = readYamlText(text, budget);
  if (!document || errors.length > 0) return undefined;
  try {
    return plain(document.contents);
  } catch (error) {
    if (error instanceof NotPlain) return undefined;
    throw error;
  }
}

function plain(node: unknown): unknown {
  if (node === null || node === undefined) return null;
  if (isAlias(node)) throw new NotPlain();
  if (isScalar(node)) return isExactScalar(node) ? node.value : node.source;
  if (isSeq(node)) return node.items.map(plain);
  if (!isMap(node)) throw new NotPlain();
  const entries = new Map<string, unknown>();
  for (const pair of node.items) {
    if (!isPair(pair) || !isScalar(pair.key)) throw new NotPlain();
    const key = pair.key.source ?? "";
    if (entries.has(key)) throw new NotPlain();
    entries.set(key, plain(pair.value));
  }
  return Object.fromEntries(entries);
}
