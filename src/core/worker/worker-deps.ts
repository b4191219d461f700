import type { Workflow } from "../context.ts";
import type { HoldfastError } from "../errors.ts";
import type { Acts } from "../journal/acts.ts";
import type { JustRead } from "../journal/just-read.ts";
import type { ExecutionDeps } from "../run/execution-deps.ts";
import type { RunRow } from "../types.ts";
import type { ClaimSettings } from "./claim-meta.ts";
import type { EngineEvent } from "./event-types.ts";
import type { Pressure } from "./pressure.ts";
import type { QueueGate } from "./queue-gate.ts";
import type { RecoveryPolicy } from "./recovery.ts";

export interface WorkerSettings extends ClaimSettings {
  readonly sweepMs: number;
  readonly concurrency: number;
  readonly recovery: RecoveryPolicy;
}

/** The runs around one: the worker tells them that it has ended, and asks whether it must follow them. */
interface FamilyLinks {
  tell(run: RunRow): Promise<void>;
  follows(run: RunRow): Promise<boolean>;
}

export interface WorkerDeps {
  readonly execution: ExecutionDeps;
  readonly acts: Acts;
  readonly family: FamilyLinks;
  readonly justRead: JustRead;
  readonly queues: QueueGate;
  readonly workflows: ReadonlyMap<string, Workflow>;
  readonly settings: WorkerSettings;
  readonly owner: string;
  readonly pressure: Pressure;
  readonly tell: (event: EngineEvent) => void;
  /** Called before a run is parked that can't be restored; returns the reason to park it with. */
  readonly unrestorable: (row: RunRow, problem: HoldfastError) => Promise<HoldfastError>;
}
