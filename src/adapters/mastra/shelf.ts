import type { StorageThreadType } from "@mastra/core/memory";
import {
  InMemoryDB,
  InMemoryMemory,
  type ObservationalMemoryRecord,
  type StorageMessageType,
  type StorageResourceType,
} from "@mastra/core/storage";
import { keyOf } from "../json-keys.ts";
import { restored, storable } from "./storable.ts";

/** Whose data a shelf holds: that of a thread, or of a resource (a user, as a rule). */
export type Owner = `thread:${string}` | `resource:${string}`;

/** The part of Mastra's memory that is kept in one run. */
export interface Shelf {
  readonly threads: Readonly<Record<string, unknown>>;
  readonly messages: Readonly<Record<string, unknown>>;
  readonly resources: Readonly<Record<string, unknown>>;
  readonly observations: readonly unknown[];
  /** Of a thread: the resources that know it. Of a resource: the threads that may be its own. */
  readonly links: Readonly<Record<string, true>>;
}

export const EMPTY: Shelf = { threads: {}, messages: {}, resources: {}, observations: [], links: {} };

/**
 * Some shelves as Mastra's own memory in a process: its rules of paging, filters, order and observations are Mastra's,
 * not written here again.
 */
export class Scratch {
  readonly #db = new InMemoryDB();
  readonly memory = new InMemoryMemory({ db: this.#db });

  constructor(shelves: readonly (Shelf | undefined)[]) {
    for (const shelf of shelves) if (shelf) this.#put(shelf);
  }

  #put({ threads, messages, resources, observations }: Shelf): void {
    for (const thread of Object.values(threads)) {
      const row = restored<StorageThreadType>(thread);
      this.#db.threads.set(row.id, row);
    }
    for (const message of Object.values(messages)) {
      const row = { ...(message as StorageMessageType) };
      this.#db.messages.set(row.id, row);
    }
    for (const resource of Object.values(resources)) {
      const row = restored<StorageResourceType>(resource);
      this.#db.resources.set(row.id, row);
    }
    const records = restored<ObservationalMemoryRecord[]>(observations);
    const [first] = records;
    if (first) this.#db.observationalMemory.set(ownerOf(first.threadId, first.resourceId), records);
  }

  /** Puts a message where one of its id was. */
  put(message: StorageMessageType): void {
    this.#db.messages.set(message.id, message);
    const thread = this.#db.threads.get(message.thread_id);
    if (thread) thread.updatedAt = new Date();
  }

  /** What there is now of this owner. */
  shelfOf(owner: Owner, links: Shelf["links"]): Shelf {
    const id = owner.slice(owner.indexOf(":") + 1);
    const isThread = owner.startsWith("thread:");
    const { threads, messages, resources, observationalMemory } = this.#db;
    const own = [...messages.values()].filter(({ thread_id }) => isThread && thread_id === id);
    const [thread, resource] = [isThread && threads.get(id), !isThread && resources.get(id)];
    return {
      threads: thread ? { [keyOf(id)]: storable(thread, "as dates") } : {},
      messages: Object.fromEntries(own.map((message) => [keyOf(message.id), message])),
      resources: resource ? { [keyOf(id)]: storable(resource, "as dates") } : {},
      observations: (observationalMemory.get(owner) ?? []).map((record) => storable(record, "as dates")),
      links,
    };
  }
}

/** The owner of observations, which is also how Mastra calls them. */
export const ownerOf = (threadId: string | null | undefined, resourceId: string): Owner =>
  threadId ? `thread:${threadId}` : `resource:${resourceId}`;
