import type { Clock } from "../../clock.ts";
import type { Store } from "../../store/contract.ts";

/** The store for background work: before each long read, other work of the process comes first. */
export function unhurried(store: Store, clock: Clock): Store {
  const turn = (): Promise<void> => new Promise((resolve) => clock.defer(resolve));
  return {
    name: store.name,
    capabilities: store.capabilities,
    identity: () => store.identity(),
    now: () => store.now(),
    append: (batch) => store.append(batch),
    renew: (batch) => store.renew(batch),
    read: (runId) => store.read(runId),
    entries: (runId, range) => turn().then(() => store.entries(runId, range)),
    blobs: (runId, hashes) => turn().then(() => store.blobs(runId, hashes)),
    list: (query) => turn().then(() => store.list(query)),
    due: (query) => store.due(query),
    close: () => store.close(),
  };
}
