export interface ErrorEntry {
  readonly what: string;
  readonly why: string;
  readonly safe: string;
  readonly fix: string;
}

export const UNCHANGED = "Nothing was changed.";
export const SAVED = "Every step that finished before this is saved and won't run again.";

/** A part of the table. Its type has the codes and not the texts, which would fill the declarations. */
export const entries = <K extends string>(
  table: Readonly<Record<K, ErrorEntry>>,
): Readonly<Record<K, ErrorEntry>> => table;
