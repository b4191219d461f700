import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { FileProblem, type Files, MOST_BYTES } from "./source.ts";

/**
 * Reads files below a folder. References must stay inside it, after resolving symbolic links, so that a foreign
 * workflow file can't read anything else.
 */
export function folderFiles(folder: string): Files {
  const root = realpathSync(folder);
  const isInside = (path: string): boolean => {
    const way = relative(root, path);
    return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  };
  return {
    read(reference, from) {
      if (isAbsolute(reference))
        throw new FileProblem(`${reference} must be a path relative to the file it is in`);
      const path = from === undefined ? resolve(root, reference) : resolve(root, dirname(from), reference);
      if (!isInside(path) || !isInside(realPath(path, reference)))
        throw new FileProblem(`${reference} is outside the workflow's folder`);
      return { name: relative(root, path).split(sep).join("/"), text: readText(path, reference) };
    },
  };
}

function realPath(path: string, reference: string): string {
  try {
    return realpathSync(path);
  } catch {
    throw new FileProblem(`${reference} does not exist`);
  }
}

function readText(path: string, reference: string): string {
  const { size, isFile } = { size: statSync(path).size, isFile: statSync(path).isFile() };
  if (!isFile) throw new FileProblem(`${reference} is not a file`);
  if (size > MOST_BYTES) throw new FileProblem(`${reference} is larger than ${MOST_BYTES / 1024} KiB`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch {
    throw new FileProblem(`${reference} cannot be read as UTF-8 text`);
  }
}

/** The folder that a workflow's files are read from, and the name of the workflow file in it. */
export function placeOf(file: string, root?: string): { readonly folder: string; readonly name: string } {
  const path = resolve(file);
  const folder = root === undefined ? dirname(path) : resolve(root);
  return { folder, name: relative(folder, path) };
}
