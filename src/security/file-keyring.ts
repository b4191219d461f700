import { closeSync, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { checkText } from "../core/check-options.ts";
import { type Keyring, type Keys, localKeyring, parseKeys, refusedKeys } from "./keyring.ts";

const OTHERS = 0o077;

/**
 * Reads keys from a private file: `{ "current": "k2", "keys": { "k2": "<base64>", "k1": "<base64>" } }`. A file that
 * other users may read is refused. When the file changes, the new keys apply at once; a change that isn't valid is
 * ignored.
 *
 * @example
 * ```ts
 * import { fileKeyring, sealStore } from "holdfast/security";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * export const openSealed = async () =>
 *   sealStore(await openSqliteStore({ file: "runs.db" }), { keyring: fileKeyring("/etc/agent/keys.json") });
 * ```
 */
export function fileKeyring(file: string): Keyring {
  checkText("file", file, 1);
  let [keys, seen] = [readKeys(file), stamp(file)];
  return localKeyring(() => {
    const now = stamp(file);
    if (now === seen) return keys;
    try {
      [keys, seen] = [readKeys(file), now];
    } catch {
      // The file is incomplete or briefly missing: keep using the known keys.
    }
    return keys;
  });
}

function stamp(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found ? `${found.ino} ${found.mtimeMs} ${found.size}` : "";
}

function readKeys(file: string): Keys {
  let text: string;
  let mode: number;
  try {
    // Checks and reads the same file, even if it is replaced in the meantime.
    const handle = openSync(file, "r");
    try {
      mode = fstatSync(handle).mode;
      text = readFileSync(handle, "utf8");
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    throw refusedKeys(file, `it cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
  }
  if (process.platform !== "win32" && (mode & OTHERS) !== 0)
    throw refusedKeys(file, "others may read or write the file");
  return parseFile(file, text);
}

function parseFile(file: string, text: string): Keys {
  let content: { current?: unknown; keys?: unknown } | null;
  try {
    content = JSON.parse(text) as typeof content;
  } catch {
    throw refusedKeys(file, "it is not JSON");
  }
  const { current, keys } = content ?? {};
  if (typeof current !== "string" || typeof keys !== "object" || keys === null)
    throw refusedKeys(file, "it has no current and keys");
  if (!Object.hasOwn(keys, current)) throw refusedKeys(file, "its current key is not among its keys");
  const first = (pair: readonly [string, unknown]): number => (pair[0] === current ? 0 : 1);
  return parseKeys(
    file,
    Object.entries(keys).sort((a, b) => first(a) - first(b)),
  );
}
