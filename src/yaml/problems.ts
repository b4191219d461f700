import { checkParts } from "../core/check-options.ts";

/** An error or a warning in a workflow file. Lines and columns count from 1. */
export interface Problem {
  readonly severity: "error" | "warning";
  readonly message: string;
  /** Relative to the workflow's folder. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The place in the document: `agents[2].routes[0].to`. */
  readonly path: string;
}

export type Path = readonly (string | number)[];

export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export const pathText = (path: Path): string =>
  path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`))
    .join("")
    .replace(/^\./, "");

/** Thrown to stop the check when there are enough problems. */
export class TooManyProblems extends Error {}

const MOST_PROBLEMS = 100;

/** Collects problems, each with the position of the nearest node that has one. */
export class Problems {
  readonly found: Problem[];
  readonly #positions: Positions;
  readonly #base: Path;

  constructor(positions: Positions, base: Path = [], found: Problem[] = []) {
    this.#positions = positions;
    this.#base = base;
    this.found = found;
  }

  /** A view of the same list for a part of the document. */
  below(path: Path): Problems {
    return new Problems(this.#positions, [...this.#base, ...path], this.found);
  }

  error(path: Path, message: string): void {
    this.#add("error", path, message);
  }

  warning(path: Path, message: string): void {
    this.#add("warning", path, message);
  }

  get failed(): boolean {
    return this.found.some(({ severity }) => severity === "error");
  }

  #add(severity: Problem["severity"], within: Path, message: string): void {
    const path = [...this.#base, ...within];
    const problem = {
      severity,
      message,
      ...this.#positions.at(path),
      path: pathText(path.filter((part) => part !== "\0")),
    };
    const isKnown = this.found.some((one) => one.message === message && one.path === problem.path);
    if (isKnown) return;
    if (this.found.length >= MOST_PROBLEMS) {
      if (severity === "warning") return;
      this.last([], `There are more problems than these ${MOST_PROBLEMS}; the rest is not looked at.`);
      throw new TooManyProblems();
    }
    this.found.push(problem);
  }

  /** Adds a problem and ends the check. */
  last(path: Path, message: string): void {
    this.found.push({ severity: "error", message, ...this.#positions.at(path), path: pathText(path) });
  }
}

/** The positions of a document's parts, by path. */
export class Positions {
  readonly #known = new Map<string, Position>();
  readonly #start: Position;

  constructor(file: string) {
    this.#start = { file, line: 1, column: 1 };
  }

  set(path: Path, position: Position): void {
    this.#known.set(JSON.stringify(path), position);
  }

  at(path: Path): Position {
    for (let length = path.length; length > 0; length--) {
      const found = this.#known.get(JSON.stringify(path.slice(0, length)));
      if (found) return found;
    }
    return this.#start;
  }
}

export const inOrder = (problems: readonly Problem[]): Problem[] =>
  [...problems].sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column);

/** One line in the style of a compiler. */
export function problemText(problem: Problem): string {
  checkParts("problem", problem, { file: "text", line: "number", column: "number", message: "text" });
  const { file, line, column, severity, message } = problem;
  return `${file}:${line}:${column}: ${severity === "warning" ? "warning: " : ""}${message}`;
}
