import { type ErrorCode, HoldfastError } from "../core/errors.ts";

/** Another actor was faster, or it is too early: the next round checks again. */
const EXPECTED: readonly ErrorCode[] = ["HF-1007", "HF-1011", "HF-1012", "HF-1013", "HF-1014", "HF-2150"];

/** Waits for an act and ignores failures for being too late or too early. */
export async function expected(act: Promise<unknown>, more: readonly ErrorCode[] = []): Promise<void> {
  try {
    await act;
  } catch (error) {
    if (![...EXPECTED, ...more].some((code) => HoldfastError.is(error, code))) throw error;
  }
}
