import { HoldfastError } from "../core/errors.ts";

/** Another incarnation, or another file or table under the same name: whoever had opened the one before must not go on. */
export const otherStore = (place: string): HoldfastError => new HoldfastError("HF-3051", { place });
