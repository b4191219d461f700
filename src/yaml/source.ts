import { checkParts, checkText } from "../core/check-options.ts";
/** A file of a workflow. Its name is its path below the workflow's folder, with `/`. */
export interface FileText {
  readonly name: string;
  readonly text: string;
}

/** The source of a workflow's files: a folder, or the definition saved with a run. */
export interface Files {
  /** Reads `reference` as written in the file `from`. Throws {@link FileProblem}. */
  read(reference: string, from?: string): FileText;
}

/** Thrown when a file isn't available. The message explains why and becomes a problem's text. */
export class FileProblem extends Error {
  override readonly name = "FileProblem";
}

/** The maximum size of a workflow's file. */
export const MOST_BYTES = 262_144;

/** The memory key under which a run keeps its definition. */
export const DEFINITION_KEY = "workflow:definition";

/**
 * Everything a workflow consists of, as it was read: kept with its runs, so that each can continue with what it was
 * started with. Values of environment variables aren't part of it.
 */
export interface Definition {
  readonly main: string;
  readonly folder: string;
  readonly files: Readonly<Record<string, string>>;
  /** Texts that every agent gets before its prompt, in addition to those that the file names. */
  readonly instructions?: readonly string[];
  /** Replaces the providers that files name. */
  readonly provider?: string;
}

/** Records every file that is read. */
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

/** Serves the files of a saved definition, and no others. */
export function savedFiles(definition: Definition): Files {
  checkParts("definition", definition, { main: "text", files: "object" });
  const { files } = definition;
  for (const [name, text] of Object.entries(files)) checkText(`definition.files.${name.slice(0, 80)}`, text);
  return {
    read(reference, from) {
      const name = from === undefined ? reference : joined(from, reference);
      const text = Object.hasOwn(files, name) ? files[name] : undefined;
      if (text === undefined) throw new FileProblem(`${reference} is not among the saved files`);
      return { name, text };
    },
  };
}

/** Resolves `../b.md` relative to `a/x.yaml` without touching a disk. */
function joined(from: string, reference: string): string {
  const parts = from.split("/").slice(0, -1);
  for (const part of reference.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}
