import { checkKeys, checkText, keysOf } from "../../check-options.ts";
import type { Raw } from "../../journal/events.ts";
import type { Recorded } from "../../journal/facts.ts";
import type { RunState } from "../../journal/state.ts";
import { lastMemory, recordedSteps, viewLoops } from "../../journal/state-view.ts";
import { cut, type Preview, type Values } from "../../journal/values.ts";
import type { Run } from "../../types.ts";
import { encode } from "../../values/codec.ts";

/** The state at a checkpoint, each value cut to its beginning. */
export interface StatePreview {
  readonly input: Preview;
  readonly config: Previews;
  readonly memory: Previews;
  readonly loops: Previews;
  readonly steps: Previews;
  /** The run's result, once it has completed. */
  readonly result: Preview | null;
  /** True when there are more values, or longer ones, than fit into one answer. Ask with a `prefix`. */
  readonly isCut: boolean;
}

export type Previews = Readonly<Record<string, Preview>>;

export interface PreviewOptions {
  /** Only values of the memory, of loops and of steps whose name begins with this. */
  readonly prefix?: string;
}

/** The most characters of one value, and of all values together. */
const MOST_VALUE = 65_536;
const MOST_ALL = 524_288;
/** The most values of one answer. */
const MOST_VALUES = 1_000;

export async function previewState(
  values: Values,
  { id: runId, status }: Pick<Run, "id" | "status">,
  state: RunState,
  options: PreviewOptions,
): Promise<StatePreview> {
  checkKeys(options, keysOf<PreviewOptions>({ prefix: true }));
  const { prefix = "" } = options;
  checkText("prefix", prefix);
  const room = new Room(values, runId);
  const among = <T>(pairs: Iterable<readonly [string, T]>): (readonly [string, T])[] =>
    [...pairs].filter(([name]) => name.startsWith(prefix));
  const { config } = state.facts;
  const given = config ? ((await values.of(runId, config)) as Readonly<Record<string, unknown>>) : {};
  const written = async (value: unknown): Promise<Preview> => room.shown(encode(value));
  const input = (await room.stored(state.input)) ?? room.shown(encode(undefined));
  const { outcome } = state;
  const result = outcome && status === "completed" ? await room.recorded(outcome) : null;
  const memory = await room.all(among(lastMemory(state)), (raw) => room.stored(raw));
  const loops = await room.all(among(Object.entries(await viewLoops(values, runId, state))), written);
  const steps = await room.all(among(recordedSteps(state)).reverse(), (one) => room.recorded(one));
  const shown = await room.all(among(Object.entries(given)), written);
  return { input, config: shown, memory, loops, steps, result, isCut: room.isFull };
}

/** The room of one answer: each value gets its beginning, until nothing is left. */
class Room {
  isFull = false;
  readonly #values: Values;
  readonly #runId: string;
  #left = MOST_ALL;
  #count = 0;

  constructor(values: Values, runId: string) {
    this.#values = values;
    this.#runId = runId;
  }

  get #most(): number {
    return Math.min(MOST_VALUE, this.#left);
  }

  async stored(raw: Raw | undefined): Promise<Preview | null> {
    const preview = await this.#values.preview(this.#runId, raw, this.#most);
    return preview && this.#taken(preview);
  }

  async recorded({ data, seq }: Recorded): Promise<Preview | null> {
    return this.stored(data ?? (await this.#values.rawAt(this.#runId, seq)));
  }

  shown(text: string): Preview {
    return this.#taken(cut(text, this.#most));
  }

  /** The newest first, so that what is left out is the oldest. */
  async all<T>(
    pairs: readonly (readonly [string, T])[],
    preview: (one: T) => Promise<Preview | null>,
  ): Promise<Previews> {
    const found: [string, Preview][] = [];
    for (const [name, one] of pairs) {
      if (this.#left <= 0 || this.#count >= MOST_VALUES) {
        this.isFull = true;
        break;
      }
      const value = await preview(one);
      if (value) found.push([name, value]);
    }
    return Object.fromEntries(found);
  }

  #taken(preview: Preview): Preview {
    this.#count++;
    this.#left -= preview.text.length;
    if (!preview.isWhole && preview.text.length < MOST_VALUE - 1) this.isFull = true;
    return preview;
  }
}
