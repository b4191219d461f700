/** A page of evidence before it becomes Markdown or HTML: the words are chosen once. All texts are plain text. */
export interface Page {
  readonly title: string;
  readonly subtitle: string;
  readonly verdicts: readonly Verdict[];
  readonly facts: readonly Fact[];
  readonly sections: readonly Section[];
}

/** A judgement in one sentence. `open`: nothing to judge, or not yet known. */
export interface Verdict {
  readonly tone: "good" | "bad" | "open";
  readonly text: string;
}

export type Fact = readonly [label: string, text: string, look?: "code"];

export interface Section {
  readonly id: string;
  readonly title: string;
  readonly lead: string;
  readonly blocks: readonly Block[];
}

export type Block =
  | { readonly kind: "verdict"; readonly verdict: Verdict }
  | { readonly kind: "facts"; readonly facts: readonly Fact[] }
  | { readonly kind: "list"; readonly items: readonly string[] }
  | { readonly kind: "text"; readonly text: string }
  | Table;

export interface Table {
  readonly kind: "table";
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
  /** Said instead of a table without rows. */
  readonly empty: string;
}

export interface Column {
  readonly title: string;
  readonly look?: "code" | "number" | "short";
}

/** `2026-11-16 16:39:58`, in UTC. */
export const moment = (at: number): string => new Date(at).toISOString().slice(0, 19).replace("T", " ");

/** The same with milliseconds, for lines that follow one another closely. */
export const instant = (at: number): string => new Date(at).toISOString().slice(0, 23).replace("T", " ");
