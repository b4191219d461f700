import type { Workflow } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import { type Processes, systemProcesses } from "../process-proof.ts";
import type { Store } from "../store/contract.ts";
import type { Documents, StoredDocument } from "../store/documents.ts";
import type { Budget } from "../types.ts";

/** A workflow that a worker has the code of. */
export interface ServedWorkflow {
  readonly name: string;
  readonly version: string;
  readonly schema: number;
  /** True when only its code can check the input of a run before there is one, or says by it how the run starts. */
  readonly checksInput: boolean;
  /** The limits of its runs; `null`: none of its own. */
  readonly budget: Budget | null;
}

/** A workflow as others have to know it. */
export function servedBy(workflow: Workflow): ServedWorkflow {
  const { name, version, schema, input, checksInBody = false, starts, budget = null } = workflow;
  const checksInput = (input !== undefined && !checksInBody) || starts !== undefined;
  return { name, version, schema, checksInput, budget };
}

/** A process that advances runs, as it says itself. What it really has is in the claims of the runs. */
export interface WorkerRecord {
  /** Its name in claims. */
  readonly owner: string;
  readonly host: string;
  readonly pid: number;
  readonly workflows: readonly ServedWorkflow[];
  readonly concurrency: number;
  /** Runs that it had at its last beat. */
  readonly running: number;
  /** True while it takes no more runs because it is about to stop. */
  readonly isStopping: boolean;
  readonly since: number;
  /** When it last said that it is there, on the store's clock. */
  readonly beat: number;
}

/** A worker in the list. */
export interface ListedWorker extends WorkerRecord {
  /** True when it has missed beats, or its process is gone: it is stuck, cut off from the store, or dead. */
  readonly isStale: boolean;
}

interface MarkedRecord extends WorkerRecord {
  /** Tells other processes of the machine whether this one is alive; older versions wrote none. */
  readonly mark?: string;
}

const KIND = "worker";
/** How often a worker says that it is there, and after how long without that it counts as stale, and as gone. */
export const BEAT_MS = 10_000;
const STALE_MS = 3 * BEAT_MS;
const GONE_MS = 6 * BEAT_MS;
const PAGE = 200;

/**
 * The workers of a store, as documents. Nothing depends on them: a run belongs to whoever has its claim. They tell
 * people and the API who works here, and which code there is.
 */
export class WorkerRegistry {
  readonly #store: Pick<Store, "name" | "now" | "documents">;
  readonly #newVersion: () => string;
  readonly #processes: Processes;

  constructor(
    store: Pick<Store, "name" | "now" | "documents">,
    newVersion: () => string,
    processes: Processes = systemProcesses,
  ) {
    this.#store = store;
    this.#newVersion = newVersion;
    this.#processes = processes;
  }

  /** The workers that have been heard of within a minute, in order of their names. The others are forgotten. */
  async list(): Promise<readonly ListedWorker[]> {
    const now = await this.#store.now();
    const there: ListedWorker[] = [];
    for (let after: string | undefined; ; ) {
      const page = await this.#documents.list(KIND, {
        limit: PAGE,
        ...(after === undefined ? {} : { after }),
      });
      for (const one of page) {
        const record = recordOf(one);
        if (record && record.beat > now - GONE_MS) there.push(this.#listed(record, now));
        else await this.#forget(one);
      }
      after = page.at(-1)?.key;
      if (page.length < PAGE) return there;
    }
  }

  /** One of this machine whose process is provably gone has missed its next beat already. */
  #listed({ mark, ...record }: MarkedRecord, now: number): ListedWorker {
    const isGone = mark !== undefined && this.#processes.isGone(`.${mark}`);
    return { ...record, isStale: isGone || record.beat <= now - STALE_MS };
  }

  /**
   * The workflow of this name as the worker has it that started last, so that new runs get new code during an upgrade.
   * Workers that stop or have missed beats don't count.
   */
  async serving(name: string): Promise<ServedWorkflow | undefined> {
    const live = (await this.list()).filter(({ isStopping, isStale }) => !isStopping && !isStale);
    return live
      .toSorted((one, other) => other.since - one.since)
      .flatMap(({ workflows }) => workflows)
      .find((workflow) => workflow.name === name);
  }

  /** Says that this worker is there. */
  async beat(worker: Omit<WorkerRecord, "beat">): Promise<void> {
    const key = worker.owner;
    for (;;) {
      const found = await this.#documents.read(KIND, key);
      const { mark } = this.#processes;
      const value = JSON.stringify({ ...worker, mark, beat: await this.#store.now() } satisfies MarkedRecord);
      const put = { version: this.#newVersion(), value };
      const [isWritten] = await this.#documents.write([
        { kind: KIND, key, expect: found?.version ?? null, put },
      ]);
      if (isWritten) return;
    }
  }

  /** Says that a worker has stopped. */
  async remove(owner: string): Promise<void> {
    const found = await this.#documents.read(KIND, owner);
    if (found) await this.#forget(found);
  }

  /** One that has written since then is there after all, and stays. */
  async #forget({ key, version }: StoredDocument): Promise<void> {
    await this.#documents.write([{ kind: KIND, key, expect: version, put: null }]);
  }

  get #documents(): Documents {
    const { documents, name } = this.#store;
    if (documents) return documents;
    throw new HoldfastError("HF-5000", { store: name });
  }
}

/** Leaves out entries that another version has written in another form. */
function recordOf({ value }: StoredDocument): MarkedRecord | undefined {
  const record = JSON.parse(value) as Partial<WorkerRecord>;
  const isWhole =
    typeof record.owner === "string" && typeof record.beat === "number" && Array.isArray(record.workflows);
  return isWhole ? (record as WorkerRecord) : undefined;
}
