import { platform } from "./platform.ts";

/**
 * SHA-256 of the text as UTF-8, in base64url (43 characters). The text must be well-formed, as everything the
 * codec writes is: UTF-8 has no bytes for a lone surrogate.
 */
export function digest(text: string): string {
  return platform().digest(text, "base64url");
}

/** A digest of a text that arrives in pieces. */
export function digester(): { add(text: string): void; end(): string } {
  return platform().digester();
}

/**
 * HMAC-SHA-256 of the text as UTF-8, in base64url.
 */
export function hmac(secret: string, text: string): string {
  return platform().hmac(secret, text);
}

/** A short name for a secret, such as an idempotency key, that doesn't reveal it. */
export function fingerprint(secretText: string): string {
  return digest(secretText).slice(0, 10);
}

/** SHA-256 of the text as UTF-8 in hexadecimal, as `sha256sum` prints it for a file with this text. */
export const hexDigest = (text: string): string => platform().digest(text, "hex");
