import { badOption } from "../../core/check-options.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import type { StoredRecord } from "../../core/records.ts";
import { refuseLimits } from "../../core/store/claim.ts";
import type {
  Append,
  AppendResult,
  DueQuery,
  Entry,
  Renewal,
  RunPage,
  RunQuery,
  Store,
  StoreCapabilities,
  StoreIdentity,
} from "../../core/store/contract.ts";
import type { Documents } from "../../core/store/documents.ts";
import { checkLimit } from "../../core/store/query.ts";
import type { RunRow } from "../../core/types.ts";
import { FastRecords } from "../fast-records.ts";
import { appendBatch, renewBatch, type Writing } from "./append.ts";
import { type Commands, text, texts } from "./commands.ts";
import { reachesAll } from "./conditions.ts";
import { documentsIn } from "./documents.ts";
import { storeError } from "./errors.ts";
import { allBuckets, bucket, bucketOf, metaKey } from "./keys.ts";
import { dueRuns, listRuns, readRow } from "./listing.ts";
import { Lists } from "./lists.ts";
import { type Prepared, prepare, renameStore } from "./prepare.ts";
import { readRecords } from "./records.ts";
import { toEntries } from "./rows.ts";
import { ENTRIES } from "./scripts.ts";
import { checkServers } from "./settings.ts";

export interface RedisSetup {
  readonly commands: Commands;
  readonly prefix: string;
  /** The number of buckets of a new store. */
  readonly buckets: number;
  /** True when the caller gave the number, which an existing store must match. */
  readonly bucketsGiven: boolean;
  readonly ttlMs: number | null;
  readonly logger: Pick<Logger, "warn">;
}

const PREFIX = /^[\w.:-]{1,64}$/;
const MOST_BLOBS = 1000;
/** How long the keys live that show an agent's newest checkpoint to other programs. */
const KEY_TTL_MS = 7 * 24 * 3_600_000;

/**
 * Runs in a Redis server or cluster. One script is one append: it checks, writes the run and moves it between lists,
 * atomically and within one slot. Nothing depends on two slots changing together. Lost lists are rebuilt from the rows.
 */
export class RedisStore implements Store {
  readonly name = "redis";
  readonly documents: Documents;
  readonly #setup: RedisSetup;
  readonly #place: string;
  readonly #standings: Writing["standings"] = new Map();
  readonly #lists: Lists;
  readonly #shown: FastRecords;
  #durability: StoreCapabilities["durability"] = "none";
  /** False when buckets are in other slots than each other, so that no script can count runs. */
  #reachesAll = false;
  #prepared: Prepared | undefined;
  #turn = 0;
  #closing: Promise<void> | undefined;

  constructor(setup: RedisSetup) {
    const { prefix } = setup;
    if (!PREFIX.test(prefix))
      throw badOption("prefix", "it must be 1 to 64 letters, digits, '_', '.', ':' or '-'");
    this.#setup = setup;
    this.#place = `Redis store ${prefix}`;
    this.documents = documentsIn({
      prefix,
      call: (work) => this.#call(({ commands }) => work(commands)),
      incarnation: async () => (await this.#writing()).incarnation,
    });
    this.#shown = new FastRecords({ primary: this, cache: keysOn(setup), ttlOf: () => KEY_TTL_MS });
    this.#lists = new Lists((runs) => setup.logger.warn("runs were missing in lists and are back", { runs }));
  }

  get capabilities(): StoreCapabilities {
    const records = ["agent_checkpoints"] as const;
    return { durability: this.#durability, transactions: false, limits: this.#reachesAll, records };
  }

  identity(): Promise<StoreIdentity> {
    return this.#call(async ({ commands, prefix }) => {
      if (this.#prepared) {
        const { identity } = this.#prepared;
        const key = metaKey(prefix);
        // Someone may have enabled eviction in the meantime.
        await checkServers(commands, [key, ...this.#nextMark(this.#prepared)], this.#place);
        if (text(await commands.send(key, ["HGET", key, "incarnation"])) === identity.incarnation)
          return identity;
        const message = "It was emptied, or restored, or another store was made in its place.";
        throw new HoldfastError("HF-3021", { place: this.#place, message });
      }
      this.#prepared = await this.#open();
      return this.#prepared.identity;
    });
  }

  /** In a cluster each bucket may be on another server, so each call checks one of them in turn. */
  #nextMark({ buckets }: Prepared): readonly string[] {
    const { commands, prefix } = this.#setup;
    if (!commands.isCluster) return [];
    this.#turn = (this.#turn + 1) % buckets;
    return [bucket(prefix, this.#turn).mark];
  }

  async markRestored(): Promise<StoreIdentity> {
    const [identity, now, { runs }] = [
      await this.identity(),
      await this.now(),
      await this.list({ limit: 1 }),
    ];
    return this.#call(async ({ commands, prefix }) => {
      await renameStore(commands, prefix, identity, { now, newestRun: runs[0]?.createdAt ?? 0 });
      this.#prepared = await this.#open();
      return this.#prepared.identity;
    });
  }

  now(): Promise<number> {
    return this.#call(async ({ commands, prefix }) => {
      const [seconds, micros] = texts(await commands.send(metaKey(prefix), ["TIME"]));
      return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    });
  }

  append(batch: readonly Append[]): Promise<readonly AppendResult[]> {
    return this.#call(async () => {
      const to = await this.#writing();
      if (!this.#reachesAll) refuseLimits(this.name, batch);
      const gone = await this.#shown.before(batch);
      const results = await appendBatch(to, batch);
      await this.#shown.after(batch, results, gone);
      return results;
    });
  }

