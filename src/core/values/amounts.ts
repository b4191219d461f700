import { shownUsage, type Usage } from "../types.ts";

/** Amounts as people read them: durations, counts, money, bytes. */

/** `950ms`, `4.2s`, `3m12s`, `2h05m`, `3d4h`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1_000);
  const [d, h, m, s] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ];
  if (d > 0) return `${d}d${h}h`;
  return h > 0 ? `${h}h${two(m)}m` : `${m}m${two(s)}s`;
}

/** For counters on a screen: no fractions. */
export const seconds = (ms: number): string =>
  ms < 59_500 ? `${Math.max(0, Math.round(ms / 1_000))}s` : duration(ms);

const two = (value: number): string => String(value).padStart(2, "0");

export const count = (value: number): string => value.toLocaleString("en-US");

/** `6,120 tok`, from a hundred thousand on `182k tok`. */
export const tokens = (value: number): string =>
  value < 100_000 ? `${count(value)} tok` : `${Math.round(value / 1_000)}k tok`;

/** `$1.42`; small amounts get more digits. */
export const usd = (value: number): string =>
  `$${value === 0 || value >= 0.01 ? value.toFixed(2) : value.toPrecision(2)}`;

export const plural = (amount: number, word: string, words = `${word}s`): string =>
  `${count(amount)} ${amount === 1 ? word : words}`;

/** The non-zero parts, joined as in `18.2s · 6,120 tok · $0.04`. */
export const spent = (used: { ms?: number; tokens?: number; costUsd?: number | null }): string =>
  [
    used.ms === undefined ? "" : duration(used.ms),
    used.tokens ? tokens(used.tokens) : "",
    used.costUsd ? usd(used.costUsd) : "",
  ]
    .filter((part) => part !== "")
    .join(" · ");

/** `6,120 tok · $0.04`, or `4,000 tok · unpriced`. */
export const used = (usage: Usage & { readonly unpriced?: number }): string =>
  `${spent(usage)}${shownUsage(usage).costUsd === null ? " · unpriced" : ""}`;

const UNITS = ["B", "KB", "MB", "GB", "TB"] as const;

/** `640 B`, `3.4 MB`. */
export function bytes(value: number): string {
  let [left, unit] = [value, 0];
  while (left >= 1_000 && unit < UNITS.length - 1) {
    left /= 1_000;
    unit++;
  }
  return `${unit === 0 || left >= 100 ? Math.round(left) : left.toFixed(1)} ${UNITS[unit]}`;
}
