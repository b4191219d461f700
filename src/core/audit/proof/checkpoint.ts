import { type ParsedNote, parseNote } from "./note.ts";

/**
 * The head of a log as C2SP defines it (c2sp.org/tlog-checkpoint): a signed note whose text is the log's origin, the
 * number of its leaves, and the root of its tree in base64.
 */
export interface TreeHead {
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
}

/** A head and the note that it was read from. */
export interface NotedHead extends TreeHead {
  /** The note as it was written. */
  readonly text: string;
  readonly note: ParsedNote;
}

export const headText = ({ origin, size, root }: TreeHead): string =>
  `${origin}\n${size}\n${root.toString("base64")}\n`;

/** Reads a head; `undefined` when the note isn't one. */
export function parseHead(text: string): NotedHead | undefined {
  const note = parseNote(text);
  if (!note) return undefined;
  const [origin = "", digits = "", coded = "", ...rest] = note.text.split("\n");
  const root = Buffer.from(coded, "base64");
  const isHead =
    origin !== "" &&
    /^(?:0|[1-9]\d{0,14})$/.test(digits) &&
    root.length === 32 &&
    root.toString("base64") === coded &&
    rest.pop() === "" &&
    rest.every((line) => line !== "");
  return isHead ? { origin, size: Number(digits), root, text, note } : undefined;
}

/** True for a text that could be taken for the head of a log. */
export const looksLikeHead = (text: string): boolean => /^[^\n]+\n\d+\n/.test(text);

/**
 * The heads in a file of notes, one after the other with an empty line between them, in the order of the file. What
 * isn't a whole note, such as the last lines of a process that was killed, is counted and left out.
 */
export function parseHeads(text: string): { readonly heads: readonly NotedHead[]; readonly torn: number } {
  const heads: NotedHead[] = [];
  let torn = 0;
  const blocks = text.split(/\n{2,}/).filter((block) => block.trim() !== "");
  for (let at = 0; at < blocks.length; at++) {
    const [body = "", signatures = ""] = [blocks[at], blocks[at + 1]];
    const head = parseHead(`${body.replace(/^\n+/, "")}\n\n${signatures.replace(/\n+$/, "")}\n`);
    if (head) {
      heads.push(head);
      at++;
    } else {
      torn++;
    }
  }
  return { heads, torn };
}
