import type { Workflow } from "../context.ts";
import type { Control } from "../control/control.ts";
import type { Decisions } from "../control/decisions.ts";
import type { Family } from "../control/family.ts";
import { detached } from "../detached.ts";
import type { Flow } from "../flow/flow.ts";
import { guardsFor } from "../guards/all.ts";
import type { JournalEvent } from "../journal/events.ts";
import type { EngineParts } from "../journal/parts.ts";
import { forkChild } from "../manage/fork/fork-child.ts";
import type { EngineLinks, ExecutionDeps, ExecutionSettings } from "../run/execution-deps.ts";
import type { CommitQueue } from "../store/commit.ts";
import type { StoreIdentity } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import { oncePossible } from "../worker/health.ts";
import type { EngineOptions } from "./options.ts";
import type { Starter } from "./start.ts";

/** What the links of executions lead to. */
export interface Linked {
  readonly parts: EngineParts;
  readonly queue: CommitQueue;
  readonly control: Control;
  readonly decisions: Decisions;
  readonly family: Family;
  readonly starter: Starter;
  register(workflow: Workflow<never, unknown>): void;
  announce(row: RunRow, events: readonly JournalEvent[]): void;
  flow(): Flow;
}

/** The dependencies of runs that are advanced, or foreseen, here. */
export function executionDeps(
  identity: StoreIdentity,
  { policy, contentCheck }: EngineOptions,
  settings: ExecutionSettings,
  linked: Linked,
): ExecutionDeps {
  return {
    ...linked.parts,
    identity,
    queue: linked.queue,
    settings,
    policy,
    contentCheck,
    rates: linked.flow().rates,
    prices: linked.flow().prices,
    guards: guardsFor,
    engine: engineLinks(linked),
  };
}

/** The links of an execution to the engine around it. */
function engineLinks(engine: Linked): EngineLinks {
  const { parts, queue, control, decisions, family, starter } = engine;
  return {
    durable: (row, events) => engine.announce(row, events),
    startChild: (workflow, runId, input, parent, given) => {
      engine.register(workflow as Workflow<never, unknown>);
      return starter.create(workflow, runId, input, parent, given);
    },
    forkChild: (request) => {
      engine.register(request.workflow as Workflow<never, unknown>);
      return forkChild(parts, request);
    },
    resumeChild: (runId, attempt) => control.resumeOnce(runId, attempt),
    notifyParent: (child) => family.tell(child),
    cancelChildren: async (runId) => {
      await family.cancelChildren(runId, { compensate: true });
      return family.doneBelow(runId);
    },
    evidence: (runId, first, attempt, data) => {
      const keep = () => decisions.evidence(runId, first, attempt, data);
      const kept = oncePossible(queue.health, keep);
      detached(kept, parts.ports.logger, "keeping evidence", { runId, step: first });
    },
  };
}
