import { badOption, checkFunction, checkKeys } from "../core/check-options.ts";
import { createEngine, type Engine } from "../core/engine/engine.ts";
import { HoldfastError } from "../core/errors.ts";
import { digest } from "../core/hash.ts";
import type { OutsidePosition, OutsideResult, OutsideState } from "../core/manage/outside/outside.ts";
import { CHECKPOINTER } from "../core/outside-workflows.ts";
import { type AgentCheckpointRow, twoDecimals } from "../core/records.ts";
import type { Store } from "../core/store/contract.ts";
import type { Run } from "../core/types.ts";
import {
  type CheckpointedAgent,
  type CheckpointMigration,
  checkAgent,
  fill,
  migrated,
  rowOf,
  type SavedCheckpoint,
} from "./checkpointer-agent.ts";
import { failureDetails, failureReason } from "./failure-details.ts";
import { progressText } from "./progress.ts";

/** Options of {@link AgentCheckpointer}. */
export interface AgentCheckpointerOptions<A extends CheckpointedAgent> {
  /** The store that keeps the checkpoints; or give an `engine`. A tiered store restores from Redis first. */
  readonly store?: Store;
  readonly engine?: Engine;
  /** Makes an agent from its saved configuration. The checkpoint is given too, for fields that migrations have added. */
  readonly createAgent: (agentType: string, config: unknown, checkpoint: SavedCheckpoint) => A | Promise<A>;
  readonly migrations?: readonly CheckpointMigration[];
  /** `false` turns saving and restoring off: agents start over, and what is stored stays. Default true. */
  readonly enabled?: boolean;
  /** `true`: `cleanup` moves the rows to `agent_checkpoints_archive` before it deletes the rest. Default false. */
  readonly archive?: boolean;
  /** `true`: `cleanup` and `deleteExpired` keep everything, for debugging. Default false. */
  readonly preserve?: boolean;
  /**
   * How many days checkpoints of failed agents stay. After that they are deleted, at the first save and then hourly.
   * Default 30; `Infinity` keeps them.
   */
  readonly failureDays?: number;
}

const OPTIONS = [
  "store",
  "engine",
  "createAgent",
  "migrations",
  "enabled",
  "archive",
  "preserve",
  "failureDays",
];
/** How often a program that saves also deletes what has expired. */
const SWEEP_MS = 3_600_000;
const DAY_MS = 86_400_000;
const PAGE = 500;

/**
 * Saves and restores objects of an agent class of your own. Each save is one append to a run that belongs to the
 * analysis and the agent's type; on PostgreSQL, PGlite and SQLite it also writes a row of `agent_checkpoints`, on Redis
 * the keys `checkpoint:{analysis_id}:{agent_type}` and `L1:{agent_id}:working`. Restoring reads the verified journal.
 *
 * @example
 * ```ts
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 * import { AgentCheckpointer, type CheckpointedAgent } from "holdfast/team";
 *
 * declare function createAgent(type: string, config: unknown): CheckpointedAgent;
 * declare const agent: CheckpointedAgent;
 *
 * const checkpointer = new AgentCheckpointer({ store: await openSqliteStore(), createAgent });
 * await checkpointer.saveCheckpoint(agent, "ratio_calculation");
 * export const again = await checkpointer.restoreCheckpoint(agent.analysisId, agent.agentType);
 * ```
 */
export class AgentCheckpointer<A extends CheckpointedAgent = CheckpointedAgent> {
  /** The kill switch: while it is false, nothing is saved or restored. */
  enabled: boolean;
  readonly #options: AgentCheckpointerOptions<A>;
  readonly #engine: Engine;
  readonly #ownsEngine: boolean;
  /** By run: the position of the last save or restore here. */
  readonly #known = new Map<string, OutsidePosition>();
  #sweepAt = 0;
  #sweeping: Promise<void> = Promise.resolve();

