import type { AgentIdentity } from "./agent.ts";
import type { ProgressText } from "./progress.ts";

/** What a hook is told. */
export interface HookInfo {
  readonly agent: AgentIdentity;
  readonly subtask: string;
  /** The deliverables so far, by subtask. */
  readonly results: Readonly<Record<string, unknown>>;
  readonly progress: ProgressText;
}

/** What an owner of a team does at the turning points of its agents. */
export interface TeamHooks {
  /**
   * Called after each subtask, when its checkpoint is durable. It is a step: it is called again after a crash until it
   * has ended once.
   */
  afterSubtask?(info: HookInfo & { readonly deliverable: unknown; readonly key: string }): unknown;
  /** Called whenever an agent is taken up again, with the subtask that it goes on with. */
  onResume?(info: HookInfo): unknown;
  /** Called when a subtask has failed for good, before the agent stops. The checkpoint with the failure is durable. */
  onFailure?(info: HookInfo & { readonly error: unknown; readonly checkpoint: string }): unknown;
}

/** A deliverable on its way to its target. */
export interface Delivery {
  readonly agent: AgentIdentity;
  readonly subtask: string;
  /** What the deliverable is called. */
  readonly deliverable: string;
  readonly target: string;
  readonly value: unknown;
  /** The idempotency key: a target that remembers it stores nothing twice. */
  readonly key: string;
}

/** Where deliverables land: a function for each target. */
export type Targets = Readonly<Record<string, (delivery: Delivery) => unknown>>;
