import { resolve } from "node:path";
import type { Store } from "../../core/store/contract.ts";
import type { Keyring } from "../../security/index.ts";
import type { Settings } from "./settings.ts";

/** Wraps the store according to the configuration: values compressed, encrypted, both or neither. */
export async function seal(store: Store, { values, origins, root }: Settings): Promise<Store> {
  const { compression, encryption } = values;
  if (!compression && !encryption) return store;
  const { envKeyring, fileKeyring, packStore, sealStore } = await import("../../security/index.ts");
  const level = typeof compression === "number" ? { level: compression } : {};
  if (!encryption) return packStore(store, level);
  const keyring = (): Keyring => {
    if (encryption === true) return envKeyring();
    return "keyring" in encryption ? encryption.keyring : fileKeyring(resolve(root, encryption.key_file));
  };
  const isSaid = origins["compression"] !== "default";
  return sealStore(store, {
    keyring: keyring(),
    ...(isSaid ? { compression: compression === false ? false : level } : {}),
    ...(encryption !== true && encryption.accept_plain ? { acceptPlain: true } : {}),
  });
}
