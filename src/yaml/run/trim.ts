import { isPlain } from "../template/value.ts";
import type { FlowState } from "./state.ts";

const CHARS_PER_TOKEN = 4;
const SHORTEST = 100;
const MARK = "… [shortened]";

const tokens = (state: FlowState): number => Math.floor(JSON.stringify(state.all()).length / CHARS_PER_TOKEN);

/** Keeps the context within roughly `most` tokens: the oldest outputs are dropped first, or lose their long texts. */
export function trim(state: FlowState, most: number, strategy: "truncate" | "drop_oldest"): void {
  for (const name of new Set(state.history)) {
    const over = tokens(state) - most;
    if (over <= 0) return;
    if (strategy === "drop_oldest") state.outputs.delete(name);
    else state.outputs.set(name, shortened(state.outputs.get(name), over * CHARS_PER_TOKEN));
  }
}

function shortened(output: unknown, chars: number): unknown {
  if (!isPlain(output)) return output;
  let left = chars;
  return Object.fromEntries(
    Object.entries(output).map(([key, value]) => {
      if (typeof value !== "string" || value.length <= SHORTEST + MARK.length || left <= 0)
        return [key, value];
      const short = value.slice(0, Math.max(SHORTEST, value.length - left - MARK.length)) + MARK;
      left -= value.length - short.length;
      return [key, short];
    }),
  );
}
