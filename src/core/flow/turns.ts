import type { FairBy, QueueOptions } from "../queue-options.ts";
import type { QueuePart } from "../store/contract.ts";
import type { RunRow } from "../types.ts";

/** More groups than this in one round, and a new round begins. */
const MOST_GROUPS = 1_000;

/**
 * Whose turn it is in queues that are shared fairly. In each round every group gets one place, so a group with many runs
 * can't keep out one that has few. Each process has rounds of its own: nothing is lost with them.
 */
export class Turns {
  readonly #had = new Map<string, QueuePart>();

  /** The groups that have had their turn in this round. */
  get parts(): readonly QueuePart[] {
    return [...this.#had.values()];
  }

  hasHad(group: QueuePart): boolean {
    return this.#had.has(JSON.stringify(group));
  }

  had(group: QueuePart): void {
    if (this.#had.size >= MOST_GROUPS) this.#had.clear();
    this.#had.set(JSON.stringify(group), group);
  }

  /** Begins a new round in the queues that have places; returns whether anybody had a turn in the one before. */
  next(isFull: (queue: string) => boolean): boolean {
    const over = [...this.#had].filter(([, { queue }]) => !isFull(queue));
    for (const [name] of over) this.#had.delete(name);
    return over.length > 0;
  }
}

/** The group of a run in its queue. */
export function groupOf({ queue, key, labels }: RunRow, { fairBy }: QueueOptions): QueuePart | undefined {
  if (queue === null || fairBy === undefined) return undefined;
  if (fairBy === "key") return { queue, key: key ?? "" };
  const label = labelOf(fairBy);
  return { queue, label: [label, (Object.hasOwn(labels, label) ? labels[label] : undefined) ?? ""] };
}

export const isFairLabel = (fairBy: unknown): fairBy is Exclude<FairBy, "key"> =>
  typeof fairBy === "string" && fairBy.startsWith("labels.");

/** The label that a queue is shared by. */
export const labelOf = (fairBy: Exclude<FairBy, "key">): string => fairBy.slice("labels.".length);
