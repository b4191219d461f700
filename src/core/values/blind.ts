import { hmac } from "../hash.ts";

/**
 * Heads name values by their digest and stay readable even if values are encrypted. To keep a digest from confirming a
 * guessed value, such a store has a secret, and the digested text begins with a mark derived from the secret and the
 * text itself: equal texts still share an address, a reader of a text can check its digest, and one known mark says
 * nothing about another text.
 */
const MARK = /^~[\w-]{22}:/;
export const MARK_LENGTH = 24;

/** `place` separates equal texts that need not share an address. */
export const blinded = (secret: string, text: string, place = ""): string =>
  `~${hmac(secret, `${place}\n${text}`).slice(0, 22)}:${text}`;

/** The text itself. */
export const unblinded = (text: string): string => (MARK.test(text) ? text.slice(MARK_LENGTH) : text);

/**
 * True for a text that begins like a mark. Without a secret, such a text isn't stored on its own, so that a mark is
 * always one.
 */
export const looksBlinded = (text: string): boolean => text.startsWith("~");

/**
 * The run that holds a sealed store's own secret. If it exists, values are encrypted; no other run may have this name.
 */
export const SEALED_ROOT = "holdfast-sealed-root";

/** Replaces a record that a store can't open: no digest matches it, so it is reported as damage. */
export const UNREADABLE = "!unreadable";

/** How a compressed value begins. No value in the journal's encoding does: a compressing store writes and reads these. */
export const PACKED = "hfp1.";
