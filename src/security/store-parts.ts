import { defined } from "../core/defined.ts";
import type { Store } from "../core/store/contract.ts";
import { sealOf } from "../core/store/hand-through.ts";

type Values = Pick<Store, "append" | "entries" | "blobs"> & Partial<Store>;

/** The store with other ways to write and read values; all other calls pass through. */
export function withValues(inner: Store, name: string, parts: Values): Store {
  const restore = inner.markRestored?.bind(inner);
  return {
    name,
    get capabilities() {
      return inner.capabilities;
    },
    ...sealOf(inner),
    identity: () => inner.identity(),
    now: () => inner.now(),
    renew: (batch) => inner.renew(batch),
    read: (runId) => inner.read(runId),
    list: (query) => inner.list(query),
    due: (query) => inner.due(query),
    ...defined({ markRestored: restore }),
    close: () => inner.close(),
    ...parts,
  };
}