  constructor(options: AgentCheckpointerOptions<A>) {
    checkKeys(options, OPTIONS, "AgentCheckpointer");
    checkFunction("createAgent", options.createAgent);
    const { store, engine } = options;
    if ((store === undefined) === (engine === undefined))
      throw badOption("store", "give either a store or an engine");
    this.#options = options;
    this.#ownsEngine = engine === undefined;
    this.#engine = engine ?? createEngine({ store: store as Store, execute: false, retention: "forever" });
    this.enabled = options.enabled ?? true;
  }

  /**
   * Saves the agent after a subtask. Resolves with the checkpoint's address once it is durable; `null` while disabled.
   * Refused (HF-4501, HF-4502) when another process has saved the same agent.
   */
  async saveCheckpoint(agent: A, subtaskCompleted: string): Promise<string | null> {
    if (!this.enabled) return null;
    checkAgent(agent);
    return this.#save(agent, subtaskCompleted, await rowOf(agent));
  }

  /**
   * Saves the agent when it has failed, before it is shut down: why, with the error's status and fields, and how often it
   * was tried. It can be restored as after any save.
   */
  async saveFailure(agent: A, error: unknown): Promise<string | null> {
    if (!this.enabled) return null;
    checkAgent(agent);
    const failure = { failure_reason: failureReason(error), error_details: failureDetails(error) };
    const thrown = error instanceof Error ? error : new Error(String(error));
    return this.#save(agent, agent.nextSubtask() ?? "failure", await rowOf(agent, failure), thrown);
  }

  /**
   * The agent as it was last saved, or `null` when there is no checkpoint of it. It is made by `createAgent` from its
   * saved configuration; then its ids, lists, retry count, memory and interim results are set. A checkpoint of another
   * version is migrated first.
   */
  async restoreCheckpoint(analysisId: string, agentType: string): Promise<A | null> {
    if (!this.enabled) return null;
    const runId = runOf(analysisId, agentType);
    const state = await this.#engine.outside.newest(runId);
    const saved = savedRow(state);
    if (!state || !saved) return null;
    const agent = await this.#build(saved);
    this.#known.set(runId, state.at);
    return agent;
  }

