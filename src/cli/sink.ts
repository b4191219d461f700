import { replaceUnseen } from "../core/values/unseen.ts";
import { fit, width } from "./format.ts";
import type { Host, Sink } from "./host.ts";
import { isMark, splitMarks, toSgr } from "./paint.ts";

/** The longest line for a terminal; files and pipes get all of it. */
const LONGEST = 4_000;

/**
 * The only way out. Everything a command prints goes through here, so that the terminal obeys nothing that a run, a
 * file or a server contains: only the command line's own colours and cursor movements pass. One character replaces one,
 * so that columns stay aligned.
 */
export function shielded(host: Host, ascii: boolean): Host {
  const shown = (text: string): string => (ascii ? visible(text, "?") : visible(text));
  return {
    ...host,
    stdout: sinkFor(host.stdout, shown),
    stderr: sinkFor(host.stderr, shown),
    ask: (question) => host.ask(shown(question)),
  };
}

const sinkFor = (sink: Sink, shown: (text: string) => string): Sink => ({
  write: (text, control = "") => sink.write(`${control}${shown(sink.isTTY ? cut(text) : text)}`),
  isTTY: sink.isTTY,
  get isGone() {
    return sink.isGone;
  },
  get columns() {
    return sink.columns;
  },
  onResize: (listener) => sink.onResize(listener),
});

const cut = (text: string): string =>
  text.length <= LONGEST
    ? text
    : text
        .split("\n")
        .map((line) => (line.length > LONGEST && width(line) > LONGEST ? fit(line, LONGEST) : line))
        .join("\n");

/** Text with colours as escape sequences, and a sign instead of every character that a terminal would obey. */
export function visible(text: string, sign?: string): string {
  return splitMarks(text)
    .map((part) =>
      isMark(part)
        ? toSgr(part)
        : replaceUnseen(part.replace(/\r\n/g, "\n"), (one) => (one === "\t" ? " " : (sign ?? signOf(one)))),
    )
    .join("");
}

/** Control characters have their own pictures: ␛, ␇, ␍. */
function signOf(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}
