const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const WRITTEN = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)?\s*$/;
const DAY_MS = 86_400_000;

/** Parses a wait to milliseconds: seconds, or a number with ms, s, m or h; more than zero and at most a day. */
export function waitMs(given: string | number): number | undefined {
  const [, amount, unit = "s"] = WRITTEN.exec(String(given)) ?? [];
  if (amount === undefined) return undefined;
  const ms = Number(amount) * (UNITS[unit] as number);
  return ms > 0 && ms <= DAY_MS ? ms : undefined;
}

export const WAIT_RULE = "a duration such as 500ms, 60s, 2.5m or 1h, of at most a day";
