import type { Engine } from "../../core/engine/engine.ts";
import { digest } from "../../core/hash.ts";
import type { Documents } from "../../core/store/documents.ts";
import { refused } from "./kept-runs.ts";

const ATTEMPTS = 100;
const PAGE = 500;
const PLAIN = /^[\w:.-]{1,200}$/;

/**
 * Which thread a message is in, and whose observations a record is of: Mastra asks for both by their ids alone. An entry
 * is written before what it leads to, and one that leads nowhere is ignored.
 */
export class Whereabouts {
  readonly #engine: Engine;
  readonly #kind: string;

  constructor(engine: Engine, kind: string) {
    this.#engine = engine;
    this.#kind = kind;
  }

  /** Where these ids were put, each place once. */
  async of(ids: readonly string[]): Promise<readonly string[]> {
    const documents = await this.#documents();
    const found = await Promise.all([...new Set(ids)].map((id) => documents.read(this.#kind, keyFor(id))));
    return [...new Set(found.flatMap((document) => (document ? [String(JSON.parse(document.value))] : [])))];
  }

  async put(ids: readonly string[], place: string): Promise<void> {
    await this.#write(ids, (before) => (before === place ? undefined : place));
  }

  /** Forgets ids that are at this place. */
  async forget(ids: readonly string[], place: string): Promise<void> {
    await this.#write(ids, (before) => (before === place ? null : undefined));
  }

  async clear(): Promise<void> {
    const documents = await this.#documents();
    for (let found; found === undefined || found.length > 0; ) {
      found = await documents.list(this.#kind, { limit: PAGE });
      const gone = found.map(({ key, version }) => ({ kind: this.#kind, key, expect: version, put: null }));
      await documents.write(gone);
    }
  }

  /** `next`: `undefined` leaves an entry as it is, `null` removes it. */
  async #write(
    ids: readonly string[],
    next: (before: string | null) => string | null | undefined,
  ): Promise<void> {
    let open = [...new Set(ids)];
    const documents = await this.#documents();
    for (let attempt = 0; open.length > 0; attempt++) {
      if (attempt === ATTEMPTS) throw refused(this.#kind, "other programs write it all the time");
      const writes = await Promise.all(
        open.map(async (id) => {
          const found = await documents.read(this.#kind, keyFor(id));
          const place = next(found && String(JSON.parse(found.value)));
          if (place === undefined || (place === null && !found)) return [];
          const put = place && { version: globalThis.crypto.randomUUID(), value: JSON.stringify(place) };
          return [
            {
              id,
              write: { kind: this.#kind, key: keyFor(id), expect: found?.version ?? null, put: put || null },
            },
          ];
        }),
      );
      const due = writes.flat();
      const taken = await documents.write(due.map(({ write }) => write));
      open = due.flatMap(({ id }, index) => (taken[index] ? [] : [id]));
    }
  }

  async #documents(): Promise<Documents> {
    const { documents, name } = await this.#engine.outside.store();
    if (!documents) throw refused("A memory", `the ${name} store keeps no documents`);
    return documents;
  }
}

const keyFor = (id: string): string => (PLAIN.test(id) ? id : `~${digest(id)}`);
