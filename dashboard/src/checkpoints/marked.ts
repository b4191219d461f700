import { useSyncExternalStore } from "react";

/** The checkpoint that is marked for a comparison, `run@seq`: it stays while somebody looks for the second, also in another run. */
let marked: string | null = null;
const watchers = new Set<() => void>();

export function setMarked(address: string | null): void {
  marked = address;
  for (const watcher of watchers) watcher();
}

export const useMarked = (): string | null =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => marked,
  );

/** The page that compares two checkpoints. */
export const diffPath = (from: string, to: string): string =>
  `/diff?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`;
