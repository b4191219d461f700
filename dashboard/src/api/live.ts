import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { client } from "./client.ts";

export type LiveState = "connecting" | "live" | "reconnecting";

/** How long changes are gathered before the pages ask for them: many events of a moment cost one request. */
const GATHER_MS = 150;
/** Lists change with every event of any run, so they are asked for less often. */
const LISTS_MS = 1_000;

let state: LiveState = "connecting";
const watchers = new Set<() => void>();

function enter(next: LiveState): void {
  state = next;
  for (const watcher of watchers) watcher();
}

/** How the stream of events stands. */
export const useLiveState = (): LiveState =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => state,
  );

/** Follows all runs and refreshes what is shown of those that move. Returns a function that stops it. */
export function followRuns(queries: QueryClient): () => void {
  const abort = new AbortController();
  const gathered = new Set<string>();
  let flushing: ReturnType<typeof setTimeout> | undefined;
  let listing: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    flushing = undefined;
    const moved = new Set(gathered);
    gathered.clear();
    void queries.invalidateQueries({ predicate: ({ queryKey }) => isAbout(queryKey, moved) });
    listing ??= setTimeout(() => {
      listing = undefined;
      void queries.invalidateQueries({ predicate: ({ queryKey }) => isList(queryKey) });
    }, LISTS_MS);
  };
  const follow = async (): Promise<void> => {
    while (!abort.signal.aborted) {
      try {
        for await (const message of client.streamEvents({}, { signal: abort.signal, onState: enter })) {
          if (message.type === "resync") void queries.invalidateQueries();
          else gathered.add(message.event.run);
          flushing ??= setTimeout(flush, GATHER_MS);
        }
      } catch {
        // The stream gives up when it is refused. What is shown is asked for again once it is back.
      }
      if (abort.signal.aborted) return;
      enter("reconnecting");
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      void queries.invalidateQueries();
    }
  };
  void follow();
  return () => {
    abort.abort();
    clearTimeout(flushing);
    clearTimeout(listing);
  };
}

function isAbout(key: readonly unknown[], runs: ReadonlySet<string>): boolean {
  const { run } = (key[1] ?? {}) as { readonly run?: string };
  return run !== undefined && runs.has(run);
}

const LISTS =
  /^(?:list(?:Runs|Gates|Errors|Queues|Workers|Schedules|Costs)|needsYou|countRuns|getProgress|diff)$/;

const isList = ([id]: readonly unknown[]): boolean => LISTS.test(String(id));
