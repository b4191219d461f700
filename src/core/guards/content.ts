import { checkFunction } from "../check-options.ts";
import { type Clock, systemClock } from "../clock.ts";
import { HOOK_MS, inTime, LATE } from "./in-time.ts";

/** A value on its way into a run: restored from the store, or supplied from outside. */
export interface ContentItem {
  readonly runId: string;
  /** `edit`: a replaced value, or the run's config. */
  readonly source: "step" | "loop" | "memory" | "signal" | "input" | "edit";
  /** The step, loop, memory key or signal it belongs to; or `input` or `config`. */
  readonly name: string;
  readonly value: unknown;
}

/** What becomes of a checked value: the run sees it, sees a marker, or waits for a person. */
export type ContentVerdict =
  | "allow"
  /** The run sees a marker with the reason instead. */
  | { readonly quarantine: string }
  /** The run waits until a person has examined it. */
  | { readonly park: string };

/** Examines values before a run sees them. A check that throws, or takes longer than five minutes, parks the run. */
export type ContentCheck = (item: ContentItem) => ContentVerdict | Promise<ContentVerdict>;

/** Replaces a value that the content check has quarantined. */
export interface Quarantined {
  /** The reason. */
  readonly quarantined: string;
}

/** A value on its way into the run. */
export interface Incoming extends Pick<ContentItem, "source" | "name" | "value"> {
  /** Its position in this run's journal, if it is recorded there. */
  readonly seq?: number;
  /** Records the marker instead of the value. Without this, the verdict names the position. */
  readonly replace?: (marker: Quarantined) => void;
}

/**
 * True when a value is the marker of a quarantined one.
 *
 * @example
 * ```ts
 * import { isQuarantined, workflow } from "holdfast";
 *
 * export const answer = workflow("answer", async (ctx, url: string) => {
 *   const page: unknown = await ctx.step("fetch", async () => (await fetch(url)).text());
 *   return isQuarantined(page) ? `Not used: ${page.quarantined}` : page;
 * });
 * ```
 */
export function isQuarantined(value: unknown): value is Quarantined {
  if (typeof value !== "object" || value === null) return false;
  return Object.keys(value).length === 1 && typeof (value as Partial<Quarantined>).quarantined === "string";
}

/** Refuses a value that isn't a function (HF-1003). */
export function checkContentCheck(check: ContentCheck | undefined): ContentCheck | undefined {
  if (check !== undefined) checkFunction("contentCheck", check);
  return check;
}

/** The check's verdict. A missing or invalid verdict holds the value back. */
export async function askCheck(
  check: ContentCheck,
  item: ContentItem,
  clock: Clock = systemClock,
): Promise<ContentVerdict> {
  try {
    const verdict = await inTime(clock, HOOK_MS, () => check(item));
    if (verdict === LATE) return { park: `The check did not answer within ${HOOK_MS} ms.` };
    return isVerdict(verdict) ? verdict : { park: "The check's answer is not a verdict." };
  } catch (error) {
    return { park: `The check threw: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function isVerdict(verdict: unknown): verdict is ContentVerdict {
  if (verdict === "allow") return true;
  if (typeof verdict !== "object" || verdict === null) return false;
  const { quarantine, park } = verdict as Record<string, unknown>;
  const given = [quarantine, park].filter((one) => one !== undefined);
  return given.length === 1 && typeof given[0] === "string";
}
