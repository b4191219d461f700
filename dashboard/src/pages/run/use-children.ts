import { useMemo } from "react";
import { useApi } from "../../api/use-api.ts";
import type { Outline } from "./outline/tree.ts";

/** The most runs that are asked about: the newest ones. */
const MOST = 100;
/** Events of children reach their own pages, so their progress is asked for. */
const ASK_MS = 5_000;

/** How far the runs are that a run has started: `4 of 4`, by their ids. */
export function useChildren(outline: Outline | undefined): ReadonlyMap<string, string> {
  const ids = useMemo(() => outline?.children.slice(-MOST).map(({ runId }) => runId) ?? [], [outline]);
  const { data } = useApi("getProgress", { run: ids }, { enabled: ids.length > 0, refetchMs: ASK_MS });
  return useMemo(() => new Map(data?.runs.map(({ run, text }) => [run, text])), [data]);
}
