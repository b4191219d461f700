import { type ErrorCode, HoldfastError } from "../core/errors.ts";

/** Somebody else was faster, or it is too early: looked at again on the next round. */
const EXPECTED: readonly ErrorCode[] = ["HF-1007", "HF-1011", "HF-1012", "HF-1013", "HF-1014", "HF-2150"];

/** Waits for an act, whose being too late or too early is no surprise. */
export async function expected(act: Promise<unknown>, more: readonly ErrorCode[] = []): Promise<void> {
  try {
    await act;
  } catch (error) {
    if (![...EXPECTED, ...more].some((code) => HoldfastError.is(error, code))) throw error;
  }
}
