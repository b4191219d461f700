import type { StorageThreadType } from "@mastra/core/memory";
import type { ObservationalMemoryRecord, StorageMessageType } from "@mastra/core/storage";
import type { Engine } from "../../core/engine/engine.ts";
import { isRunId } from "../../core/ids.ts";
import { keyOf, nameOf } from "../json-keys.ts";
import type { OutsideState } from "../outside-state.ts";
import { KeptRuns, refused, runIdOf } from "./kept-runs.ts";
import { EMPTY, type Owner, Scratch, type Shelf } from "./shelf.ts";
import { Whereabouts } from "./whereabouts.ts";

const ATTEMPTS = 100;
/** A run of a thread has the thread's id where that can be a run's; nothing else may be called like the others. */
const DERIVED = /^(?:thread|resource)-[\w-]{43}$/;

interface Part {
  readonly owner: Owner;
  readonly state: OutsideState<Shelf>;
  readonly before: Shelf | undefined;
}

/** The memory of Mastra's agents: a run for each thread, and one for each resource. */
export class Shelves {
  readonly messages: Whereabouts;
  readonly observations: Whereabouts;
  readonly #threads: KeptRuns<Shelf>;
  readonly #resources: KeptRuns<Shelf>;

  constructor(engine: Engine) {
    this.messages = new Whereabouts(engine, "mastra-message");
    this.observations = new Whereabouts(engine, "mastra-observation");
    this.#threads = new KeptRuns(engine, "mastra-thread");
    this.#resources = new KeptRuns(engine, "mastra-resource");
  }

  /** Asks what the memory of these owners answers. */
  async read<T>(owners: readonly Owner[], ask: (memory: Scratch["memory"]) => Promise<T>): Promise<T> {
    const parts = await this.#load(owners);
    return ask(new Scratch(parts.map(({ before }) => before)).memory);
  }

  /**
   * Changes the memory of these owners. Each owner's part is one append, durable when this resolves; where another
   * program was first, the change is made anew on what that has written.
   */
  async write<T>(owners: readonly Owner[], change: (scratch: Scratch) => Promise<T>): Promise<T> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const parts = await this.#load(owners);
      const scratch = new Scratch(parts.map(({ before }) => before));
      const result = await change(scratch);
      const changed = parts.map((part) => {
        const { owner, before = EMPTY } = part;
        const next = scratch.shelfOf(owner, before.links);
        const gained = Object.keys(next.messages).length - Object.keys(before.messages).length;
        return { ...part, next, gained };
      });
      // A message that moves is added before it is removed, so that a crash in between loses nothing.
      changed.sort((a, b) => b.gained - a.gained);
      let isDone = true;
      for (const part of changed) isDone &&= await this.#save(part, part.next);
      if (isDone) return result;
    }
    throw refused("A memory", "other programs write it all the time");
  }

  async #save({ owner, state, before }: Part, next: Shelf): Promise<boolean> {
    const links = { ...next.links };
    for (const resource of resourcesIn(next))
      if (!Object.hasOwn(links, keyOf(resource))) {
        await this.#link(resource, owner.slice("thread:".length));
        links[keyOf(resource)] = true;
      }
    if (!before && isEmpty(next)) return true;
    const [was, is] = [before ?? EMPTY, next];
    const missing = (from: Shelf, to: Shelf): string[] =>
      Object.keys(from.messages).flatMap((key) => (Object.hasOwn(to.messages, key) ? [] : [nameOf(key)]));
    await this.messages.put(missing(is, was), owner);
    await this.observations.put(without(recordsIn(is), recordsIn(was)), owner);
    if (!(await state.replace(before, { ...next, links }))) return false;
    await this.messages.forget(missing(was, is), owner);
    await this.observations.forget(without(recordsIn(was), recordsIn(is)), owner);
    return true;
  }

  /** Makes a thread known to a resource, before the thread says that it belongs to it. */
  async #link(resource: string, thread: string): Promise<void> {
    const state = this.#at(`resource:${resource}`);
    await state.change((draft) => {
      (draft.links as Record<string, true>)[keyOf(thread)] = true;
    });
  }

  /** The threads that may belong to a resource. */
  async threadsOf(resource: string): Promise<readonly Owner[]> {
    const { links = {} } = (await this.#at(`resource:${resource}`).read()) ?? {};
    return Object.keys(links).map((key): Owner => `thread:${nameOf(key)}`);
  }

  async everyThread(): Promise<readonly Owner[]> {
    const owners: Owner[] = [];
    for await (const { id } of this.#threads.rows()) {
      const threads = (await this.#threads.at(id, { initial: EMPTY }).read())?.threads ?? {};
      owners.push(...Object.keys(threads).map((key): Owner => `thread:${nameOf(key)}`));
    }
    return owners;
  }

  /** Deletes a thread with all that belongs to it. */
  async deleteThread(thread: string): Promise<void> {
    const owner: Owner = `thread:${thread}`;
    const shelf = (await this.#at(owner).read()) ?? EMPTY;
    await this.messages.forget(Object.keys(shelf.messages).map(nameOf), owner);
    await this.observations.forget(recordsIn(shelf), owner);
    await this.#threads.delete(runOf(owner));
    for (const key of Object.keys(shelf.links))
      await this.#at(`resource:${nameOf(key)}`).change((draft) => {
        delete (draft.links as Record<string, true>)[keyOf(thread)];
      });
  }

  async clear(): Promise<void> {
    for (const kept of [this.#threads, this.#resources])
      for await (const { id } of kept.rows()) await kept.delete(id);
    await this.messages.clear();
    await this.observations.clear();
  }

  #load(owners: readonly Owner[]): Promise<Part[]> {
    const all = [...new Set(owners)].map(async (owner) => {
      const state = this.#at(owner);
      return { owner, state, before: await state.read() };
    });
    return Promise.all(all);
  }

  #at(owner: Owner): OutsideState<Shelf> {
    const isThread = owner.startsWith("thread:");
    const id = owner.slice(owner.indexOf(":") + 1);
    const waits = { kind: "signal", step: "message", names: ["message"] } as const;
    return (isThread ? this.#threads : this.#resources).at(runOf(owner), {
      initial: EMPTY,
      input: isThread ? { thread: id } : { resource: id },
      stand: () => ({ waits }),
    });
  }
}

function runOf(owner: Owner): string {
  const [kind, id] = [owner.slice(0, owner.indexOf(":")), owner.slice(owner.indexOf(":") + 1)];
  return kind === "thread" && isRunId(id) && !DERIVED.test(id) ? id : runIdOf(kind, id);
}

function resourcesIn({ threads, messages }: Shelf): ReadonlySet<string> {
  const rows = [...Object.values(threads), ...Object.values(messages)] as Partial<
    StorageThreadType | StorageMessageType
  >[];
  return new Set(rows.flatMap(({ resourceId }) => (resourceId ? [resourceId] : [])));
}

const recordsIn = ({ observations }: Shelf): readonly string[] =>
  (observations as readonly ObservationalMemoryRecord[]).map(({ id }) => id);

const without = (ids: readonly string[], others: readonly string[]): string[] => {
  const known = new Set(others);
  return ids.filter((id) => !known.has(id));
};

const isEmpty = ({ threads, messages, resources, observations }: Shelf): boolean =>
  observations.length === 0 && [threads, messages, resources].every((rows) => Object.keys(rows).length === 0);
