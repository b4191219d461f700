import { useSyncExternalStore } from "react";
import { TEXT } from "../text.ts";

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** A span of time in its largest unit, or in two below an hour and a day: `8 s`, `3 min`, `2 h 5 min`. */
export function spanText(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1_000) return `${whole} ms`;
  const index = UNITS.findIndex(([, size]) => whole >= size);
  const [unit, size] = UNITS[index] ?? ["s", 1_000];
  const next = UNITS[index + 1];
  const rest = next && unit !== "s" && unit !== "min" ? Math.floor((whole % size) / next[1]) : 0;
  return `${Math.floor(whole / size)} ${unit}${rest > 0 && next ? ` ${rest} ${next[0]}` : ""}`;
}

/** One clock for all times on the page. It ticks only while somebody looks. */
const watchers = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  timer ??= setInterval(() => {
    if (document.visibilityState === "hidden") return;
    now = Date.now();
    for (const one of watchers) one();
  }, 1_000);
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time, once a second. */
export const useNow = (): number => useSyncExternalStore(watch, () => now);

export function relativeText(at: number, from: number): string {
  const ms = from - at;
  if (Math.abs(ms) < 2_000) return TEXT.time.now;
  return ms > 0 ? TEXT.time.ago(spanText(ms)) : TEXT.time.in(spanText(-ms));
}

const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** A moment, as seen from now; the full time on hover and for screen readers. */
export function When({ at }: { readonly at: number }) {
  const text = relativeText(at, useNow());
  return (
    <time dateTime={new Date(at).toISOString()} title={full.format(at)} className="whitespace-nowrap">
      {text}
    </time>
  );
}

/** How long ago something began, growing. */
export function Since({ at }: { readonly at: number }) {
  return <span title={full.format(at)}>{spanText(Math.max(0, useNow() - at))}</span>;
}
