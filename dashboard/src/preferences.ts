import { useSyncExternalStore } from "react";

/** How this browser shows the pages. Besides, the browser keeps only whether somebody was signed in. */
export interface Preferences {
  readonly theme: "system" | "light" | "dark";
  readonly density: "normal" | "compact";
}

const KEY = "holdfast.preferences";
const watchers = new Set<() => void>();
const dark = matchMedia("(prefers-color-scheme: dark)");

function read(): Preferences {
  try {
    const { theme, density } = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Preferences>;
    return {
      theme: theme === "light" || theme === "dark" ? theme : "system",
      density: density === "compact" ? "compact" : "normal",
    };
  } catch {
    return { theme: "system", density: "normal" };
  }
}

let current = read();

export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  localStorage.setItem(KEY, JSON.stringify(current));
  applyPreferences();
  for (const watcher of watchers) watcher();
}

export function applyPreferences(): void {
  const { theme, density } = current;
  const isDark = theme === "dark" || (theme === "system" && dark.matches);
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
  document.documentElement.dataset["density"] = density;
}

dark.addEventListener("change", applyPreferences);

export const usePreferences = (): Preferences =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => current,
  );
