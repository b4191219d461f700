import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "vitest";

/**
 * Folders for a test file, removed at its end. In memory if possible: most tests don't depend on the duration of a
 * sync.
 */
export function useFolders(name: string): () => string {
  const memory = "/dev/shm";
  const root = mkdtempSync(path.join(existsSync(memory) ? memory : tmpdir(), `holdfast-${name}-`));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  let count = 0;
  return () => path.join(root, String(++count));
}

/** Every file under a folder, by its path in it. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(path.join(folder, name)).isFile())
    .sort();
}
