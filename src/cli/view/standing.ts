import { needsPerson } from "../../core/journal/going-on.ts";
import { stallOf } from "../../core/manage/status/stalled.ts";
import type { RunDetails, RunSentence } from "../../core/manage/status/status.ts";
import { describeRun } from "../../core/manage/status/status.ts";
import { type RunRow, WAIT_KINDS, type WaitKind } from "../../core/types.ts";
import { coarse, seconds } from "../format.ts";
import { ownerOf } from "../owner.ts";
import type { Paint } from "../paint.ts";

/**
 * A run's state as a glyph and a few words; whether a person is needed; and since when it has made no progress although
 * it could.
 */
export interface Standing extends RunSentence {
  readonly glyph: string;
  readonly words: string;
  readonly tone: Tone;
  readonly needsYou: boolean;
  /** Since when it is stalled; `null` when it isn't. */
  readonly stalledSince: number | null;
}

export type Tone = "good" | "bad" | "waits" | "busy" | "calm";

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
  timer: "sleeping",
};

export function standingOf(row: RunRow, now: number, details: RunDetails = {}): Standing {
  const sentence = describeRun(row, details);
  const since = stalledSince(row, now);
  const known = since === null ? words(row, now, sentence) : stalled(now - since);
  return { ...sentence, ...known, stalledSince: since };
}

type Words = Pick<Standing, "glyph" | "words" | "tone" | "needsYou">;

const stalled = (ms: number): Words => ({
  glyph: "◌",
  words: `stalled ${coarse(ms)}`,
  tone: "bad",
  needsYou: true,
});

/** Since when a run that could continue has had no worker: its worker died, or none takes it. `null` otherwise. */
export function stalledSince(row: RunRow, now: number): number | null {
  const stall = stallOf(row, now, ownerOf(row, now)?.isDead);
  return stall && stall.kind !== "quiet" ? stall.since : null;
}

function words(row: RunRow, now: number, { can }: RunSentence): Words {
  if (row.control === "compensating")
    return { glyph: "◌", words: "cancelling", tone: "busy", needsYou: false };
  if (row.control === "pausing") return { glyph: "‖", words: "pausing", tone: "waits", needsYou: false };
  switch (row.status) {
    case "completed":
      return { glyph: "✓", words: "completed", tone: "good", needsYou: false };
    case "cancelled":
      return { glyph: "✗", words: "cancelled", tone: "calm", needsYou: false };
    case "failed":
      if (row.prunedAt !== null)
        return { glyph: "✗", words: "failed, dropped", tone: "calm", needsYou: false };
      return can.includes("resume")
        ? { glyph: "✗", words: "failed, resumable", tone: "bad", needsYou: true }
        : { glyph: "✗", words: "failed", tone: "bad", needsYou: false };
    case "paused":
      return { glyph: "‖", words: "paused", tone: "waits", needsYou: false };
    case "running":
      return { glyph: "●", words: "running", tone: "busy", needsYou: false };
    case "queued":
      return { glyph: "○", words: "queued", tone: "calm", needsYou: false };
    case "waiting":
      return waiting(row, now);
  }
}

function waiting({ waiting: waits }: RunRow, now: number): Words {
  for (const kind of WAIT_KINDS) {
    const wait = waits.find((one) => one.kind === kind);
    if (!wait) continue;
    const needsYou = needsPerson(kind);
    const isTimed = (kind === "retry" || kind === "timer") && wait.until !== undefined;
    const left = isTimed ? ` ${kind === "retry" ? "in " : ""}${seconds((wait.until as number) - now)}` : "";
    return {
      glyph: needsYou ? "‖" : "◌",
      words: `${WORDS[kind]}${left}`,
      tone: needsYou ? "waits" : "calm",
      needsYou,
    };
  }
  return { glyph: "◌", words: "waiting", tone: "calm", needsYou: false };
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

/** Times in a sentence in spoken form: `since 2h ago` becomes `for 2h`. */
export const spoken = (text: string, now: number): string =>
  text
    .replace(
      /since (\d{4}-\d\d-\d\dT[\d:.]+Z)/g,
      (_, at: string) => `for ${coarse(Math.max(0, now - Date.parse(at)))}`,
    )
    .replace(MOMENT, (at) => {
      const away = Date.parse(at) - now;
      return away > 0
        ? `${at.slice(11, 19)} UTC (in ${coarse(away)})`
        : `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
    });