  records(runId: string): Promise<readonly StoredRecord[]> {
    return this.#call(async ({ commands }) => {
      const [, , , key] = bucketOf((await this.#writing()).layout, runId).run(runId);
      return readRecords(commands, key);
    });
  }

  renew(batch: readonly Renewal[]): Promise<readonly (RunRow | null)[]> {
    return this.#call(async () => renewBatch(await this.#writing(), batch));
  }

  read(runId: string): Promise<RunRow | null> {
    return this.#call(async () => readRow(await this.#writing(), runId));
  }

  entries(runId: string, { from, limit }: { from: number; limit: number }): Promise<readonly Entry[]> {
    return this.#call(async ({ commands }) => {
      checkLimit(limit);
      const [, log, data] = bucketOf((await this.#writing()).layout, runId).run(runId);
      return toEntries(await commands.run(ENTRIES, [log, data], [from, limit]));
    });
  }

  blobs(runId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#call(async ({ commands }) => {
      const [, , , key] = bucketOf((await this.#writing()).layout, runId).run(runId);
      const found = new Map<string, string>();
      for (let i = 0; i < hashes.length; i += MOST_BLOBS) {
        const some = hashes.slice(i, i + MOST_BLOBS);
        const data = texts(await commands.send(key, ["HMGET", key, ...some]));
        some.forEach((hash, index) => {
          const one = data[index] ?? null;
          if (one !== null) found.set(hash, one);
        });
      }
      return found;
    });
  }

  blobNames(runId: string): Promise<readonly string[]> {
    return this.#call(async ({ commands }) => {
      const [, , , key] = bucketOf((await this.#writing()).layout, runId).run(runId);
      return texts(await commands.send(key, ["HKEYS", key])).map(String);
    });
  }

  list(query: RunQuery): Promise<RunPage> {
    return this.#call(async () => {
      const from = await this.#writing();
      if (query.cursor === undefined) await this.#lists.addUp(from);
      return listRuns(from, query);
    });
  }

  due(query: DueQuery): Promise<readonly RunRow[]> {
    return this.#call(async () => {
      const from = await this.#writing();
      await this.#lists.walk(from);
      return dueRuns(from, query);
    });
  }

  check(): Promise<readonly string[]> {
    return this.#call(async () => {
      const missing = await this.#lists.missing(await this.#writing());
      if (missing === 0) return [];
      const [runs, are] = missing === 1 ? ["run", "is"] : ["runs", "are"];
      return [
        `${missing} ${runs} ${are} missing in the lists that runs are found by; workers put them back.`,
      ];
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#setup.commands.close();
    return this.#closing;
  }

  /** Writes nothing before the settings are known to be good. */
  async #open(): Promise<Prepared> {
    const { commands, prefix, buckets, bucketsGiven, logger } = this.#setup;
    const first = await checkServers(commands, [metaKey(prefix)], this.#place);
    const prepared = await prepare(commands, { prefix, buckets, name: this.#place });
    if (bucketsGiven && buckets !== prepared.buckets)
      throw badOption("buckets", `the store was made with ${prepared.buckets}`);
    const marks = allBuckets({ prefix, buckets: prepared.buckets }).map(({ mark }) => mark);
    // In a cluster each bucket may be on another server.
    const { durability, doubt } = commands.isCluster
      ? await checkServers(commands, marks, this.#place)
      : first;
    if (doubt !== undefined) logger.warn("acknowledged writes may not survive a power loss", { doubt });
    this.#durability = durability;
    this.#reachesAll = await reachesAll(commands, { prefix, buckets: prepared.buckets });
    return prepared;
  }

  async #writing(): Promise<Writing> {
    if (!this.#prepared) await this.identity();
    const { commands, prefix, ttlMs } = this.#setup;
    const { buckets, identity } = this.#prepared as Prepared;
    const { incarnation } = identity;
    return { commands, layout: { prefix, buckets }, incarnation, ttlMs, standings: this.#standings };
  }

  async #call<T>(work: (setup: RedisSetup) => Promise<T>): Promise<T> {
    if (this.#closing) throw new HoldfastError("HF-3012");
    const start = performance.now();
    try {
      return await work(this.#setup);
    } catch (error) {
      throw storeError(error, this.#place, performance.now() - start);
    }
  }
}

/**
 * The keys for other programs. They lie in other slots than their runs, so they follow the append instead of being part of
 * it; one that can't be written never fails the append, which has the checkpoint.
 */
function keysOn({ commands, logger }: RedisSetup): ConstructorParameters<typeof FastRecords>[0]["cache"] {
  const send = async (key: string, args: readonly string[]): Promise<boolean> => {
    try {
      await commands.send(key, args);
      return true;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      logger.warn("a key that shows an agent's checkpoint was not written", { key, message });
      return false;
    }
  };
  return {
    set: (key, value, ttlMs) => send(key, ["SETEX", key, String(Math.ceil(ttlMs / 1000)), value]),
    remove: (key) => send(key, ["DEL", key]),
  };
}
