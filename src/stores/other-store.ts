import { HoldfastError } from "../core/errors.ts";

/** Thrown when the name leads to another incarnation, file or table than the one that was opened. */
export const otherStore = (place: string): HoldfastError => new HoldfastError("HF-3051", { place });
