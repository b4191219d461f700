import { isFairLabel } from "../../core/flow/turns.ts";
import type { FairBy } from "../../core/queue-options.ts";
import { readDuration } from "../config/engine-settings.ts";
import { usage } from "../globals.ts";

/** A whole number of 1 or more. */
export function readCount(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw usage(`${text} isn't a valid number`, "It must be a whole number, 1 or more.", "10");
}

/** A port to listen on; 0 is any free one. */
export function readPort(text: string, usual: number): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw usage(`${text} isn't a port`, "A port is a number from 0 to 65535.", String(usual));
}

/** Parses `7d`, `12h`, `30m` to milliseconds. */
export function readSpan(text: string): number {
  const ms = readDuration(text);
  if (ms !== undefined) return ms;
  throw usage(
    `'${text}' isn't a valid duration`,
    "A duration is a number with a unit: ms, s, m, h, d or w.",
    "7d",
  );
}

/** A whole number, also a negative one. */
export function readWhole(text: string): number {
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw usage(`${text} is not a number that can be used here`, "It must be a whole number.", "10");
}

/** `2h`, `7d` from now, or a date. */
export function readLater(text: string): Since {
  const ahead = readDuration(text);
  if (ahead !== undefined) return (now) => now + ahead;
  const at = Date.parse(text);
  if (!Number.isNaN(at)) return () => at;
  throw usage(
    `${text} isn't a valid time`,
    "Use a date, or a duration from now such as 2h.",
    "--start-at 2h",
  );
}

/** A time: a duration before now, or a date. */
export type Since = (now: number) => number;

/** `2h`, `7d`, `2026-01-19` or `2026-01-19T02:14Z`. */
export function readSince(text: string): Since {
  const ago = readDuration(text);
  if (ago !== undefined) return (now) => now - ago;
  const at = Date.parse(text);
  if (!Number.isNaN(at)) return () => at;
  throw usage(
    `'${text}' isn't a valid time`,
    "Use an ISO date, or a duration before now such as 2h.",
    "--since 2h",
  );
}

/** What a queue is shared by. */
export function readFairBy(text: string): FairBy {
  if (text === "key") return text;
  if (isFairLabel(text)) return text;
  throw usage(
    `A queue can't be fair by '${text}'`,
    "It is fair by key, or by the values of a label.",
    `labels.${text}`,
  );
}
