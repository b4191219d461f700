import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
} from "yaml";
import { isPrototypeKey } from "../core/run/scope.ts";
import { type Path, Positions, Problems, pathText } from "./problems.ts";
import { FileProblem, type Files, type FileText, MOST_BYTES } from "./source.ts";

export interface Parsed {
  readonly data: unknown;
  readonly problems: Problems;
}

export interface ParseOptions {
  readonly files: Files;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const MOST_DEPTH = 100;
const MOST_INCLUDES = 20;

/** Reads a workflow file as data: plain YAML, `!file` references put in, environment variables looked up. */
export function parseYaml(file: FileText, options: ParseOptions): Parsed {
  const positions = new Positions(file.name);
  const problems = new Problems(positions);
  const reader = new Reader(positions, problems, options);
  return { data: reader.document(file, [], []), problems };
}

/** Keys whose value is always text, whatever a referenced file looks like. */
const TEXT_KEYS = new Set([
  "prompt",
  "system_prompt",
  "command",
  "stdin",
  "value",
  "criteria",
  "description",
]);
/** Keys whose file may include others: Jinja's search folder is that of the file. */
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

  /** `chain`: the files that lead here. */
  document(file: FileText, path: Path, chain: readonly string[]): unknown {
    if (new TextEncoder().encode(file.text).length > MOST_BYTES) {
      this.#problems.error(path, `${file.name} is larger than ${MOST_BYTES / 1024} KiB`);
      return undefined;
    }
    const lines = new LineCounter();
    try {
      const parsed = parseDocument(file.text, {
        version: "1.2",
        schema: "core",
        merge: false,
        uniqueKeys: true,
        customTags: [],
        resolveKnownTags: false,
        lineCounter: lines,
        prettyErrors: false,
        logLevel: "error",
      });
      for (const error of parsed.errors) {
        const { line, col } = lines.linePos(error.pos[0]);
        this.#positions.set([...path, "\0"], { file: file.name, line, column: col });
        this.#problems.error([...path, "\0"], oneLine(error.message));
      }
      if (parsed.errors.length > 0) return undefined;
      return new Walk(this, file, lines, [...chain, file.name]).value(parsed.contents, path, 0);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#problems.error(path, "it is nested too deeply");
      return undefined;
    }
  }

  error(path: Path, message: string): undefined {
    this.#problems.error(path, message);
    return undefined;
  }

  place(path: Path, file: string, lines: LineCounter, node: Node): void {
    const { line, col } = lines.linePos(node.range?.[0] ?? 0);
    this.#positions.set(path, { file, line, column: col });
  }

  /** What a `!file` stands for: a list or an object when it parses as one, else its text. */
  reference(reference: string, path: Path, chain: readonly string[]): unknown {
    const file = this.#read(reference, path, chain);
    if (!file) return undefined;
    const key = path.findLast((part) => typeof part === "string") ?? "";
    if (PROMPT_KEYS.has(key)) return this.text(this.#included(file, path, [...chain, file.name]), path);
    if (!TEXT_KEYS.has(key) && looksStructured(file.text)) return this.document(file, path, chain);
    return this.text(file.text, path);
  }

  #read(reference: string, path: Path, chain: readonly string[]): FileText | undefined {
    try {
      const file = this.#options.files.read(reference, chain.at(-1));
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

  /** Puts `{% include "x" %}` in: the same text, seen with the same names. */
  #included(file: FileText, path: Path, chain: readonly string[]): string {
    if (chain.length > MOST_INCLUDES) {
      this.#problems.error(path, "its includes go too deep");
      return "";
    }
    return file.text.replace(INCLUDE, (_, _quote, reference: string) => {
      const inner = this.#read(reference, path, chain);
      return inner ? this.#included(inner, path, [...chain, inner.name]) : "";
    });
  }

  /** `${VAR}` and `${VAR:-default}`, looked up once: what they stand for is not looked at again. */
  text(value: string, path: Path): string {
    return value.replace(VARIABLE, (_, name: string, fallback: string | undefined) => {
      const found = this.#options.env[name] ?? fallback;
      if (found === undefined)
        this.#problems.error(
          path,
          `The environment variable ${name} is not set. Give it a default: \${${name}:-…}`,
        );
      return found ?? "";
    });
  }
}

const INCLUDE = /\{%-?\s*include\s+(["'])([^"']+)\1\s*-?%\}/g;
const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

const looksStructured = (text: string): boolean => {
  const parsed = parseDocument(text, { logLevel: "silent", customTags: [], resolveKnownTags: false });
  return parsed.errors.length === 0 && (isMap(parsed.contents) || isSeq(parsed.contents));
};

const CORE_TAGS = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/;

const oneLine = (message: string): string => (message.split("\n")[0] ?? message).trim();

/** Goes through one document. */
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

  value(node: unknown, path: Path, depth: number): unknown {
    if (node === null || node === undefined) return null;
    this.#reader.place(path, this.#file.name, this.#lines, node as Node);
    if (depth > MOST_DEPTH) return this.#reader.error(path, "it is nested too deeply");
    if (isAlias(node))
      return this.#reader.error(path, `The alias *${node.source} is not allowed: write the value out.`);
    const { tag, anchor } = node as { tag?: string; anchor?: string };
    if (anchor !== undefined) return this.#reader.error(path, `The anchor &${anchor} is not allowed.`);
    if (tag === "!file") return this.#fileTag(node, path);
    if (tag !== undefined && !CORE_TAGS.test(tag))
      return this.#reader.error(path, `The tag ${tag} is not allowed; only !file is.`);
    if (isMap(node)) return this.#map(node, path, depth);
    if (isSeq(node)) return node.items.map((item, index) => this.value(item, [...path, index], depth + 1));
    if (!isScalar(node)) return this.#reader.error(path, "it is neither a value, a list nor a mapping");
    return typeof node.value === "string" ? this.#reader.text(node.value, path) : node.value;
  }

  #fileTag(node: unknown, path: Path): unknown {
    if (!isScalar(node) || typeof node.value !== "string")
      return this.#reader.error(path, "!file needs the path of a file.");
    return this.#reader.reference(node.value, path, this.#chain);
  }

  #map(node: YAMLMap, path: Path, depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    for (const pair of node.items) {
      if (!isPair(pair) || !isScalar(pair.key)) {
        this.#reader.error(path, "keys must be plain text");
        continue;
      }
      const key = String(pair.key.value);
      const at = [...path, key];
      this.#reader.place(at, this.#file.name, this.#lines, pair.key);
      if (key === "<<") this.#reader.error(at, "Merge keys (<<) are not allowed: write the keys out.");
      else if (isPrototypeKey(key))
        this.#reader.error(at, `${pathText(at)}: the name ${key} is not allowed.`);
      else {
        const value = this.value(pair.value, at, depth + 1);
        // The key is what people look for, not where its value begins.
        this.#reader.place(at, this.#file.name, this.#lines, pair.key);
        entries.push([key, value]);
      }
    }
    return Object.fromEntries(entries);
  }
}
