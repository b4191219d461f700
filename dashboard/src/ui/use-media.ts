import { useCallback, useSyncExternalStore } from "react";

/** Whether a media query holds now. */
export function useMedia(query: string): boolean {
  const watch = useCallback(
    (watcher: () => void) => {
      const list = matchMedia(query);
      list.addEventListener("change", watcher);
      return () => list.removeEventListener("change", watcher);
    },
    [query],
  );
  return useSyncExternalStore(watch, () => matchMedia(query).matches);
}
