import { HoldfastError } from "../errors.ts";
import { SEALED_ROOT } from "../values/blind.ts";
import type { Store } from "./contract.ts";

/**
 * Refuses (HF-3062) a store whose values are encrypted and that was opened without its keys: it would take values in clear. The run that
 * holds the store's own key is the mark; whoever opens it with the keys does not see that run.
 */
export async function refuseSealed(store: Pick<Store, "blinding" | "read">): Promise<void> {
  if (store.blinding === undefined && (await store.read(SEALED_ROOT))?.id === SEALED_ROOT)
    throw new HoldfastError("HF-3062");
}
