export const RANGES = ["1h", "24h", "7d", "30d", ""] as const;
export type Range = (typeof RANGES)[number];

export const isRange = (text: string): text is Range => (RANGES as readonly string[]).includes(text);

const HOUR_MS = 3_600_000;
const HOURS: Readonly<Record<Exclude<Range, "">, number>> = { "1h": 1, "24h": 24, "7d": 168, "30d": 720 };

/** Where a range begins, to the minute; `null` for any time. */
export function sinceOf(range: Range): number | null {
  return range === "" ? null : Math.floor((Date.now() - HOURS[range] * HOUR_MS) / 60_000) * 60_000;
}
