import { randomInt } from "node:crypto";

/**
 * Colours are written with a secret number, so that the sink can tell them from colour codes in the text of a run,
 * which aren't obeyed.
 */
const OURS = `${randomInt(1, 2 ** 47)}`;

const MARK = new RegExp(`\u001b\\[${OURS};(\\d+)m`, "g");
const SPLIT = new RegExp(`(\u001b\\[${OURS};\\d+m)`);

export const isMark = (text: string): boolean => text.startsWith(`\u001b[${OURS};`);

/** Text and colour marks in turn. */
export const splitMarks = (text: string): string[] => text.split(SPLIT);

export const withoutMarks = (text: string): string => text.replace(MARK, "");

/** Converts the mark to an escape sequence. */
export const toSgr = (mark: string): string => mark.replace(MARK, "\u001b[$1m");

const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export type Paint = Readonly<Record<keyof typeof STYLES, (text: string) => string>>;

const style =
  ([on, off]: readonly [number, number]) =>
  (text: string): string => {
    const [begin, end] = [`\u001b[${OURS};${on}m`, `\u001b[${OURS};${off}m`];
    // The end of an inner style also ends the outer one, which is therefore restarted.
    return `${begin}${text.replaceAll(end, end + begin)}${end}`;
  };

const plain = (text: string): string => text;

export const createPaint = (hasColor: boolean): Paint => {
  const of = (name: keyof typeof STYLES) => (hasColor ? style(STYLES[name]) : plain);
  return {
    bold: of("bold"),
    dim: of("dim"),
    red: of("red"),
    green: of("green"),
    yellow: of("yellow"),
    cyan: of("cyan"),
  };
};
