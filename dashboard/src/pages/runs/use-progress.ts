import { useMemo } from "react";
import { useApi } from "../../api/use-api.ts";
import { useLater } from "../../ui/use-later.ts";
import type { RunItem } from "./run-list.ts";

/** The most runs that the API tells the progress of at once. */
const MOST = 100;
/** Rows that only fly past aren't asked for. */
const RESTING_MS = 200;

const isOver = ({ status }: RunItem): boolean => status === "completed" || status === "cancelled";

/** How far the runs in sight are, as their plans say. A list tells only how much is done. */
export function useProgress(
  rows: readonly RunItem[],
  first: number,
  last: number,
): ReadonlyMap<string, RunItem["progress"]> {
  const seen = rows
    .slice(first, last + 1)
    .filter((run) => !isOver(run))
    .slice(0, MOST)
    .map(({ id }) => id)
    .join(" ");
  const settled = useLater(seen, RESTING_MS);
  const { data } = useApi("getProgress", { run: settled.split(" ") }, { enabled: settled !== "" });
  return useMemo(() => new Map((data?.runs ?? []).map(({ run, ...progress }) => [run, progress])), [data]);
}
