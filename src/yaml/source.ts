/** A file of a workflow: its name is its path below the workflow's folder, with `/`. */
export interface FileText {
  readonly name: string;
  readonly text: string;
}

/** Where the files of a workflow come from: a folder, or what was saved with a run. */
export interface Files {
  /** `reference` as written in the file `from`. Throws {@link FileProblem}. */
  read(reference: string, from?: string): FileText;
}

/** A file cannot be had; the message says why, and is meant for a problem's line. */
export class FileProblem extends Error {
  override readonly name = "FileProblem";
}

/** No file of a workflow may be larger. */
export const MOST_BYTES = 262_144;

/** The key of a run's memory under which the definition it was started with is kept. */
export const DEFINITION_KEY = "workflow:definition";

/**
 * Everything a workflow is made of, as it was read: kept with its runs, so that each can be gone on with as it was started. Values of
 * environment variables are not part of it.
 */
export interface Definition {
  readonly main: string;
  readonly folder: string;
  readonly files: Readonly<Record<string, string>>;
  /** Texts that every agent is given before its prompt, besides those that the file names. */
  readonly instructions?: readonly string[];
  /** The provider that takes the place of those that files name. */
  readonly provider?: string;
}

/** Remembers what was read. */
export function remembering(files: Files): { readonly files: Files; readonly read: Map<string, string> } {
  const read = new Map<string, string>();
  return {
    read,
    files: {
      read(reference, from) {
        const file = files.read(reference, from);
        read.set(file.name, file.text);
        return file;
      },
    },
  };
}

/** The files of a saved definition, and no others. */
export function savedFiles({ files }: Definition): Files {
  return {
    read(reference, from) {
      const name = from === undefined ? reference : joined(from, reference);
      const text = Object.hasOwn(files, name) ? files[name] : undefined;
      if (text === undefined) throw new FileProblem(`${reference} is not among the saved files`);
      return { name, text };
    },
  };
}

/** `../b.md` as seen from `a/x.yaml`, without touching a disk. */
function joined(from: string, reference: string): string {
  const parts = from.split("/").slice(0, -1);
  for (const part of reference.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}
