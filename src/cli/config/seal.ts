import { resolve } from "node:path";
import type { Store } from "../../core/store/contract.ts";
import type { Keyring } from "../../security/index.ts";
import type { Settings } from "./settings.ts";

/**
 * Opens the store and wraps it according to the configuration: values compressed, encrypted, both or neither. Keys are
 * looked up first, so that nothing is created without them.
 */
export async function seal(
  open: () => Promise<Store>,
  { values, origins, root }: Pick<Settings, "values" | "origins" | "root">,
): Promise<Store> {
  const { compression, encryption } = values;
  if (!compression && !encryption) return open();
  const { envKeyring, fileKeyring, packStore, sealStore } = await import("../../security/index.ts");
  const level = typeof compression === "number" ? { level: compression } : {};
  if (!encryption) return packStore(await open(), level);
  const keyringOf = (): Keyring => {
    if (encryption === true) return envKeyring();
    return "keyring" in encryption ? encryption.keyring : fileKeyring(resolve(root, encryption.key_file));
  };
  const keyring = keyringOf();
  const isSaid = origins["compression"] !== "default";
  const store = await open();
  try {
    return await sealStore(store, {
      keyring,
      ...(isSaid ? { compression: compression === false ? false : level } : {}),
      ...(encryption !== true && encryption.accept_plain ? { acceptPlain: true } : {}),
    });
  } catch (error) {
    await store.close();
    throw error;
  }
}
