/** A part of the page about the keys of workflow files. */
export interface Section {
  readonly title: string;
  readonly about: string;
  /** A file in docs/yaml-keys, which is a whole workflow that validates. */
  readonly example: string;
  /** Files with keys that can't stand beside those of the first. */
  readonly others?: readonly string[];
  /** By block and key. */
  readonly blocks: Readonly<Record<string, Readonly<Record<string, string>>>>;
}
