import { isRecord } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";
import { shortestWay } from "../core/migration.ts";
import type { AgentCheckpointRow } from "../core/records.ts";

/** A value, or a promise of it. */
type Soon<T> = T | Promise<T>;

/** An agent's working memory (its L1 cache), as a checkpoint takes it and gives it back. */
export interface CheckpointedMemory {
  dump(): Soon<unknown>;
  restore(dump: unknown): Soon<void>;
}

/**
 * What an agent class of your own must have, so that `AgentCheckpointer` can save and restore its objects. Everything
 * that it hands over is plain data: objects, lists, texts, numbers, dates, maps and sets.
 */
export interface CheckpointedAgent {
  agentType: string;
  /** A UUID. With the agent's type it identifies the agent. */
  analysisId: string;
  stockTicker: string;
  readonly version: string;
  retryCount: number;
  completedSubtasks: readonly string[];
  pendingSubtasks: readonly string[];
  readonly config: { toDict(): Soon<unknown> };
  readonly l1Cache: CheckpointedMemory;
  /** From 0 to 100. */
  calculateProgress(): number;
  /** The name of the next subtask; null when there is none. */
  nextSubtask(): string | null;
  getInterimResults(): Soon<unknown>;
  setInterimResults(results: unknown): Soon<void>;
}

const bad = (member: string, problem: string): HoldfastError =>
  new HoldfastError("HF-4500", { member, problem });

const METHODS = ["calculateProgress", "nextSubtask", "getInterimResults", "setInterimResults"] as const;
const TEXTS = ["agentType", "analysisId", "stockTicker", "version"] as const;
const LISTS = ["completedSubtasks", "pendingSubtasks"] as const;

/** Refuses an agent that lacks a part of the contract (HF-4500). `isRestored`: its ids and lists are still to be set. */
export function checkAgent(agent: unknown, isRestored = false): asserts agent is CheckpointedAgent {
  if (typeof agent !== "object" || agent === null) throw bad("it", "must be an object");
  const has = agent as Readonly<Record<string, unknown>>;
  for (const name of METHODS) if (typeof has[name] !== "function") throw bad(`${name}()`, "must be a method");
  for (const [holder, name] of [
    ["config", "toDict"],
    ["l1Cache", "dump"],
    ["l1Cache", "restore"],
  ] as const) {
    const inner = has[holder];
    const method: unknown =
      typeof inner === "object" && inner !== null ? Reflect.get(inner, name) : undefined;
    if (typeof method !== "function") throw bad(`${holder}.${name}()`, "must be a method");
  }
  if (typeof has["version"] !== "string") throw bad("version", "must be a text");
  if (isRestored) return;
  for (const name of TEXTS) if (typeof has[name] !== "string") throw bad(name, "must be a text");
  for (const name of LISTS) if (!Array.isArray(has[name])) throw bad(name, "must be a list of subtask names");
  if (typeof has["retryCount"] !== "number") throw bad("retryCount", "must be a number");
}

/** An agent's whole state as a row of `agent_checkpoints`. */
export async function rowOf(
  agent: CheckpointedAgent,
  failure?: Pick<AgentCheckpointRow, "failure_reason" | "error_details">,
): Promise<AgentCheckpointRow> {
  return {
    stock_ticker: agent.stockTicker,
    agent_type: agent.agentType,
    analysis_id: agent.analysisId.toLowerCase(),
    progress_pct: agent.calculateProgress(),
    current_subtask: agent.nextSubtask() ?? null,
    completed_subtasks: [...agent.completedSubtasks],
    pending_subtasks: [...agent.pendingSubtasks],
    working_memory: await agent.l1Cache.dump(),
    interim_results: await agent.getInterimResults(),
    agent_config: await agent.config.toDict(),
    retry_count: agent.retryCount,
    agent_version: agent.version,
    ...failure,
  };
}

/** Puts a checkpoint's state into an agent that was just made from its configuration. */
export async function fill(agent: CheckpointedAgent, row: AgentCheckpointRow): Promise<void> {
  agent.agentType = row.agent_type;
  agent.analysisId = row.analysis_id;
  agent.stockTicker = row.stock_ticker;
  agent.completedSubtasks = [...(row.completed_subtasks ?? [])];
  agent.pendingSubtasks = [...(row.pending_subtasks ?? [])];
  agent.retryCount = row.retry_count ?? 0;
  await agent.l1Cache.restore(row.working_memory ?? null);
  await agent.setInterimResults(row.interim_results ?? null);
}

/** A checkpoint as migrations see it: the columns of `agent_checkpoints`, and whatever migrations have added. */
export type SavedCheckpoint = AgentCheckpointRow & Readonly<Record<string, unknown>>;

/** How a checkpoint of one version of an agent becomes one of the next. */
export interface CheckpointMigration {
  readonly from: string;
  readonly to: string;
  /** The agent's type, when the migration is for one type only. */
  readonly agentType?: string;
  readonly migrate: (checkpoint: SavedCheckpoint) => SavedCheckpoint;
}

/** The checkpoint in the form of `version`: migrations are applied one after the other, by the shortest way. */
export function migrated(
  row: AgentCheckpointRow,
  version: string,
  migrations: readonly CheckpointMigration[],
): SavedCheckpoint {
  const found = row.agent_version ?? "";
  const agent = row.agent_type;
  const own = migrations.filter(({ agentType }) => agentType === undefined || agentType === agent);
  const way = shortestWay(own, found, version);
  if (!way) throw new HoldfastError("HF-4503", { agent, found: found === "" ? "(none)" : found, version });
  return way.reduce<SavedCheckpoint>(
    (checkpoint, { from, to, migrate }) => {
      const next: unknown = migrate(structuredClone(checkpoint));
      if (!isRecord(next)) throw new HoldfastError("HF-4504", { agent, from, to });
      return { ...(next as SavedCheckpoint), agent_version: to };
    },
    { ...row },
  );
}
