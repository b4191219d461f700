export { HoldfastSaver, type HoldfastSaverOptions } from "./saver.ts";
