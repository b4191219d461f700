import {
  type Standing as Judged,
  standingOf as judge,
  type StandingWord,
  type Tone,
} from "../../core/manage/status/standing.ts";
import type { RunDetails } from "../../core/manage/status/status.ts";
import type { RunRow, WaitKind } from "../../core/types.ts";
import { coarse, seconds } from "../format.ts";
import { ownerOf } from "../owner.ts";
import type { Paint } from "../paint.ts";

export type { Tone } from "../../core/manage/status/standing.ts";

/** A run's standing, with a glyph and in a few words. */
export interface Standing extends Judged {
  readonly glyph: string;
  readonly words: string;
  /** Since when it is stalled; `null` when it isn't. */
  readonly stalledSince: number | null;
}

/** The names of waits. */
const WORDS: Readonly<Record<WaitKind, string>> = {
  review: "review",
  decision: "in doubt",
  gate: "gate",
  budget: "budget reached",
  content: "content held",
  policy: "not allowed",
  migration: "needs migration",
  key: "needs its key",
  signal: "signal",
  child: "child run",
  retry: "retrying",
  limit: "rate limit",
  timer: "sleeping",
  start: "starts",
};

const GLYPHS: Readonly<Record<StandingWord, string>> = {
  queued: "○",
  running: "●",
  pausing: "‖",
  paused: "‖",
  cancelling: "◌",
  cancelled: "✗",
  completed: "✓",
  failed: "✗",
  "failed, resumable": "✗",
  "failed, dropped": "✗",
  stalled: "◌",
  waiting: "◌",
};

/** Waits that end at a time, which is shown. */
const TIMED: readonly WaitKind[] = ["retry", "timer", "start"];

export function standingOf(row: RunRow, now: number, details: RunDetails = {}): Standing {
  const judged = judge(row, now, details, ownerOf(row, now)?.isDead);
  const { word, needsYou, stalled } = judged;
  const glyph = word === "waiting" && needsYou ? "‖" : GLYPHS[word];
  return { ...judged, glyph, words: wordsOf(judged, now), stalledSince: stalled?.since ?? null };
}

/** Since when a run that could continue has had no worker: its worker died, or none takes it. `null` otherwise. */
export const stalledSince = (row: RunRow, now: number): number | null => standingOf(row, now).stalledSince;

function wordsOf({ word, wait, stalled }: Judged, now: number): string {
  if (stalled) return `stalled ${coarse(now - stalled.since)}`;
  if (word !== "waiting" || !wait) return word;
  const isTimed = TIMED.includes(wait.kind) && wait.until !== undefined;
  const left = isTimed
    ? ` ${wait.kind === "timer" ? "" : "in "}${seconds((wait.until as number) - now)}`
    : "";
  return `${WORDS[wait.kind]}${left}`;
}

export function toned(paint: Paint, tone: Tone): (text: string) => string {
  const colours = {
    good: paint.green,
    bad: paint.red,
    waits: paint.yellow,
    busy: paint.cyan,
    calm: paint.dim,
  };
  return colours[tone];
}

/** Glyph and words in their colour. */
export const badge = ({ glyph, words: text, tone }: Standing, paint: Paint): string =>
  toned(paint, tone)(`${glyph} ${text}`);

const MOMENT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** A wait that has lasted for less says nothing about its length. */
const FRESH_MS = 2_000;

/** Times in a sentence in spoken form: `since` a time of two hours ago becomes `for 2h`. */
export const spoken = (text: string, now: number): string =>
  text
    .replace(/ since (\d{4}-\d\d-\d\dT[\d:.]+Z)/g, (_, at: string) => {
      const ms = now - Date.parse(at);
      return ms < FRESH_MS ? "" : ` for ${coarse(ms)}`;
    })
    .replace(MOMENT, (at) => {
      const away = Date.parse(at) - now;
      return away > 0
        ? `${at.slice(11, 19)} UTC (in ${coarse(away)})`
        : `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
    });
