import { hmac } from "../hash.ts";

/**
 * In an encrypted store every head ends with a mark (`m`) that only the store's key can produce: over the run, the
 * position and the head, which names the hash of the previous one. So a writer to the database without the key can't
 * add an event, not even one without a value. The mark is part of the hashed text.
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

/** True when the head has this store's mark for this run and position. */
export function isMarked(secret: string, run: string, seq: number, head: string): boolean {
  const found = MARK.exec(head);
  return found !== null && found[1] === markOf(secret, run, seq, `${head.slice(0, found.index)}}`);
}
