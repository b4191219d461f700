import type { AgentCheckpointRow } from "../core/records.ts";
import type { AgentIdentity, Subtask } from "./agent.ts";
import { failureDetails, failureReason } from "./failure-details.ts";
import type { AgentProgress } from "./progress.ts";

/** A row of `agent_checkpoints`: an agent's whole state after a subtask, or when one has failed. */
export function agentRow(
  { type, version, analysis_id, stock_ticker }: AgentIdentity,
  progress: AgentProgress,
  config: Readonly<Record<string, unknown>>,
  failure?: { readonly subtask: Subtask; readonly error: unknown },
): AgentCheckpointRow {
  const { completed, pending, results, memory, extra, retries, text } = progress;
  return {
    stock_ticker,
    agent_type: type,
    analysis_id,
    progress_pct: text.percent,
    current_subtask: failure?.subtask.name ?? pending[0] ?? null,
    completed_subtasks: [...completed],
    pending_subtasks: pending,
    working_memory: Object.fromEntries(memory),
    interim_results: { ...results, ...extra },
    agent_config: config,
    failure_reason: failure ? failureReason(failure.error) : null,
    error_details: failure ? failureDetails(failure.error) : null,
    retry_count: retries,
    agent_version: version,
  };
}
