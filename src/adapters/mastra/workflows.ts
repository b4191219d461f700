import {
  InMemoryDB,
  type StorageListWorkflowRunsInput,
  type WorkflowRun,
  type WorkflowRuns,
  WorkflowsInMemory,
  WorkflowsStorage,
} from "@mastra/core/storage";
import type { WorkflowRunState } from "@mastra/core/workflows";
import type { Engine } from "../../core/engine/engine.ts";
import { nameProblem } from "../../core/names.ts";
import { terminal } from "../../core/types.ts";
import type { OutsideState } from "../outside-state.ts";
import type { Stand } from "../standing.ts";
import { KeptRuns, refused, runIdOf } from "./kept-runs.ts";
import { restored, storable } from "./storable.ts";

type Args<K extends keyof WorkflowsStorage> = WorkflowsStorage[K] extends (args: infer A) => unknown
  ? A
  : never;

/** A workflow run of Mastra, as the state of a run. */
interface Kept {
  readonly workflowName: string;
  readonly runId: string;
  /** How often it was written again after its end: a run that has ended takes no more, so each time is a run. */
  readonly life: number;
  readonly resourceId: string | null;
  readonly snapshot: unknown;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

interface Found {
  readonly state: OutsideState<Kept>;
  /** What `state` holds. */
  readonly before: Kept | undefined;
  /** The newest of all. */
  readonly kept: Kept | undefined;
  readonly life: number;
}

const ATTEMPTS = 100;

/** Mastra's workflow runs in a Holdfast store: each is a run, and a snapshot costs what has changed since the last. */
export class HoldfastWorkflows extends WorkflowsStorage {
  readonly #runs: KeptRuns<Kept>;

  constructor(engine: Engine) {
    super();
    this.#runs = new KeptRuns(engine, "mastra-workflow");
  }

  override supportsConcurrentUpdates(): boolean {
    return true;
  }

  override async dangerouslyClearAll(): Promise<void> {
    for await (const { id } of this.#runs.rows()) await this.#runs.delete(id);
  }

  override persistWorkflowSnapshot(args: Args<"persistWorkflowSnapshot">): Promise<void> {
    const snapshot = storable(args.snapshot, "as texts") as WorkflowRunState;
    return this.#change(args, (own) =>
      own.persistWorkflowSnapshot({ ...args, snapshot: restored(snapshot) }),
    );
  }

  override updateWorkflowResults(
    args: Args<"updateWorkflowResults">,
  ): ReturnType<WorkflowsStorage["updateWorkflowResults"]> {
    return this.#change(args, (own) => own.updateWorkflowResults(args));
  }

  override updateWorkflowState(args: Args<"updateWorkflowState">): Promise<WorkflowRunState | undefined> {
    return this.#change(args, (own) => own.updateWorkflowState(args));
  }

  override async loadWorkflowSnapshot(args: Args<"loadWorkflowSnapshot">): Promise<WorkflowRunState | null> {
    const { kept } = await this.#find(args.workflowName, args.runId);
    return memoryOf(kept ? [kept] : []).loadWorkflowSnapshot(args);
  }

  override async getWorkflowRunById(args: Args<"getWorkflowRunById">): Promise<WorkflowRun | null> {
    const { workflowName, runId } = args;
    if (workflowName === undefined) return memoryOf(await this.#all({ runId })).getWorkflowRunById(args);
    const { kept } = await this.#find(workflowName, runId);
    return memoryOf(kept ? [kept] : []).getWorkflowRunById(args);
  }

  override async listWorkflowRuns(args: StorageListWorkflowRunsInput = {}): Promise<WorkflowRuns> {
    const { workflowName } = args;
    return memoryOf(await this.#all(workflowName === undefined ? {} : { workflowName })).listWorkflowRuns(
      args,
    );
  }

  override async deleteWorkflowRunById({
    workflowName,
    runId,
  }: Args<"deleteWorkflowRunById">): Promise<void> {
    const { life } = await this.#find(workflowName, runId);
    for (let each = life; each >= 0; each--) await this.#runs.delete(idOf(workflowName, runId, each));
  }

  /** Changes one run by Mastra's own rules, in one append. */
  async #change<T>(
    { workflowName, runId }: { readonly workflowName: string; readonly runId: string },
    change: (own: WorkflowsInMemory) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { state, before, kept, life } = await this.#find(workflowName, runId);
      const db = new InMemoryDB();
      const result = await change(memoryOf(kept ? [kept] : [], db));
      const [row] = db.workflows.values();
      if (!row) return result;
      const next: Kept = {
        workflowName,
        runId,
        life,
        resourceId: row.resourceId ?? null,
        snapshot: storable(row.snapshot, "as texts"),
        createdAt: new Date(row.createdAt),
        updatedAt: new Date(row.updatedAt),
      };
      if (await state.replace(before, next)) return result;
    }
    throw refused(`Run ${runId} of workflow ${workflowName}`, "other programs write it all the time");
  }

