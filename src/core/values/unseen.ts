/**
 * Characters that a terminal or an editor obeys instead of showing: control characters (ESC, BEL, CR, C1 …), marks that
 * change the order or direction of text, line breaks other than `\n`, invisible ones, and lone surrogates. `\n` isn't
 * included.
 */
const UNSEEN =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}]|\p{Surrogate}/gu;

/** Replaces every character that would be obeyed instead of shown. */
export const replaceUnseen = (text: string, by: (character: string) => string): string =>
  text.replace(UNSEEN, by);

/**
 * Equivalent JSON text with such characters escaped. JSON's own escapes leave C1, direction marks and others as they
 * are.
 */
export const plainJson = (json: string): string =>
  replaceUnseen(json, (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join(""),
  );

const escaped = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`;
