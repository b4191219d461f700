import { Cron } from "croner";
import { checkText } from "../check-options.ts";
import { HoldfastError } from "../errors.ts";
import { keepRecent } from "../recent.ts";
import type { Ticks } from "./ticks.ts";

/** The longest cron line; the longest one that makes sense has fewer characters. */
const MOST_IN_LINE = 256;

/** Beside fields and nicknames, croner takes dates and `?`, whose meaning depends on the moment of reading. */
const UNSTEADY = /\?|\d{4}-\d{2}/;

/** Where a time zone isn't given. */
export const DEFAULT_ZONE = "UTC";

/**
 * The ticks of a cron line. Five fields, or six with seconds first; nicknames such as `@daily`. In a time zone with
 * daylight saving, a fixed time in the hour that doesn't exist ticks right after the gap, a fixed time in the hour that
 * exists twice ticks the first time only, and lines that repeat within the hour go on through both.
 */
export function cronTicks(line: string, timezone: string = DEFAULT_ZONE): Ticks {
  const cron = parsed(line, timezone);
  return {
    next(after) {
      const found = cron.nextRun(new Date(Math.max(after, 0)));
      return found ? found.getTime() : null;
    },
    last(upTo, count) {
      // croner counts in whole seconds and leaves out the reference itself.
      const reference = new Date((Math.floor(upTo / 1_000) + 1) * 1_000);
      return cron
        .previousRuns(count, reference)
        .map((date) => date.getTime())
        .reverse();
    },
  };
}

/** Reading a line takes many times longer than asking for its next tick. */
const known = new Map<string, Cron>();
const MOST_KNOWN = 500;

function parsed(line: string, timezone: string): Cron {
  const key = JSON.stringify([line, timezone]);
  const cron = known.get(key) ?? parse(line, timezone);
  keepRecent(known, key, cron, MOST_KNOWN);
  return cron;
}

/** Refuses a line or a time zone that isn't valid (HF-5101, HF-5102), and a line that never ticks. */
function parse(line: string, timezone: string): Cron {
  checkText("cron", line, 1, MOST_IN_LINE);
  checkZone(timezone);
  const bad = (problem: string) => new HoldfastError("HF-5101", { line: JSON.stringify(line), problem });
  if (UNSTEADY.test(line)) throw bad("It may hold neither a date nor '?'.");
  try {
    const cron = new Cron(line.trim(), { timezone, mode: "5-or-6-parts", paused: true });
    if (cron.nextRun(new Date(0)) !== null) return cron;
  } catch (error) {
    throw bad(error instanceof Error ? error.message.replace(/^CronPattern: /, "") : String(error));
  }
  throw bad("No date ever matches it.");
}

function checkZone(timezone: string): void {
  checkText("timezone", timezone, 1, 64);
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: timezone });
  } catch {
    throw new HoldfastError("HF-5102", { zone: JSON.stringify(timezone) });
  }
}
