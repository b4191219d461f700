export interface ErrorEntry {
  readonly what: string;
  readonly why: string;
  readonly safe: string;
  readonly fix: string;
}

export const UNCHANGED = "Nothing was changed.";
export const SAVED = "Every step finished before this is saved and will not run again.";
