import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { type ApiError, client } from "../../../api/client.ts";
import { continued, type Gathered } from "./gather.ts";
import { type Node, type Outline, treeOf } from "./tree.ts";

export interface OutlineUse {
  readonly outline: Outline | undefined;
  readonly tree: readonly Node[];
  /** False while more pages of steps arrive. */
  readonly isWhole: boolean;
  readonly error: ApiError | null;
}

const keyOf = (run: string) => ["outline", { run }] as const;
const NONE: readonly Node[] = [];

/** When the outline of a run was last read, and how long it took: a long one is asked for less often. */
const pace = new Map<string, { readonly endedAt: number; readonly ms: number }>();

async function rest(run: string, signal: AbortSignal): Promise<void> {
  const last = pace.get(run);
  const wait = last ? last.endedAt + last.ms * 3 - performance.now() : 0;
  if (wait <= 0) return;
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, wait);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
    });
  });
}

/** Reads what is missing: the next pages, or what moved since. What has arrived is shown at once. */
async function gather(queries: QueryClient, run: string, signal: AbortSignal): Promise<Gathered> {
  await rest(run, signal);
  const began = performance.now();
  let known = queries.getQueryData<Gathered>(keyOf(run));
  do {
    known = await continued(known, (page) => client.getOutline({ run, ...page }, { signal }));
    signal.throwIfAborted();
    queries.setQueryData(keyOf(run), known);
  } while (known.next !== null);
  const endedAt = performance.now();
  pace.set(run, { endedAt, ms: Math.min(endedAt - began, 2_000) });
  return known;
}

/** All steps of a run, kept up to date. The first 500 are there at once, the others follow. */
export function useOutline(run: string): OutlineUse {
  const queries = useQueryClient();
  const { data, error } = useQuery<Gathered, ApiError>({
    queryKey: keyOf(run),
    queryFn: ({ signal }) => gather(queries, run, signal),
    structuralSharing: false,
  });
  const tree = useMemo(() => (data ? treeOf(data.outline) : NONE), [data]);
  return { outline: data?.outline, tree, isWhole: data !== undefined && data.next === null, error };
}
