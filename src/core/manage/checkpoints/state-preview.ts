import { cut, type Preview } from "../../journal/values.ts";
import { encode } from "../../values/codec.ts";
import type { Checkpoint } from "./checkpoint-view.ts";

/** The state at a checkpoint, each value cut to its beginning. */
export interface StatePreview {
  readonly id: string;
  readonly run: string;
  readonly seq: number;
  readonly input: Preview;
  readonly config: Previews;
  readonly memory: Previews;
  readonly loops: Previews;
  readonly steps: Previews;
  readonly result: Preview | null;
  /** True when values are cut because all of them together are too long. Ask for one by its name. */
  readonly isCut: boolean;
}

export type Previews = Readonly<Record<string, Preview>>;

export interface PreviewOptions {
  /** Only values whose name begins with this. */
  readonly prefix?: string;
}

/** The most characters of one value, and of all values together. */
const MOST_VALUE = 65_536;
const MOST_ALL = 524_288;

export function previewState(shown: Checkpoint, { prefix = "" }: PreviewOptions = {}): StatePreview {
  let left = MOST_ALL;
  let isCut = false;
  const preview = (value: unknown): Preview => {
    const found = cut(encode(value), Math.min(MOST_VALUE, left));
    left -= found.text.length;
    if (!found.isWhole && found.length <= MOST_VALUE) isCut = true;
    return found;
  };
  const previews = (values: Readonly<Record<string, unknown>>): Previews =>
    Object.fromEntries(
      Object.entries(values)
        .filter(([name]) => name.startsWith(prefix))
        .map(([name, value]) => [name, preview(value)]),
    );
  const { id, run, seq, input, config, memory, loops, steps, result } = shown;
  const parts = {
    input: preview(input),
    result: result === undefined ? null : preview(result),
    config: previews(config),
    memory: previews(memory),
    loops: previews(loops),
    steps: previews(steps),
  };
  return { id, run, seq, ...parts, isCut };
}
