import type { WorkflowCheckpointRow } from "../core/records.ts";
import { dataDigest, encode } from "../core/values/codec.ts";
import type { FullConfig } from "./config.ts";
import type { Course } from "./course.ts";
import { addTo, emptyState, type Held, type Writable } from "./state.ts";
import type { StateUpdate } from "./types.ts";

/** Above this a checkpoint is announced as large. */
export const LARGE_BYTES = 500_000;
/** A longer value is not repeated in rows: the journal has it once, compressed. */
const MOST_BYTES = 8_192;
const FIRST_CREDIT = 1_048_576;
const LAYER_CREDIT = 2_048;

/**
 * Writes the rows of a workflow's checkpoints. A row has the whole state, as long as that is in proportion to what the
 * workflow does: each layer earns four times what it adds, and a whole row costs its size. A workflow of many layers
 * and a large state can't afford one after each layer: the rows in between have what is new, and say since which
 * checkpoint. So all rows together stay in proportion to the journal, which has the whole state of every checkpoint.
 */
export class Rows {
  readonly #runId: string;
  readonly #config: FullConfig;
  /** The state with references in place of long values. */
  readonly #state: Writable = emptyState();
  #credit = FIRST_CREDIT;
  #stateBytes = 0;
  #dagBytes = -1;
  #last: string | null = null;

  constructor(runId: string, config: FullConfig) {
    this.#runId = runId;
    this.#config = config;
  }

  /** The row for what the course has come to. Called once for each checkpoint, in order. */
  next(
    course: Course,
    layer: number,
    isLast: boolean,
  ): { readonly row: WorkflowCheckpointRow; readonly bytes: number } {
    const id = course.state.checkpoint_id ?? "";
    const isFirst = this.#last === null;
    const { shown, bytes: added } = shorten(isFirst ? course.state : course.since);
    addTo(this.#state, shown);
    course.saved();
    this.#stateBytes += added;
    if (this.#dagBytes < 0) this.#dagBytes = encode(course.plan.structure()).length;
    const bytes = this.#stateBytes + this.#dagBytes;
    this.#credit += LAYER_CREDIT + 4 * added;
    const isWhole = isFirst || isLast || bytes <= this.#credit;
    if (isWhole) this.#credit = Math.max(0, this.#credit - bytes);
    const since = this.#last;
    this.#last = id;
    const row = {
      id,
      workflow_id: this.#runId,
      layer_index: layer,
      state: isWhole ? { ...copyOf(this.#state), checkpoint_id: id } : { ...shown, checkpoint_id: id, since },
      dag_structure: isWhole ? course.plan.structure() : { since },
      execution_config: this.#config,
    };
    return { row, bytes };
  }

  /** The DAG has changed, so its size is measured again. */
  replanned(): void {
    this.#dagBytes = -1;
  }
}

/** The row with the whole of a state. */
export function wholeRow(runId: string, held: Held): WorkflowCheckpointRow {
  return {
    id: held.checkpoint_id ?? "",
    workflow_id: runId,
    layer_index: held.layers,
    state: { ...shorten(held).shown, checkpoint_id: held.checkpoint_id },
    dag_structure: held.dag,
    execution_config: held.config,
  };
}

function copyOf(state: Writable): Required<StateUpdate> {
  const copy: Writable = emptyState();
  addTo(copy, state);
  const { checkpoint_id: _, ...rest } = copy;
  return rest;
}

interface Short {
  readonly shown: unknown;
  readonly bytes: number;
}

/** The same with a reference in place of each long value, and its size with those values. */
function shorten({ messages, tasks, decisions, context }: Writable): {
  readonly shown: Required<StateUpdate>;
  readonly bytes: number;
} {
  let bytes = 0;
  const short = (value: unknown): unknown => {
    const { shown, bytes: size } = shortValue(value);
    bytes += size;
    return shown;
  };
  const shown = {
    messages: messages.map(short),
    tasks: tasks.map((task) => ({ ...task, result: short(task.result) })),
    decisions: [...decisions],
    context: Object.fromEntries(Object.entries(context).map(([key, value]) => [key, short(value)])),
  };
  // The keys of a task, its id and its times.
  bytes += 80 * tasks.length + encode(decisions).length;
  return { shown, bytes };
}

/** Text that JSON repeats as it is. */
const PRINTABLE = /^[ !#-[\]-~]*$/;

function shortValue(value: unknown): Short {
  if (typeof value === "string" && value.length < 1_024 && PRINTABLE.test(value))
    return { shown: value, bytes: value.length + 2 };
  const text = encode(value);
  if (text.length <= MOST_BYTES) return { shown: value, bytes: text.length };
  const shown = { $ref: dataDigest(value), bytes: text.length };
  return { shown, bytes: text.length };
}
