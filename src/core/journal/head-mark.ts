import { hmac } from "../hash.ts";

/**
 * In an encrypted store every head ends with a mark that only the store's key can make (`m`): over the run, the position and the head,
 * which names the hash of the one before. So whoever can write to the database and has no key can add no event, not even one without a
 * value. The mark is part of what is hashed.
 */
const MARK = /,"m":"([\w-]{43})"\}$/;

const keys = new Map<string, string>();

function keyOf(secret: string): string {
  const key = keys.get(secret) ?? hmac(secret, "holdfast heads 1");
  if (keys.size > 100) keys.clear();
  keys.set(secret, key);
  return key;
}

const markOf = (secret: string, run: string, seq: number, head: string): string =>
  hmac(keyOf(secret), JSON.stringify([run, seq, head]));

/** The head with its mark. */
export const marked = (secret: string, run: string, seq: number, head: string): string =>
  `${head.slice(0, -1)},"m":"${markOf(secret, run, seq, head)}"}`;

/** Whether the head carries the mark of this store, for this run and position. */
export function isMarked(secret: string, run: string, seq: number, head: string): boolean {
  const found = MARK.exec(head);
  return found !== null && found[1] === markOf(secret, run, seq, `${head.slice(0, found.index)}}`);
}
