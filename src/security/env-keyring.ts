import { checkText } from "../core/check-options.ts";
import { type Keyring, type Keys, localKeyring, parseKeys, refusedKeys } from "./keyring.ts";

/** The name of a key that has none. */
const ONLY = "k1";

/**
 * Reads keys from an environment variable: `HOLDFAST_KEYS="k2:<base64>,k1:<base64>"`. The first one wraps new keys, the
 * others only unwrap. A single key may stand without a name, as `openssl rand -base64 32` prints it; its name is `k1`.
 *
 * @example
 * ```ts
 * import { envKeyring, sealStore } from "holdfast/security";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * export const store = await sealStore(await openSqliteStore({ file: "runs.db" }), { keyring: envKeyring() });
 * ```
 */
export function envKeyring(variable = "HOLDFAST_KEYS"): Keyring {
  checkText("variable", variable, 1);
  const keys = keysIn(variable, process.env[variable]);
  return localKeyring(() => keys);
}

/** The keys in the text of that variable, the first one first (HF-3034 if they can't be used). */
export function keysIn(variable: string, text: string | undefined): Keys {
  if (!text) throw refusedKeys(variable, "it is not set");
  const named = /[:,]/.test(text) ? text : `${ONLY}:${text}`;
  const pairs = named.split(",").map((pair) => {
    const at = pair.indexOf(":");
    return [pair.slice(0, Math.max(0, at)).trim(), pair.slice(at + 1).trim()] as const;
  });
  return parseKeys(variable, pairs);
}
