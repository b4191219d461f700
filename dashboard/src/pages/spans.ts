const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A span as people write it (`30s`, `10m`, `2h`, `1d`) in milliseconds; `null` if it isn't one. */
export function parseSpan(text: string): number | null {
  const [, number, unit] = /^\s*(\d+(?:\.\d+)?)\s*([smhd])\s*$/.exec(text) ?? [];
  const size = Object.entries(UNITS).find(([name]) => name === unit)?.[1];
  return number === undefined || size === undefined ? null : Math.round(Number(number) * size);
}

/** The same the other way round: in the largest unit that fits. */
export function writeSpan(ms: number): string {
  const fits = Object.entries(UNITS).findLast(([, size]) => ms >= size && ms % size === 0);
  return fits ? `${ms / fits[1]}${fits[0]}` : `${ms / 1_000}s`;
}

/** A time as an input of the browser takes it, in local time. */
export function localInput(at: number): string {
  const date = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return date.toISOString().slice(0, 16);
}

/** What such an input holds; `null` while it is empty. */
export function fromLocalInput(text: string): number | null {
  const at = text === "" ? Number.NaN : new Date(text).getTime();
  return Number.isNaN(at) ? null : at;
}
