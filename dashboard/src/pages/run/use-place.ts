import { useCallback, useMemo } from "react";
import { useLocation, useSearch } from "wouter";
import { type RunPlace, readPlace, writePlace } from "./address.ts";

export interface PlaceUse extends RunPlace {
  /** Changes a part of it. The address follows; the browser's "back" leads to the page before. */
  readonly go: (change: Partial<RunPlace>) => void;
  /** The address of another place on this page. */
  readonly href: (change: Partial<RunPlace>) => string;
}

/** What of the run is shown, as the address says. */
export function usePlace(): PlaceUse {
  const [path, navigate] = useLocation();
  const search = useSearch();
  const place = useMemo(() => readPlace(path, search), [path, search]);
  const go = useCallback(
    (change: Partial<RunPlace>) => navigate(writePlace({ ...place, ...change }), { replace: true }),
    [place, navigate],
  );
  const href = useCallback((change: Partial<RunPlace>) => writePlace({ ...place, ...change }), [place]);
  return { ...place, go, href };
}
