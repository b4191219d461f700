import { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, type Node, type YAMLMap } from "yaml";
import { isPrototypeKey } from "../core/names.ts";
import type { ParseBudget } from "../core/values/parse-budget.ts";
import { withIncludes, withVariables } from "./placeholders.ts";
import { type Path, type Positions, type Problems, pathText } from "./problems.ts";
import { FileProblem, type Files, type FileText, MOST_BYTES } from "./source.ts";
import { composeYaml, isExactScalar, lexYaml, parseTokens, readYamlText } from "./yaml-text.ts";

export interface ParseOptions {
  readonly files: Files;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Shared by the file and everything it refers to. */
  readonly budget: ParseBudget;
  /** Yields to other work. */
  readonly pause?: () => Promise<void>;
}

const MOST_INCLUDES = 20;

/** Parses a workflow file to data: plain YAML, with `!file` references resolved and environment variables filled in. */
export function parseYaml(
  file: FileText,
  positions: Positions,
  problems: Problems,
  options: ParseOptions,
): Promise<unknown> {
  return new Reader(positions, problems, options).document(file, [], []);
}

/** Keys whose value is always text, whatever a referenced file contains. */
const TEXT_KEYS = new Set([
  "prompt",
  "system_prompt",
  "command",
  "stdin",
  "value",
  "criteria",
  "description",
]);
/** Keys whose file may include others: Jinja searches in the file's folder. */
const PROMPT_KEYS = new Set(["prompt", "system_prompt"]);

class Reader {
  readonly #positions: Positions;
  readonly #problems: Problems;
  readonly #options: ParseOptions;

  constructor(positions: Positions, problems: Problems, options: ParseOptions) {
    this.#positions = positions;
    this.#problems = problems;
    this.#options = options;
  }

  /** `chain`: the files that led here. */
  async document(file: FileText, path: Path, chain: readonly string[]): Promise<unknown> {
    if (new TextEncoder().encode(file.text).length > MOST_BYTES) {
      this.#problems.error(path, `${file.name} is larger than ${MOST_BYTES / 1024} KiB`);
      return undefined;
    }
    const { budget, pause } = this.#options;
    const lines = new LineCounter();
    const lexemes = lexYaml(file.text, budget);
    await pause?.();
    const tokens = parseTokens(lexemes, budget, lines);
    await pause?.();
    const { document, errors } = composeYaml(tokens, file.text.length);
    await pause?.();
    for (const error of errors) {
      const { line, col } = lines.linePos(error.pos[0] ?? 0);
      this.#positions.set([...path, "\0"], { file: file.name, line, column: col });
      this.#problems.error([...path, "\0"], oneLine(error.message));
    }
    if (errors.length > 0) return undefined;
    return new Walk(this, file, lines, [...chain, file.name]).value(document?.contents, path);
  }

  error(path: Path, message: string): undefined {
    this.#problems.error(path, message);
    return undefined;
  }

  place(path: Path, file: string, lines: LineCounter, node: Node): void {
    const { line, col } = lines.linePos(node.range?.[0] ?? 0);
    this.#positions.set(path, { file, line, column: col });
  }

  /** Resolves a `!file`: a list or an object when it parses as one, otherwise its text. */
  async reference(reference: string, path: Path, chain: readonly string[]): Promise<unknown> {
    const file = this.#read(reference, path, chain);
    if (!file) return undefined;
    const key = path.findLast((part) => typeof part === "string") ?? "";
    if (PROMPT_KEYS.has(key)) return this.text(this.#included(file, path, [...chain, file.name]), path);
    if (!TEXT_KEYS.has(key) && looksStructured(file.text, this.#options.budget))
      return this.document(file, path, chain);
    return this.text(file.text, path);
  }

  #read(reference: string, path: Path, chain: readonly string[]): FileText | undefined {
    try {
      this.#options.budget.spend("reads");
      const file = this.#options.files.read(reference, chain.at(-1));
      this.#options.budget.spend("bytes", file.text.length);
      if (!chain.includes(file.name)) return file;
      return this.error(
        path,
        `${[...chain, file.name].join(" → ")}: the files refer to each other in a circle`,
      );
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      return this.error(path, `${error.message}.`);
    }
  }

  /** Expands `{% include "x" %}` to the file's text, which sees the same names. */
  #included(file: FileText, path: Path, chain: readonly string[]): string {
    if (chain.length > MOST_INCLUDES) {
      this.#problems.error(path, "its includes go too deep");
      return "";
    }
    return withIncludes(file.text, (reference) => {
      const inner = this.#read(reference, path, chain);
      return inner ? this.#included(inner, path, [...chain, inner.name]) : "";
    });
  }

  /** Replaces `${VAR}` and `${VAR:-default}` once: the result isn't expanded again. */
  text(value: string, path: Path): string {
    return withVariables(value, (name, fallback) => {
      const found = this.#options.env[name] ?? fallback;
      if (found === undefined)
        this.#problems.error(
          path,
          `The environment variable ${name} is not set. Give it a default: \${${name}:-…}`,
        );
      else this.#options.budget.spend("bytes", found.length);
      return found ?? "";
    });
  }
}

