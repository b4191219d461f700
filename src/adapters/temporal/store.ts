import { HoldfastError } from "../../core/errors.ts";
import { claimAfter, refuseLimits } from "../../core/store/claim.ts";
import type { Append, AppendResult, Entry, News, Store, StoreIdentity } from "../../core/store/contract.ts";
import { checkLimit, isLeftOut, listRows } from "../../core/store/query.ts";
import { ended, type RunRow } from "../../core/types.ts";
import { Answers } from "./answers.ts";
import {
  APPEND,
  type AppendAnswer,
  type AppendMessage,
  type BlobsPage,
  type Carried,
  type EntriesPage,
  type EntriesQuery,
  type HeldRow,
  MEMO,
  type Past,
  QUERIES,
  RUN_WORKFLOW,
  type RunArguments,
  type RunSettings,
  STORE_WORKFLOW,
  TASK_MS,
} from "./contract.ts";
import { EndedRuns } from "./ended-runs.ts";
import { Endings } from "./endings.ts";
import type { Holds } from "./holds.ts";
import { JournalState } from "./journal-state.ts";
import { isMissing, type Link } from "./link.ts";
import { Mirrors } from "./mirrors.ts";
import type { Client, Described } from "./sdk.ts";

export interface TemporalStoreParts {
  readonly link: Pick<Link, "ask" | "close" | "complete" | "storeId" | "taskQueue" | "untilEnded">;
  readonly settings: RunSettings;
  /** The claims of this process; missing in one that only starts and controls runs. */
  readonly holds?: Holds | undefined;
  /** True while this process takes runs. */
  readonly isWorking?: () => boolean;
  /** What the sandboxes of this process answer. */
  readonly answers?: Answers;
  /** Called when the store is closed. Default: closes the link. */
  readonly stop?: () => Promise<void>;
}

/** How long a claim that is alive is shown to last: it has no time of its own, but a heartbeat. */
const SHOWN_MS = 15_000;

/**
 * Runs in Temporal, as a store: a workflow execution for each run. It answers for one run at a time, exactly; only
 * `list` shows what Temporal's visibility store has seen so far.
 */
