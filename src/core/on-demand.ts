import { once } from "./once.ts";

const loading = new Set<Promise<unknown>>();

/** A part of the code that is loaded when it is first used: reading code takes most of the time of an import. */
export const onDemand = <T>(load: () => Promise<T>): (() => Promise<T>) =>
  once(async () => {
    const part = load();
    loading.add(part);
    try {
      return await part;
    } finally {
      loading.delete(part);
    }
  });

/** Waits for the parts that are being loaded; false if there are none. */
export async function partsLoaded(): Promise<boolean> {
  if (loading.size === 0) return false;
  await Promise.allSettled(loading);
  return true;
}
