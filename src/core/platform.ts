import { hmacOf } from "./hmac.ts";

/**
 * What the core needs of the place it runs in. Node has all of it built in. A place without Node, such as Temporal's
 * sandbox for workflows, is given its own with {@link providePlatform} before the first use.
 */
export interface Platform {
  /** SHA-256 of a well-formed text as UTF-8. */
  digest(text: string, encoding: "base64url" | "hex"): string;
  /** SHA-256, in base64url, of a text that arrives in pieces. */
  digester(): { add(text: string): void; end(): string };
  /** HMAC-SHA-256 of a text as UTF-8, in base64url. */
  hmac(secret: string, text: string): string;
  toBase64(bytes: Uint8Array): string;
  /** The bytes of a text in base64 or base64url, in memory of their own. */
  fromBase64(text: string): Uint8Array;
  randomBytes(length: number): Uint8Array;
  /** A deep copy of plain data. */
  clone<T>(value: T): T;
  /** Carries a value along a chain of promises, as `AsyncLocalStorage` does. */
  storage<T>(): { getStore(): T | undefined; run<R>(value: T, body: () => R): R };
}

let current: Platform | undefined;

/** The platform. Throws where there is none: guessing a source of hashes or randomness would be worse. */
export function platform(): Platform {
  // Asked for at the first use, because Node takes a while to load its cryptography.
  current ??= nodePlatform();
  if (current === undefined)
    throw new Error("Holdfast has been given no platform here, and there is no Node.");
  return current;
}

/** Sets the platform, for a place without Node. */
export function providePlatform(given: Platform): void {
  current = given;
}

/**
 * A module of Node, asked for at run time instead of imported: an import would keep everything that stands on the core
 * out of sandboxes, whose bundlers refuse it. Only for what is never reached without Node.
 */
export const nodeModule: typeof process.getBuiltinModule = (id: string) =>
  process.getBuiltinModule(id) as never;

function nodePlatform(): Platform | undefined {
  if ((globalThis as { process?: NodeJS.Process }).process?.getBuiltinModule === undefined) return undefined;
  const { createHash, createHmac, hash, randomBytes } = process.getBuiltinModule("node:crypto");
  const { AsyncLocalStorage: Storage } = process.getBuiltinModule("node:async_hooks");
  const { Buffer: Bytes } = process.getBuiltinModule("node:buffer");
  return {
    digest: (text, encoding) => hash("sha256", text, encoding),
    digester() {
      const sum = createHash("sha256");
      return { add: (text) => void sum.update(text), end: () => sum.digest("base64url") };
    },
    hmac: hmacOf({
      slow: (secret, text) => createHmac("sha256", secret).update(text).digest("base64url"),
      digest: (bytes, encoding) => hash("sha256", bytes, encoding),
      bytes: Bytes,
    }),
    toBase64: ({ buffer, byteOffset, byteLength }) =>
      Bytes.from(buffer, byteOffset, byteLength).toString("base64"),
    fromBase64: (text) => new Uint8Array(Bytes.from(text, "base64")),
    randomBytes,
    clone: (value) => structuredClone(value),
    storage: <T>() => new Storage<T>(),
  };
}
