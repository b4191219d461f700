import { firstSegment } from "../../core/keys.ts";
import type { OutsideThread } from "../../core/manage/outside/outside-thread.ts";
import type { ThreadMoment } from "../../core/manage/outside/thread-history.ts";
import { isEqual } from "./diff.ts";
import { namespaceOf } from "./names.ts";
import type { TaskWrites, ThreadState } from "./state.ts";
import type { Stored } from "./stored.ts";

/** A checkpoint that was saved, at its position in the journal. */
export interface Saved {
  readonly namespace: string;
  readonly state: ThreadState;
  readonly seq: number;
}

/** The older checkpoints of a thread, read from its journal whenever one is asked for. */
export class Past {
  readonly #run: OutsideThread;

  constructor(run: OutsideThread) {
    this.#run = run;
  }

  /** Every checkpoint, oldest first. One whose state was edited comes again. */
  async *saved(): AsyncGenerator<Saved> {
    for await (const moment of this.#run.history()) {
      const found = savedAt(moment);
      if (found) yield found;
    }
  }

  async find(namespace: string, id: string): Promise<ThreadState | undefined> {
    let found: ThreadState | undefined;
    for await (const one of this.saved())
      if (one.namespace === namespace && one.state.id === id) found = one.state;
    return found;
  }

  /** The different values that a channel has had with this version. */
  async versions(namespace: string, key: string, version: number | string): Promise<readonly Stored[]> {
    const found: Stored[] = [];
    for await (const { state, namespace: where } of this.saved()) {
      const value = state.values[key];
      if (where !== namespace || state.versions[key] !== version || !value) continue;
      if (!found.some((one) => isEqual(one, value))) found.push(value);
    }
    return found;
  }

  /** What tasks have written on top of a checkpoint, whenever that was. */
  async writes(namespace: string, id: string): Promise<readonly TaskWrites[]> {
    const found: TaskWrites[] = [];
    for await (const moment of this.#run.history()) {
      const writes = writesAt(moment);
      if (writes?.namespace === namespace && writes.writes.checkpoint === id) found.push(writes.writes);
    }
    return found;
  }
}

export function savedAt(moment: ThreadMoment): Saved | undefined {
  if (!("loop" in moment)) return undefined;
  const namespace = namespaceOf(moment.loop);
  return namespace === undefined
    ? undefined
    : { namespace, state: moment.state as ThreadState, seq: moment.seq };
}

export function writesAt(
  moment: ThreadMoment,
): { readonly namespace: string; readonly writes: TaskWrites } | undefined {
  if (!("step" in moment)) return undefined;
  const loop = firstSegment(moment.step).replace(/\[\d+\]$/, "");
  const namespace = namespaceOf(loop);
  return namespace === undefined ? undefined : { namespace, writes: moment.value as TaskWrites };
}
