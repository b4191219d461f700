import { HoldfastError } from "../errors.ts";
import { SEALED_ROOT } from "../values/blind.ts";
import type { Store } from "./contract.ts";

/**
 * Refuses (HF-3062) an encrypted store that was opened without its keys, because it would accept values in clear. The
 * run that holds the store's own key is the sign; with the keys that run is invisible.
 */
export async function refuseSealed(store: Pick<Store, "blinding" | "read">): Promise<void> {
  if (store.blinding === undefined && (await store.read(SEALED_ROOT))?.id === SEALED_ROOT)
    throw new HoldfastError("HF-3062");
}
