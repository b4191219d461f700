import { headEvents } from "../../core/journal/read.ts";
import type { Logger } from "../../core/logger.ts";
import { lineOf } from "../../core/manage/reports/event-page.ts";
import type { Change, Changes } from "../../core/store/changes.ts";
import type { Store } from "../../core/store/contract.ts";
import { DELETED_RUNS } from "../../core/store/deleted.ts";
import { type Told, toldOf } from "./told.ts";

export interface Read {
  /** `null`: what was before can't be found any more. */
  readonly told: readonly Told[] | null;
  /** Where to go on. */
  readonly position: string;
  readonly hasMore: boolean;
}

/** Where a hub's news come from. One reading at a time. */
export interface Feed {
  /** It rests this many times as long as a reading took, so that a slow store isn't asked all the time. */
  readonly restFactor: number;
  /** Where it is now. What happened before is no news. */
  start(): Promise<string>;
  /** What happened since the last reading, which ended at this position. */
  next(position: string): Promise<Read>;
  /** What happened after an event that somebody was told, or after a position, up to another. */
  missed(lastId: string, upTo: string): Promise<Read>;
  /** This process has written to a run. */
  hint?(runId: string): void;
}

type Asked = Required<Pick<Store, "changes">>;

const PAGE = 500;

/** Reads what was written from the store. An event's id is its place there, so every server can go on from it. */
export class ChangeFeed implements Feed {
  readonly restFactor = 2;
  readonly #store: Asked;
  readonly #logger: Logger;

  constructor(store: Asked, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
  }

  async start(): Promise<string> {
    return (await this.#store.changes({ after: null, limit: 1 })).position;
  }

  async next(position: string): Promise<Read> {
    return this.#read(await this.#store.changes({ after: position, limit: PAGE }));
  }

  async missed(lastId: string, upTo: string): Promise<Read> {
    const [after = "", part] = lastId.split("+");
    const isAgain = part !== undefined;
    const found = await this.#store.changes({ after, isAgain, upTo, limit: PAGE });
    const read = this.#read(found);
    // Of an entry with several events, the first ones were told. If its run was deleted since, it isn't there again.
    const isThere = isAgain && found.changes?.[0]?.position === after;
    return isThere && read.told ? { ...read, told: read.told.slice(Number(part)) } : read;
  }

  #read({ changes, position, hasMore }: Changes): Read {
    return { told: changes?.flatMap((change) => this.#toldOf(change)) ?? null, position, hasMore };
  }

  #toldOf({ run, entry, position }: Change): Told[] {
    // What a fork has copied happened in its source.
    const isCopy = run.origin !== null && entry.seq <= run.origin.seq;
    if (isCopy || run.id === DELETED_RUNS) return [];
    try {
      const events = headEvents(run.id, { ...entry, data: null });
      return events.map((event, index) => {
        const id = index === events.length - 1 ? position : `${position}+${index + 1}`;
        return toldOf(id, run, lineOf(run.id, event));
      });
    } catch (error) {
      this.#logger.warn("an entry can't be read", { runId: run.id, seq: entry.seq, error: String(error) });
      return [];
    }
  }
}