function looksStructured(text: string, budget: ParseBudget): boolean {
  const { document, errors } = readYamlText(text, budget);
  return errors.length === 0 && (isMap(document?.contents) || isSeq(document?.contents));
}

const CORE_TAGS = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/;

const oneLine = (message: string): string => (message.split("\n")[0] ?? message).trim();

/** Walks one document. */
class Walk {
  readonly #reader: Reader;
  readonly #file: FileText;
  readonly #lines: LineCounter;
  readonly #chain: readonly string[];

  constructor(reader: Reader, file: FileText, lines: LineCounter, chain: readonly string[]) {
    this.#reader = reader;
    this.#file = file;
    this.#lines = lines;
    this.#chain = chain;
  }

  async value(node: unknown, path: Path): Promise<unknown> {
    if (node === null || node === undefined) return null;
    this.#reader.place(path, this.#file.name, this.#lines, node as Node);
    if (isAlias(node))
      return this.#reader.error(path, `The alias *${node.source} is not allowed: write the value out.`);
    const { tag, anchor } = node as { tag?: string; anchor?: string };
    if (anchor !== undefined) return this.#reader.error(path, `The anchor &${anchor} is not allowed.`);
    if (tag === "!file") return this.#fileTag(node, path);
    if (tag !== undefined && !CORE_TAGS.test(tag))
      return this.#reader.error(path, `The tag ${tag} is not allowed; only !file is.`);
    if (isMap(node)) return this.#map(node, path);
    if (isSeq(node)) return this.#list(node.items, path);
    if (!isScalar(node)) return this.#reader.error(path, "it is neither a value, a list nor a mapping");
    if (typeof node.value === "string") return this.#reader.text(node.value, path);
    if (isExactScalar(node)) return node.value;
    return this.#reader.error(
      path,
      `${node.source} is more than a number can hold exactly: write it in quotes.`,
    );
  }

  async #list(items: readonly unknown[], path: Path): Promise<unknown[]> {
    const list: unknown[] = [];
    for (const [index, item] of items.entries()) list.push(await this.value(item, [...path, index]));
    return list;
  }

  async #fileTag(node: unknown, path: Path): Promise<unknown> {
    if (!isScalar(node) || typeof node.value !== "string")
      return this.#reader.error(path, "!file needs the path of a file.");
    return this.#reader.reference(node.value, path, this.#chain);
  }

  async #map(node: YAMLMap, path: Path): Promise<Record<string, unknown>> {
    const entries = new Map<string, unknown>();
    for (const pair of node.items) {
      if (!isPair(pair) || !isScalar(pair.key)) {
        this.#reader.error(path, "keys must be plain text");
        continue;
      }
      const key = String(pair.key.value);
      const at = [...path, key];
      this.#reader.place(at, this.#file.name, this.#lines, pair.key);
      if (entries.has(key)) this.#reader.error(at, `The key ${key} is there twice.`);
      else if (key === "<<") this.#reader.error(at, "Merge keys (<<) are not allowed: write the keys out.");
      else if (isPrototypeKey(key))
        this.#reader.error(at, `${pathText(at)}: the name ${key} is not allowed.`);
      else {
        entries.set(key, await this.value(pair.value, at));
        // Points at the key, which is what people look for.
        this.#reader.place(at, this.#file.name, this.#lines, pair.key);
      }
    }
    return Object.fromEntries(entries);
  }
}