export class TemporalStore implements Store {
  readonly name = "temporal";
  readonly capabilities = {
    durability: "power-loss",
    transactions: false,
    independent: true,
    endsClaims: true,
  } as const;
  readonly #link: TemporalStoreParts["link"];
  readonly #parts: TemporalStoreParts;
  readonly #mirrors = new Mirrors();
  readonly #endings: Endings;
  readonly #answers: Answers;
  readonly #ended = new EndedRuns({
    describe: (runId) => this.#described(runId),
    carried: async (runId, execution) =>
      (await this.#query(runId, QUERIES.carried, [], execution)) as Carried,
  });
  /** Claims that were sent and not answered, by run: a look at the journal says what came of them. */
  readonly #unsure = new Map<string, Append>();
  #identity: StoreIdentity | undefined;
  #isClosed = false;

  constructor(parts: TemporalStoreParts) {
    this.#parts = parts;
    this.#link = parts.link;
    this.#endings = new Endings(parts.link);
    this.#answers = parts.answers ?? new Answers();
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new HoldfastError("HF-3012");
  }

  async #ask<T>(run: string, request: (client: Client) => Promise<T>): Promise<T> {
    this.#checkOpen();
    return this.#link.ask(run, request);
  }

  async identity(): Promise<StoreIdentity> {
    this.#checkOpen();
    this.#identity ??= await this.#findIdentity();
    return this.#identity;
  }

  /** Made by whoever comes first. The secret is in the memo of a workflow that never ends. */
  async #findIdentity(): Promise<StoreIdentity> {
    const { storeId, taskQueue } = this.#link;
    const described = async (): Promise<StoreIdentity> => {
      const { memo } = await this.#ask(storeId, (client) => client.workflow.getHandle(storeId).describe());
      return memo?.[MEMO.identity] as StoreIdentity;
    };
    try {
      return await described();
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    const secret = crypto.randomUUID() + crypto.randomUUID();
    const identity: StoreIdentity = { incarnation: crypto.randomUUID(), secret };
    await this.#ask(storeId, (client) =>
      client.workflow.start(STORE_WORKFLOW, {
        workflowId: storeId,
        taskQueue,
        args: [],
        memo: { [MEMO.identity]: identity },
        workflowIdReusePolicy: "ALLOW_DUPLICATE",
        workflowIdConflictPolicy: "USE_EXISTING",
      }),
    );
    return described();
  }

  async now(): Promise<number> {
    this.#checkOpen();
    return Date.now();
  }

  async append(batch: readonly Append[]): Promise<readonly AppendResult[]> {
    this.#checkOpen();
    refuseLimits(this.name, batch);
    return Promise.all(batch.map((append) => this.#append(append)));
  }

  async #append(append: Append): Promise<AppendResult> {
    const { id } = append.run;
    const result = await this.#sent(await this.#message(append));
    const { holds } = this.#parts;
    if (result.ok) this.#took(append);
    else {
      holds?.refused(append);
      if (result.reason === "fenced" || result.reason === "missing") this.#forget(id);
      else if (result.row) {
        this.#mirrors.saw(result.row);
        holds?.moved(result.row);
      }
    }
    return result;
  }

  async #message(append: Append): Promise<AppendMessage> {
    const { run, claim } = append;
    const number = crypto.randomUUID();
    const { holds, isWorking } = this.#parts;
    if (!holds || !isWorking?.() || claim.kind !== "acquire") return { append, number };
    return { append, number, life: await holds.claiming(run.id, claim.token) };
  }

  async #sent(message: AppendMessage): Promise<AppendResult> {
    const { append } = message;
    this.#unsure.delete(append.run.id);
    try {
      return append.expect === null ? await this.#create(message) : await this.#update(message);
    } catch (error) {
      if (append.claim.kind === "acquire") this.#unsure.set(append.run.id, append);
      this.#parts.holds?.unsure(append);
      throw error;
    }
  }

  #took(append: Append): void {
    const { id } = append.run;
    const row = rowAfter(append);
    this.#unsure.delete(id);
    this.#parts.holds?.appended(append, row);
    if (append.claim.kind === "erase") this.#mirrors.erased(id);
    else if (row.claim.token === null || append.claim.kind === "keep") this.#mirrors.forget(id);
    else this.#mirrors.wrote(row);
  }

  /** A claim whose answer got lost is here after all: this process has the run. */
  #landed(runId: string, entries: readonly Entry[]): void {
    const append = this.#unsure.get(runId);
    const last = append?.entries.at(-1);
    if (append && entries.some(({ seq, head }) => seq === last?.seq && head === last.head))
      this.#took(append);
  }

  #forget(runId: string): void {
    this.#mirrors.forget(runId);
    this.#parts.holds?.lost(runId);
  }

  async #create(message: AppendMessage): Promise<AppendResult> {
    const { id } = message.append.run;
    try {
      await this.#start(id, { settings: this.#parts.settings, create: message }, rowAfter(message.append));
      return { ok: true };
    } catch (error) {
      if ((error as Error).name !== "WorkflowExecutionAlreadyStartedError") throw error;
      return { ok: false, reason: "exists", row: await this.read(id) };
    }
  }

  async #start(runId: string, args: RunArguments, row: RunRow): Promise<void> {
    const { taskQueue } = this.#link;
    await this.#ask(runId, (client) =>
      client.workflow.start(RUN_WORKFLOW, {
        workflowId: runId,
        taskQueue,
        args: [args],
        memo: { [MEMO.row]: row },
        workflowTaskTimeout: TASK_MS,
        workflowIdReusePolicy: args.create ? "REJECT_DUPLICATE" : "ALLOW_DUPLICATE",
        workflowIdConflictPolicy: "FAIL",
      }),
    );
  }

  async #update(message: AppendMessage): Promise<AppendResult> {
    const { number, append } = message;
    const { id } = append.run;
    const signal = (): Promise<void> =>
      this.#ask(id, (client) => client.workflow.getHandle(id).signal(APPEND, message));
    let told: AppendAnswer | undefined;
    try {
      if (!(await this.#accepted(message))) told = await this.#answers.to(id, number, signal);
    } catch (error) {
      if (!isMissing(error)) throw error;
      return this.#reopen(message);
    }
    const answer = told ?? ((await this.#query(id, QUERIES.answer, [number])) as AppendAnswer | null);
    // The run was continued as new in between: what became of it is in the journal.
    if (!answer) throw new HoldfastError("HF-7003", { run: id, queue: this.#link.taskQueue });
    return this.#answered(answer);
  }

  /** Makes a claim the result of the offer that it takes; false when there is none, or it has lapsed. */
  async #accepted(claim: AppendMessage): Promise<boolean> {
    const { append } = claim;
    const { id } = append.run;
    const offer = append.claim.kind === "acquire" ? this.#parts.holds?.offerOf(id) : undefined;
    if (!offer) return false;
    const isDelivered = await this.#link.complete(id, offer, { taken: true, claim });
    if (isDelivered) this.#parts.holds?.spent(id, offer);
    return isDelivered;
  }

  #answered(answer: AppendAnswer): AppendResult {
    if (answer.ok) return answer;
    const { held, ...refused } = answer;
    return { ...refused, row: held && shown(held) };
  }

  /** The run has ended, and its execution with it: the append is the beginning of another one. */
  async #reopen(message: AppendMessage): Promise<AppendResult> {
    const { append } = message;
    const { id } = append.run;
    const carried = await this.#carried(id);
    if (carried === null) return { ok: false, reason: "missing", row: null };
    const state = new JournalState();
    state.restore(carried);
    const reason = state.append(append, false, Date.now());
    if (reason) return { ok: false, reason, row: carried.row };
    // Its answer was lost, and the run has ended with it.
    if (state.row.seq === carried.row.seq) return { ok: true };
    try {
      await this.#start(id, { settings: this.#parts.settings, carried, reopen: message }, state.row);
      return { ok: true };
    } catch (error) {
      if ((error as Error).name !== "WorkflowExecutionAlreadyStartedError") throw error;
      // Another writer was faster, so there is an execution that can refuse.
      return this.#update(message);
    }
  }

  async #carried(runId: string): Promise<Carried | null> {
    try {
      return (await this.#query(runId, QUERIES.carried)) as Carried;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  #query(runId: string, name: string, args: unknown[] = [], execution?: string): Promise<unknown> {
    return this.#ask(runId, (client) => client.workflow.getHandle(runId, execution).query(name, ...args));
  }

  async renew(
    batch: readonly { readonly runId: string; readonly epoch: number; readonly token: string }[],
  ): Promise<readonly (RunRow | null)[]> {
    return Promise.all(
      batch.map(async ({ runId, epoch, token }) => {
        this.#parts.holds?.renewed(runId);
        const mirror = this.#mirrors.fresh(runId, token) ?? (await this.#unmoved(runId, { epoch, token }));
        if (mirror) return mirror;
        const row = await this.read(runId);
        const isOurs = row !== null && row.claim.token === token && row.claim.epoch === epoch;
        if (!isOurs) this.#forget(runId);
        return isOurs ? row : null;
      }),
    );
  }

  /** The row that this process wrote last, if Temporal shows that nobody has acted on the run since. */
  async #unmoved(
    runId: string,
    { epoch, token }: { readonly epoch: number; readonly token: string },
  ): Promise<RunRow | undefined> {
    const own = this.#mirrors.row(runId, token);
    const seen = own && (await this.glance(runId));
    if (!seen || seen.claim.token !== token || seen.claim.epoch !== epoch) return undefined;
    // Whatever was written here meanwhile is newer than both.
    const now = this.#mirrors.row(runId, token);
    return now && seen.seq <= now.seq ? now : undefined;
  }

  async #described(runId: string): Promise<Described | null> {
    try {
      return await this.#ask(runId, (client) => client.workflow.getHandle(runId).describe());
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** What the server itself knows. Every act is in it, while counts may be older; no worker is asked. */
  async glance(runId: string): Promise<RunRow | null> {
    const described = await this.#described(runId);
    if (described?.status.name === "RUNNING") this.#endings.await(runId);
    else if (described) this.#ended.hint(runId);
    const row = described?.memo?.[MEMO.row] as RunRow | undefined;
    return row ? shown({ row, isHeld: row.claim.token !== null }) : null;
  }

  async read(runId: string): Promise<RunRow | null> {
    try {
      const copy = await this.#ended.find(runId);
      const held = copy?.held(false) ?? ((await this.#query(runId, QUERIES.row)) as HeldRow);
      const row = shown(held);
      if (ended(row.status)) this.#ended.hint(runId);
      this.#mirrors.saw(row);
      return row;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async entries(
    runId: string,
    { from, limit }: { readonly from: number; readonly limit: number },
  ): Promise<readonly Entry[]> {
    checkLimit(limit);
    this.#checkOpen();
    const found: Entry[] = [];
    try {
      let at = from;
      let execution: string | undefined;
      let past: readonly Past[] | undefined;
      let to = Number.POSITIVE_INFINITY;
      while (found.length < limit && at <= to) {
        const query = { from: at, limit: limit - found.length };
        const page = await this.#page(runId, query, execution);
        if (!past) ({ past, to } = page);
        const older = past.find(({ from: begin, to }) => begin <= at && at <= to);
        const isGap = page.entries[0] === undefined || page.entries[0].seq > at;
        if (isGap && older && older.execution !== execution) {
          execution = older.execution;
          continue;
        }
        const last = page.entries.at(-1);
        if (!last) break;
        found.push(...page.entries);
        at = last.seq + last.count;
        execution = undefined;
      }
    } catch (error) {
      if (!isMissing(error) || found.length > 0) throw error;
    }
    this.#landed(runId, found);
    return found;
  }

  /** `execution`: an earlier one of the run; its newest otherwise. */
  async #page(runId: string, query: EntriesQuery, execution: string | undefined): Promise<EntriesPage> {
    const copy = execution === undefined ? await this.#ended.find(runId) : undefined;
    return (
      copy?.page(query) ?? ((await this.#query(runId, QUERIES.entries, [query], execution)) as EntriesPage)
    );
  }

  async blobs(runId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    if (hashes.length === 0) return found;
    const executions: (string | undefined)[] = [undefined];
    try {
      for (const execution of executions) {
        let open = hashes.filter((hash) => !found.has(hash));
        while (open.length > 0) {
          const page = await this.#blobsIn(runId, open, execution);
          for (const [hash, data] of Object.entries(page.found)) found.set(hash, data);
          if (execution === undefined) executions.push(...page.past.map((one) => one.execution).reverse());
          open = [...page.rest];
        }
      }
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    return found;
  }

  async #blobsIn(
    runId: string,
    hashes: readonly string[],
    execution: string | undefined,
  ): Promise<BlobsPage> {
    const copy = execution === undefined ? await this.#ended.find(runId) : undefined;
    return (
      copy?.blobs(hashes) ?? ((await this.#query(runId, QUERIES.blobs, [hashes], execution)) as BlobsPage)
    );
  }

  async list(query: Parameters<Store["list"]>[0]): Promise<Awaited<ReturnType<Store["list"]>>> {
    const rows = new Map<string, RunRow>();
    const { taskQueue } = this.#link;
    const filter = `WorkflowType = '${RUN_WORKFLOW}' AND TaskQueue = '${taskQueue}' AND ExecutionStatus != 'ContinuedAsNew'`;
    await this.#ask("list", async (client) => {
      for await (const { workflowId, memo, status } of client.workflow.list({
        query: filter,
        pageSize: 500,
      })) {
        const row = memo?.[MEMO.row] as RunRow | undefined;
        if (row && (!rows.has(workflowId) || status.name === "RUNNING"))
          rows.set(workflowId, shown({ row, isHeld: row.claim.token !== null }));
      }
    });
    return listRows(rows.values(), query);
  }

  async due(query: Parameters<Store["due"]>[0]): Promise<readonly RunRow[]> {
    this.#checkOpen();
    const { holds } = this.#parts;
    const { workflows, limit } = query;
    const isAsked = (row: RunRow): boolean => workflows.includes(row.workflow) && !isLeftOut(row, query);
    return (holds?.offered ?? []).filter(isAsked).slice(0, limit);
  }

  hear(listener: (news: News) => void): () => void {
    const stops = [this.#endings.hear(listener), this.#parts.holds?.hear(listener)];
    return () => {
      for (const stop of stops) stop?.();
    };
  }

  /** Resolves when the run's execution has ended, or when that can only be seen by looking. */
  untilEnded(runId: string): Promise<void> {
    return this.#endings.ended(runId);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#endings.close();
    await (this.#parts.stop?.() ?? this.#link.close());
  }
}

/** The row after an append that was accepted, so that everything it expected was so. */
function rowAfter({ run, expect, claim, entries, head }: Append): RunRow {
  const last = entries.at(-1);
  const before = { epoch: expect?.epoch ?? 0, owner: null, token: expect?.token ?? null, until: 0 };
  const seq = last ? last.seq + last.count - 1 : (expect?.seq ?? 0);
  return { ...run, claim: claimAfter(before, claim, Date.now()), seq, head };
}

/** A claim that is alive lasts, and one that isn't is over. */
function shown({ row, isHeld }: HeldRow): RunRow {
  const { claim } = row;
  if (claim.token === null) return row;
  const now = Date.now();
  return { ...row, claim: { ...claim, until: isHeld ? now + SHOWN_MS : Math.min(claim.until, now) } };
}
