import { randomBytes, timingSafeEqual } from "node:crypto";
import { digest } from "../../core/hash.ts";

/**
 * A token is `hf_<id>_<secret>`: the id finds its record, the secret proves it. The prefix lets scanners find leaked
 * ones. Only the SHA-256 of the secret is stored. A slow hash such as scrypt protects secrets that can be guessed; this
 * one has 256 random bits, so trying them out is hopeless at any speed, and a slow hash would only let strangers keep
 * the server busy.
 */
const TOKEN = /^hf_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;

/** Finds a token anywhere in a text. */
const TOKENS = /hf_[0-9a-f]{16}_[A-Za-z0-9_-]{43}/g;

export interface TokenParts {
  readonly id: string;
  readonly secret: string;
}

export const newToken = (): TokenParts & { readonly text: string } => {
  const [id, secret] = [randomBytes(8).toString("hex"), randomBytes(32).toString("base64url")];
  return { id, secret, text: `hf_${id}_${secret}` };
};

/** The parts of a token, or `null` if the text isn't one. */
export function parseToken(text: string): TokenParts | null {
  const [, id, secret] = TOKEN.exec(text) ?? [];
  return id === undefined || secret === undefined ? null : { id, secret };
}

export const hashOf = (secret: string): string => digest(secret);

/** Compares in a time that doesn't depend on where the difference is. */
export function matches(secret: string, hash: string): boolean {
  const [given, kept] = [Buffer.from(hashOf(secret)), Buffer.from(hash)];
  return given.length === kept.length && timingSafeEqual(given, kept);
}

/** The text with every token in it shortened to its id, for logs. */
export const withoutTokens = (text: string): string =>
  text.replace(TOKENS, (token) => `hf_${parseToken(token)?.id ?? ""}_…`);
