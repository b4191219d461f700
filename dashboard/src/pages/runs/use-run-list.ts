import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { client } from "../../api/client.ts";
import { queryOf, type RunQuery } from "./filter.ts";
import { RunList, type Shown } from "./run-list.ts";

interface Listed {
  readonly list: RunList;
  readonly query: RunQuery;
}

/** Lists that were looked at lately, so that Back finds them as they were. */
const lately = new Map<string, Listed>();
const MOST_LISTS = 5;

/** The list for a filter. A span such as 24h is counted from when the list is first opened. */
function listOf(text: string): Listed {
  const known = lately.get(text) ?? opened(queryOf(text, Date.now()));
  lately.delete(text);
  lately.set(text, known);
  for (const oldest of lately.keys()) {
    if (lately.size <= MOST_LISTS) break;
    lately.delete(oldest);
  }
  return known;
}

const opened = (query: RunQuery): Listed => ({
  query,
  list: new RunList((page) => client.listRuns({ ...query, ...page })),
});

/** Rows of the list that are on the screen. */
export interface Visible {
  readonly first: number;
  readonly last: number;
}

export const useListed = (text: string): Listed => useMemo(() => listOf(text), [text]);

/** What a list shows. `pulse` changes whenever something has happened; the rows on the screen are then read again. */
export function useShown(
  list: RunList,
  pulse: number,
): { readonly shown: Shown; readonly look: (visible: Visible) => void } {
  const visible = useRef<Visible>({ first: 0, last: 0 });
  const shown = useSyncExternalStore(list.watch, list.shown);
  useEffect(() => {
    if (list.shown().rows.length === 0) void list.loadMore();
  }, [list]);
  useEffect(() => {
    if (pulse > 0) void list.refresh(visible.current.first, visible.current.last);
  }, [list, pulse]);
  const look = useCallback((now: Visible) => {
    visible.current = now;
  }, []);
  return { shown, look };
}
