import { checkMethod, checkObject, checkText } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";
import { decrypt, encrypt, KEY_BYTES, lengthPrefixed } from "./crypto.ts";

/** Describes the owner of a wrapped key. Must be the same for wrapping and unwrapping. */
export type KeyContext = Readonly<Record<string, string>>;

/**
 * The keys that wrap the keys of runs. No other code sees them: a keyring may be a file, or a remote service that never
 * releases a key.
 */
export interface Keyring {
  /** The name of the key that wraps new keys. */
  readonly current: string;
  /**
   * The names of all keys that can unwrap, the current one first. Called for every lookup, so the result may change.
   */
  ids(): readonly string[];
  wrap(id: string, secret: Uint8Array, context: KeyContext): Promise<Uint8Array>;
  /** Returns `null` when this key didn't wrap it in this context. Throws when the key isn't available now. */
  unwrap(id: string, wrapped: Uint8Array, context: KeyContext): Promise<Uint8Array | null>;
}

export function checkKeyring(keyring: Keyring): void {
  checkObject("keyring", keyring, "a keyring, such as fileKeyring gives");
  checkText("keyring.current", keyring.current, 1);
  for (const method of ["ids", "wrap", "unwrap"] as const) checkMethod("keyring", keyring, method);
}

/** Keys by name, the current one first. */
export type Keys = ReadonlyMap<string, Uint8Array>;

const ID = /^[A-Za-z0-9._-]{1,64}$/;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;

/** The error for refused keys. Never reveals anything about a key. */
export const refusedKeys = (place: string, problem: string): HoldfastError =>
  new HoldfastError("HF-3034", { place, problem });

/** Checks names and lengths. */
export function parseKeys(place: string, pairs: readonly (readonly [id: string, base64: unknown])[]): Keys {
  const keys = new Map<string, Uint8Array>();
  for (const [id, base64] of pairs) {
    if (!ID.test(id)) throw refusedKeys(place, "a key has no usable name");
    if (keys.has(id)) throw refusedKeys(place, `there are two keys ${id}`);
    const bytes = typeof base64 === "string" && BASE64.test(base64) ? Buffer.from(base64, "base64") : null;
    if (bytes?.length !== KEY_BYTES) throw refusedKeys(place, `key ${id} is not 32 bytes in base64`);
    if (isWeak(bytes)) throw refusedKeys(place, `key ${id} is not random: its bytes repeat or count`);
    keys.set(id, bytes);
  }
  if (keys.size === 0) throw refusedKeys(place, "there is no key");
  return keys;
}

/** Keys that a person has typed or left blank: few different bytes, a block said again, or bytes that only count. */
export function isWeak(key: Uint8Array): boolean {
  if (new Set(key).size < LEAST_BYTES) return true;
  const repeats = (length: number): boolean => key.every((byte, at) => byte === key[at % length]);
  if ([1, 2, 4, 8, 16].some(repeats)) return true;
  const step = ((key[1] ?? 0) - (key[0] ?? 0) + 256) % 256;
  return key.every((byte, at) => at === 0 || (byte - (key[at - 1] ?? 0) + 256) % 256 === step);
}

/** Of 32 random bytes so many are different but for one case in 10^20. */
const LEAST_BYTES = 16;

/** In the order of the names, however the context was put together. */
const about = (id: string, context: KeyContext): Uint8Array =>
  lengthPrefixed([
    "key",
    id,
    ...Object.keys(context)
      .sort()
      .flatMap((name) => [name, context[name] ?? ""]),
  ]);

/** Keys that are in the memory of this process. `keys` is asked every time, so that they may change. */
export function localKeyring(keys: () => Keys): Keyring {
  return {
    get current() {
      return [...keys().keys()][0] as string;
    },
    ids: () => [...keys().keys()],
    async wrap(id, secret, context) {
      const key = keys().get(id);
      if (!key) throw new HoldfastError("HF-3030", { kek: id, message: "it is not in the keyring any more" });
      return encrypt(key, about(id, context), secret);
    },
    async unwrap(id, wrapped, context) {
      const key = keys().get(id);
      return key ? decrypt(key, about(id, context), wrapped) : null;
    },
  };
}
