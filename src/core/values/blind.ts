import { hmac } from "../hash.ts";

/**
 * Heads name values by their digest and stay readable where values are encrypted. So that a digest tells nothing about a value that
 * somebody guesses, such a store gives a secret, and what is digested begins with a mark made of the secret and the text itself: equal
 * texts still share an address, whoever reads a text can check its digest, and one known mark says nothing about another text.
 */
const MARK = /^~[\w-]{22}:/;
export const MARK_LENGTH = 24;

/** `place` tells equal texts apart that need not share an address. */
export const blinded = (secret: string, text: string, place = ""): string =>
  `~${hmac(secret, `${place}\n${text}`).slice(0, 22)}:${text}`;

/** The text itself. */
export const unblinded = (text: string): string => (MARK.test(text) ? text.slice(MARK_LENGTH) : text);

/** Begins as a mark does. Where there is no secret, such a text is not stored by itself, so that a mark is always one. */
export const looksBlinded = (text: string): boolean => text.startsWith("~");

/** The run that a sealed store keeps its own secret in. Where it is, values are encrypted; no other run may be called so. */
export const SEALED_ROOT = "holdfast-sealed-root";

/** What stands in the place of a record that a store cannot open: no digest fits it, so it is met as damage. */
export const UNREADABLE = "!unreadable";
