import { firstSegment } from "../../core/keys.ts";
import type { OutsideThread } from "../../core/manage/outside/outside-thread.ts";
import type { ThreadMoment } from "../../core/manage/outside/thread-history.ts";
import { isEqual } from "../diff.ts";
import { type KeptState, stateIn } from "./kept-state.ts";
import { namespaceOf } from "./names.ts";
import { type KeptWrites, withValues } from "./same-writes.ts";
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
      if (one.namespace === namespace && one.state.checkpoint.id === id) found = one.state;
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
    const written = new Written();
    for await (const moment of this.#run.history()) written.take(moment);
    return written.of(namespace, id);
  }
}

export function savedAt(moment: ThreadMoment): Saved | undefined {
  if (!("loop" in moment)) return undefined;
  const namespace = namespaceOf(moment.loop);
  return namespace === undefined
    ? undefined
    : { namespace, state: stateIn(moment.state as KeptState | ThreadState), seq: moment.seq };
}

/** Collects what tasks have written, by checkpoint. */
export class Written {
  readonly #found = new Map<string, KeptWrites[]>();
  readonly #heads = new Map<string, string>();
  /** By namespace: writes since its last checkpoint, which may say only where in the next state their values are. */
  readonly #open = new Map<string, { readonly list: KeptWrites[]; readonly index: number }[]>();

  of(namespace: string, id: string): readonly TaskWrites[] {
    const found = this.#found.get(placeOf(namespace, id)) ?? [];
    return found.map((writes) => withValues(writes, undefined));
  }

  take(moment: ThreadMoment): void {
    const saved = savedAt(moment);
    if (saved) return this.#saved(saved);
    const namespace = "step" in moment ? namespaceOf(loopAround(moment.step)) : undefined;
    if (namespace === undefined || !("step" in moment)) return;
    const writes = moment.value as KeptWrites;
    // Writes that don't name their checkpoint belong to the newest one.
    const place = placeOf(namespace, writes.checkpoint ?? this.#heads.get(namespace) ?? "");
    const list = this.#found.get(place) ?? [];
    this.#found.set(place, list);
    const open = this.#open.get(namespace) ?? [];
    this.#open.set(namespace, [...open, { list, index: list.push(writes) - 1 }]);
  }

  #saved({ namespace, state }: Saved): void {
    this.#heads.set(namespace, state.checkpoint.id);
    for (const { list, index } of this.#open.get(namespace) ?? []) {
      const writes = list[index];
      if (writes) list[index] = withValues(writes, state);
    }
    this.#open.delete(namespace);
  }
}

/** The loop whose iteration a step is in. */
const loopAround = (step: string): string => firstSegment(step).replace(/\[\d+\]$/, "");

const placeOf = (namespace: string, id: string): string => `${namespace}\n${id}`;
