import { closeSync, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { type Keyring, type Keys, localKeyring, parseKeys, refusedKeys } from "./keyring.ts";

const OTHERS = 0o077;

/**
 * Keys from a file of one's own: `{ "current": "k2", "keys": { "k2": "<base64>", "k1": "<base64>" } }`. A file that anyone else may
 * read is refused. When it is changed, the new keys count at once; what cannot be read as keys does not.
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
  let [keys, seen] = [readKeys(file), stamp(file)];
  return localKeyring(() => {
    const now = stamp(file);
    if (now === seen) return keys;
    try {
      [keys, seen] = [readKeys(file), now];
    } catch {
      // Half written, or gone for a moment: the keys that are known go on counting.
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
    // Of one file, however often it is replaced meanwhile.
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
