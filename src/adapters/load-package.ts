import { HoldfastError } from "../core/errors.ts";

/** Loads an optional package, or explains how to install it (HF-4108). */
export async function loadPackage<T>(name: string, user: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw new HoldfastError("HF-4108", { package: name, user }, { cause: error });
  }
}
