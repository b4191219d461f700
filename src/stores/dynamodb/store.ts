import { HoldfastError } from "../../core/errors.ts";
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
  StoreIdentity,
} from "../../core/store/contract.ts";
import { checkLimit } from "../../core/store/query.ts";
import type { RunRow } from "../../core/types.ts";
import { otherStore } from "../other-store.ts";
import { appendBatch } from "./append.ts";
import { documentsIn } from "./documents.ts";
import { storeError } from "./errors.ts";
import { readBlobs, readEntries } from "./journal.ts";
import { META, rowKey, toItem } from "./keys.ts";
import { dueRuns, listRuns } from "./listing.ts";
import { readItem } from "./reading.ts";
import { renewBatch } from "./renew.ts";
import { isErased, toRow } from "./rows.ts";
import type { Service } from "./service.ts";
import { incarnationIn, markRestored, prepare } from "./table.ts";

/** Waits for both, so that a caller who looks up an outcome afterwards finds it settled. */
async function settled<T>(work: Promise<T>, check: Promise<void>): Promise<T> {
  await Promise.allSettled([work, check]);
  await check;
  return work;
}

export interface DynamoSetup {
  readonly service: Service;
  readonly clock: { now(): number; readonly isFresh: boolean };
  readonly create: boolean;
}

/** Runs in one table of DynamoDB. */
export class DynamoStore implements Store {
  readonly name = "dynamodb";
  readonly capabilities = { durability: "power-loss", transactions: false, limits: false } as const;
  readonly documents = documentsIn({
    call: (work) => this.#call(work),
    same: (service) => this.#checkSame(service),
  });
  readonly #setup: DynamoSetup;
  readonly #place: string;
  /** The incarnation that the table had when it was opened. */
  #opened: string | undefined;
  #isClosed = false;

  constructor(setup: DynamoSetup) {
    this.#setup = setup;
    this.#place = `DynamoDB table ${setup.service.table}`;
  }

  identity(): Promise<StoreIdentity> {
    return this.#call(async (service) => {
      const identity = await prepare(service, this.#place, this.#setup.create);
      this.#opened ??= await incarnationIn(service);
      return identity;
    });
  }

  now(): Promise<number> {
    return this.#call(async (service) => {
      // Any response carries the time.
      if (!this.#setup.clock.isFresh) await service.get({ Key: toItem(META) });
      return this.#now();
    });
  }

  append(batch: readonly Append[]): Promise<readonly AppendResult[]> {
    return this.#call(async (service) => {
      refuseLimits(this.name, batch);
      const check = this.#checkSame(service);
      // Starts and control acts wait for this check. The holder of a claim is bound by the row and need not wait.
      if (batch.some(({ expect }) => !expect || expect.token === null)) await check;
      return settled(appendBatch(service, this.#now, batch), check);
    });
  }

  renew(batch: readonly Renewal[]): Promise<readonly (RunRow | null)[]> {
    return this.#call((service) => settled(renewBatch(service, this.#now, batch), this.#checkSame(service)));
  }

  read(runId: string): Promise<RunRow | null> {
    return this.#call(async (service) => {
      const item = await readItem(service, rowKey(runId));
      return item && !isErased(item) ? toRow(item) : null;
    });
  }

  entries(runId: string, range: { from: number; limit: number }): Promise<readonly Entry[]> {
    return this.#call((service) => {
      checkLimit(range.limit);
      return readEntries(service, runId, range);
    });
  }

  blobs(runId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#call((service) => readBlobs(service, runId, hashes));
  }

  list(query: RunQuery): Promise<RunPage> {
    return this.#call((service) => listRuns(service, query));
  }

  due(query: DueQuery): Promise<readonly RunRow[]> {
    return this.#call((service) => {
      checkLimit(query.limit);
      return dueRuns(service, this.#now(), query);
    });
  }

  async markRestored(): Promise<StoreIdentity> {
    const [now, { runs }] = [await this.now(), await this.list({ limit: 1 })];
    return this.#call(async (service) => {
      await markRestored(service, { now, newestRun: runs[0]?.createdAt ?? 0 });
      this.#opened = await incarnationIn(service);
      return prepare(service, this.#place, this.#setup.create);
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#setup.service.close();
  }

  async #checkSame(service: Service): Promise<void> {
    this.#opened ??= await incarnationIn(service);
    if ((await incarnationIn(service)) !== this.#opened) throw otherStore(this.#place);
  }

  readonly #now = (): number => this.#setup.clock.now();

  async #call<T>(work: (service: Service) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new HoldfastError("HF-3012");
    const start = performance.now();
    try {
      return await work(this.#setup.service);
    } catch (error) {
      throw storeError(error, this.#place, performance.now() - start);
    }
  }
}
