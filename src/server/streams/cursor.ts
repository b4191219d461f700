/** Cursors keep caches from answering for ever: they count intervals since a fixed day, and never go back. */
const INTERVAL_MS = 20_000;
const EPOCH = Date.UTC(2024, 9, 9);
const MOST_JITTER_MS = 3_600_000;

/** The cursor of a live answer to somebody who sent this one. */
export function nextCursor(given: string | null, now: number, random: () => number = Math.random): string {
  const interval = Math.floor((now - EPOCH) / INTERVAL_MS);
  const before = given !== null && /^\d{1,15}$/.test(given) ? Number(given) : -1;
  if (before < interval) return String(interval);
  return String(before + Math.max(1, Math.ceil((random() * MOST_JITTER_MS) / INTERVAL_MS)));
}
