import { useSyncExternalStore } from "react";

const narrow = matchMedia("(width < 64rem)");

/** True where there is no room for a second column. */
export const useIsNarrow = (): boolean =>
  useSyncExternalStore(
    (watcher) => {
      narrow.addEventListener("change", watcher);
      return () => narrow.removeEventListener("change", watcher);
    },
    () => narrow.matches,
  );
