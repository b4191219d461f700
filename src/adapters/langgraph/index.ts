export { HoldfastStore, type HoldfastStoreOptions } from "./memory.ts";
export { HoldfastSaver, type HoldfastSaverOptions } from "./saver.ts";