  async #find(workflowName: string, runId: string): Promise<Found> {
    let last: Kept | undefined;
    for (let life = 0; ; life++) {
      const state = this.#at(workflowName, runId, life);
      const before = await state.read();
      // What a person has cancelled in Holdfast stays so: the next write is refused.
      const isOver = before && isEnd(before) && state.row !== null && terminal(state.row.status);
      if (!isOver) return { state, before, kept: before ?? last, life };
      last = before;
    }
  }

  #at(workflowName: string, runId: string, life: number): OutsideState<Kept> {
    return this.#runs.at(idOf(workflowName, runId, life), {
      initial: {} as Kept,
      input: { workflow: workflowName, run: runId },
      ...(nameProblem(workflowName) === undefined ? { name: workflowName } : {}),
      labels: labelsOf({ workflowName, runId }),
      stand: standOf,
    });
  }

  /** The newest state of each run that matches. */
  async #all(which: { readonly workflowName?: string; readonly runId?: string }): Promise<readonly Kept[]> {
    const newest = new Map<string, Kept>();
    for await (const { id } of this.#runs.rows(labelsOf(which))) {
      const kept = await this.#runs.at(id, { initial: {} as Kept, stand: standOf }).read();
      if (!kept) continue;
      const key = JSON.stringify([kept.workflowName, kept.runId]);
      if (kept.life >= (newest.get(key)?.life ?? 0)) newest.set(key, kept);
    }
    return [...newest.values()];
  }
}

const idOf = (workflowName: string, runId: string, life: number): string =>
  runIdOf(workflowName, workflowName, runId, ...(life === 0 ? [] : [life]));

/** What runs are found by. A text that can't be a label isn't one: then all runs are looked at. */
function labelsOf({ workflowName, runId }: { readonly workflowName?: string; readonly runId?: string }) {
  const labels = { mastra_workflow: workflowName, mastra_run: runId };
  return Object.fromEntries(
    Object.entries(labels).flatMap(([name, value]) =>
      value !== undefined && nameProblem(value, 256) === undefined ? [[name, value]] : [],
    ),
  );
}

/** Mastra's own rules for its runs, on these. */
function memoryOf(all: readonly Kept[], db = new InMemoryDB()): WorkflowsInMemory {
  for (const { workflowName, runId, resourceId, snapshot, createdAt, updatedAt } of all)
    db.workflows.set(all.length === 1 ? `${workflowName}-${runId}` : JSON.stringify([workflowName, runId]), {
      workflow_name: workflowName,
      run_id: runId,
      ...(resourceId === null ? {} : { resourceId }),
      snapshot: restored<WorkflowRunState>(snapshot),
      createdAt,
      updatedAt,
    });
  return new WorkflowsInMemory({ db });
}

const statusOf = ({ snapshot }: Kept): unknown => Reflect.get(Object(snapshot), "status");

const ENDS: Readonly<Record<string, "run_completed" | "run_cancelled">> = {
  success: "run_completed",
  bailed: "run_completed",
  canceled: "run_cancelled",
};
const isEnd = (kept: Kept): boolean => Object.hasOwn(ENDS, String(statusOf(kept)));

/** Where Mastra's run stands, in Holdfast's words. */
function standOf(kept: Kept): Stand {
  const status = String(statusOf(kept));
  const { error, suspendedPaths = {} } = Object(kept.snapshot) as {
    error?: { message?: unknown };
    suspendedPaths?: object;
  };
  const end = Object.hasOwn(ENDS, status) ? ENDS[status] : undefined;
  if (end) return { end };
  if (status === "failed" || status === "tripwire") {
    const { message } = Object(error) as { message?: unknown };
    return { error: typeof message === "string" ? message : `Mastra says that the run is ${status}.` };
  }
  if (status !== "suspended") return { waits: { kind: "signal", step: "mastra", names: ["mastra"] } };
  const steps = Object.keys(suspendedPaths).join(", ");
  const detail = steps === "" ? "Mastra has suspended it." : `Mastra has suspended it at ${steps}.`;
  return { waits: { kind: "signal", step: "resume", names: ["resume"], detail } };
}