  /** The newest checkpoint as it was saved, without an agent made of it; `null` when there is none. */
  async readCheckpoint(analysisId: string, agentType: string): Promise<AgentCheckpointRow | null> {
    return savedRow(await this.#engine.outside.newest(runOf(analysisId, agentType)));
  }

  /**
   * Deletes the checkpoints of an analysis that has succeeded, of all its agents or of those given: rows, journal and
   * keys are gone. With `archive` the rows go to `agent_checkpoints_archive`. Returns the types of the agents.
   */
  async cleanup(analysisId: string, agentTypes?: readonly string[]): Promise<readonly string[]> {
    const { preserve = false, archive = false } = this.#options;
    const { capabilities, name } = await this.#engine.outside.store();
    if (archive && capabilities.archives !== true) throw new HoldfastError("HF-4505", { store: name });
    const agents = agentTypes ?? (await this.#agentsOf(analysisId));
    if (preserve) return [];
    const gone: string[] = [];
    for (const agentType of agents) {
      const runId = runOf(analysisId, agentType);
      if (await this.#delete(runId, archive)) gone.push(agentType);
    }
    return gone;
  }

  /** Deletes the checkpoints of agents that failed more than `failureDays` ago. Saving does it too, once an hour. */
  async deleteExpired(): Promise<number> {
    const { preserve = false, failureDays = 30 } = this.#options;
    if (preserve) return 0;
    const now = await this.#engine.outside.now();
    let count = 0;
    for await (const { id, finishedAt, pinned } of this.#runs("failed")) {
      const isOld = finishedAt !== null && now - finishedAt >= failureDays * DAY_MS;
      if (isOld && !pinned && (await this.#delete(id, false))) count++;
    }
    return count;
  }

  /** Keeps the checkpoints of one agent, whatever `cleanup` and retention delete; `false` lets them go again. */
  async preserve(analysisId: string, agentType: string, keep = true): Promise<void> {
    const runId = runOf(analysisId, agentType);
    await (keep ? this.#engine.retention.pin(runId) : this.#engine.retention.unpin(runId));
  }

  /** Deletes what has expired without anybody waiting for it. What fails now is done an hour later. */
  #sweep(): void {
    const now = performance.now();
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + SWEEP_MS;
    this.#sweeping = this.deleteExpired().then(
      () => undefined,
      () => undefined,
    );
  }

  /** Releases what this object has opened; the store stays open. */
  async close(): Promise<void> {
    await this.#sweeping;
    if (this.#ownsEngine) await this.#engine.close();
  }

  async #save(agent: A, label: string, row: AgentCheckpointRow, failure?: Error): Promise<string> {
    const { analysis_id, agent_type } = row;
    const runId = runOf(analysis_id, agent_type);
    const [done, pending] = [row.completed_subtasks ?? [], row.pending_subtasks ?? []];
    const { text } = progressText(done.length, done.length + pending.length);
    const result = await this.#engine.outside.save(
      runId,
      {
        workflow: CHECKPOINTER,
        version: agent.version,
        input: { analysis_id, agent_type, stock_ticker: row.stock_ticker },
        label,
        trigger: failure ? "error_encountered" : "phase_completed",
        record: { table: "agent_checkpoints", row },
        plan: [...done, ...pending],
        done,
        detail: `${text}, ${twoDecimals(row.progress_pct ?? 0)} %`,
        awaits: "saveCheckpoint",
        ...(failure ? { failure } : {}),
      },
      this.#known.get(runId) ?? null,
    );
    if (!result.ok) throw refused(result, analysis_id, agent_type);
    this.#known.set(runId, result.at);
    this.#sweep();
    return result.address;
  }

  async #build(saved: AgentCheckpointRow): Promise<A> {
    const { createAgent, migrations = [] } = this.#options;
    const make = async (row: SavedCheckpoint): Promise<A> => {
      const made: unknown = await createAgent(row.agent_type, row.agent_config ?? null, row);
      if (made === undefined || made === null) throw new HoldfastError("HF-4506", { agent: row.agent_type });
      checkAgent(made, true);
      return made as A;
    };
    const first = await make({ ...saved });
    const isSame = first.version === saved.agent_version;
    const row = isSame ? saved : migrated(saved, first.version, migrations);
    const agent = isSame ? first : await make({ ...row });
    await fill(agent, row);
    return agent;
  }

  /** Deletes a run; a pinned one stays. */
  async #delete(runId: string, archive: boolean): Promise<boolean> {
    const state = await this.#engine.outside.newest(runId);
    if (!state || state.row.pinned) return false;
    await this.#engine.outside.complete(runId, { archive });
    await this.#engine.delete(runId, { tombstone: false });
    this.#known.delete(runId);
    return true;
  }

  async #agentsOf(analysisId: string): Promise<readonly string[]> {
    const prefix = `${analysisId.toLowerCase()}-`;
    const found: string[] = [];
    for await (const { id } of this.#runs()) {
      const row = id.startsWith(prefix) ? savedRow(await this.#engine.outside.newest(id)) : null;
      if (row) found.push(row.agent_type);
    }
    return found;
  }

  async *#runs(status?: "failed"): AsyncGenerator<Run> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const only = status ? { status: [status] } : {};
      const from = cursor === undefined ? {} : { cursor };
      const page = await this.#engine.list({ workflow: CHECKPOINTER, limit: PAGE, ...only, ...from });
      yield* page.runs;
      cursor = page.cursor;
    }
  }
}

/** The run of an agent: its analysis and its type, readable where the type fits into an id. */
function runOf(analysisId: string, agentType: string): string {
  const isShort = /^[A-Za-z0-9_-]{1,27}$/.test(agentType);
  return `${analysisId.toLowerCase()}-${isShort ? agentType : digest(agentType).slice(0, 27)}`;
}

const savedRow = (state: OutsideState | null): AgentCheckpointRow | null =>
  state?.record?.table === "agent_checkpoints" ? state.record.row : null;

function refused(
  { reason }: OutsideResult & { readonly ok: false },
  analysis: string,
  agent: string,
): HoldfastError {
  const code = reason === "moved" ? "HF-4501" : reason === "known" ? "HF-4502" : "HF-4507";
  return new HoldfastError(code, { analysis, agent });
}
