import type { Workflow } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import type { ActPlan, Acts } from "../journal/acts.ts";
import { loadRun } from "../journal/load.ts";
import { RunState } from "../journal/state.ts";
import { isDamage } from "../journal/unreadable.ts";
import { about, forReview } from "../journal/wait-reason.ts";
import { dropOldest } from "../recent.ts";
import type { ExecutionDeps } from "../run/execution-deps.ts";
import type { RunRow, Waiting } from "../types.ts";
import { isFailed, planMigration, STATE_MS } from "./migration-plan.ts";
import { noRoute, route } from "./versions.ts";

interface UpgradeDeps {
  readonly execution: Pick<ExecutionDeps, "store" | "values" | "time" | "ports" | "settings" | "engine">;
  readonly acts: Acts;
  readonly workflows: ReadonlyMap<string, Workflow>;
  readonly settings: { readonly sweepMs: number };
  readonly unrestorable: (row: RunRow, problem: HoldfastError) => Promise<HoldfastError>;
}

/** The input of an execution, or how it ended before it began. */
export type Prepared =
  | { readonly row: RunRow; readonly state: RunState; readonly problem?: HoldfastError }
  | "waiting"
  | "stopped";

/** How often to look for runs that wait for a migration, and how many at a time. */
const LOOK_MS = 60_000;
/** A program may redefine its workflows with every start. */
const NEW_MS = 1_000;
const PAGE = 100;
const PAGES = 10;
const MOST_TRIED = 10_000;
/**
 * For this many sweeps a due run is left to processes of its version: if one is there and has room, it takes the run in
 * one.
 */
const LEFT_SWEEPS = 3;

/**
 * Handles versions for a worker: it migrates a run to the worker's version before any code runs, lets a run wait that
 * it can't migrate, and takes up waiting runs that it can. During a rolling deploy several versions of a workflow work
 * on one store.
 */
export class Upgrades {
  readonly #deps: UpgradeDeps;
  /** Runs that this process has let wait, with the code at that time: the same code need not try again. */
  readonly #tried = new Map<string, Workflow>();
  /** The page to continue at, by workflow. */
  readonly #cursors = new Map<string, string | null>();
  #known: ReadonlyMap<string, Workflow> = new Map();
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: UpgradeDeps) {
    this.#deps = deps;
  }

  /**
   * True when a due run should be left to a process that knows its version. A run that no process takes is let wait,
   * with the reason.
   */
  leaves(row: RunRow): boolean {
    const workflow = this.#deps.workflows.get(row.workflow);
    if (!workflow || needsNoCode(row) || route(workflow, row)) return false;
    const dueSince = Math.max(row.updatedAt, row.wakeAt ?? 0, row.claim.until);
    const { settings, execution } = this.#deps;
    const leftMs = Math.min(LEFT_SWEEPS * settings.sweepMs, 2 * execution.settings.claimMs);
    return execution.time.now() < dueSince + leftMs;
  }

  /**
   * Returns the claimed run at this code's version; or that it waits for a migration, or no longer belongs to this
   * process.
   */
  async prepare(row: RunRow, loaded: RunState | HoldfastError, workflow: Workflow): Promise<Prepared> {
    if (!(loaded instanceof RunState)) return { row, state: new RunState(), problem: loaded };
    try {
      return await this.#upgrade(row, loaded, workflow);
    } catch (error) {
      if (isDamage(error)) return { row, state: loaded, problem: error };
      const { logger } = this.#deps.execution.ports;
      logger.warn("run could not be migrated", { runId: row.id, error: String(error) });
      return "stopped";
    }
  }

  async #upgrade(row: RunRow, state: RunState, workflow: Workflow): Promise<Prepared> {
    const { store, values, engine, ports, settings } = this.#deps.execution;
    const way = route(workflow, row);
    if (way?.length === 0 || needsNoCode(row)) return { row, state };
    const problem = way ? undefined : noRoute(row, state, workflow);
    // Shorter than the claim, because the outcome must still be written.
    const deps = { values, clock: ports.clock, limitMs: Math.min(STATE_MS, settings.claimMs / 2) };
    const plan = problem ?? (await planMigration(deps, row, state, workflow, way ?? []).catch(onlyFailed));
    const isParked = plan instanceof HoldfastError;
    const written = isParked ? this.#parking(await this.#deps.unrestorable(row, plan)) : plan;
    const acted = await this.#deps.acts.write(row, written);
    if (!acted) {
      // The run was written to in the meantime: by an act, or by another worker after this one took too long.
      const now = await store.read(row.id);
      const isOurs = now?.claim.token === row.claim.token && now.claim.epoch === row.claim.epoch;
      return now && isOurs ? this.#upgrade(now, await loadRun(store, values, now), workflow) : "stopped";
    }
    engine.durable(acted.row, acted.events);
    if (!isParked) return { row: acted.row, state: await loadRun(store, values, acted.row) };
    this.parked(acted.row, workflow);
    return "waiting";
  }

  #parking(problem: HoldfastError): ActPlan {
    const since = this.#deps.execution.time.now();
    // A run that was started afresh must not continue by itself when a migration turns up.
    const waiting: Waiting =
      problem.code === "HF-4363"
        ? forReview(problem, since)
        : { kind: "migration", step: "", since, ...about(problem, problem.why) };
    return {
      events: [{ kind: "run_waiting", step: "", meta: { waiting: [waiting] } }],
      claim: { kind: "release" },
    };
  }

  /** Called when a run was released here; if it waits for a migration, this code has done what it can. */
  parked(row: RunRow, workflow: Workflow): void {
    if (!awaitsMigration(row)) return;
    this.#tried.set(row.id, workflow);
    // A forgotten run is tried once more, and waits again.
    dropOldest(this.#tried, MOST_TRIED);
  }

  /**
   * Takes up runs that wait for a migration this process has: at the start, when a workflow is registered, and
   * periodically.
   */
  async look(): Promise<void> {
    const { workflows, execution } = this.#deps;
    const now = execution.ports.clock.monotonic();
    const isNew = [...workflows].some(([name, workflow]) => this.#known.get(name) !== workflow);
    if (now - this.#lookedAt < (isNew ? NEW_MS : LOOK_MS)) return;
    this.#known = new Map(workflows);
    this.#lookedAt = now;
    try {
      for (const workflow of workflows.values()) await this.#lookAt(workflow);
    } catch (error) {
      execution.ports.logger.warn("waiting runs were not looked at", { error: String(error) });
    }
  }

  async #lookAt(workflow: Workflow): Promise<void> {
    const { store } = this.#deps.execution;
    let cursor = this.#cursors.get(workflow.name) ?? null;
    for (let page = 0; page < PAGES; page++) {
      const query = { status: ["waiting"], workflow: workflow.name, limit: PAGE } as const;
      const found = await store.list(cursor === null ? query : { ...query, cursor });
      for (const row of found.runs) if (this.#canTake(row, workflow)) await this.#resume(row.id, workflow);
      cursor = found.cursor;
      if (cursor === null) break;
    }
    this.#cursors.set(workflow.name, cursor);
  }

  #canTake(row: RunRow, workflow: Workflow): boolean {
    return awaitsMigration(row) && this.#tried.get(row.id) !== workflow && route(workflow, row) !== undefined;
  }

  async #resume(runId: string, workflow: Workflow): Promise<void> {
    const meta = { reason: "migration available" };
    const { row, events } = await this.#deps.acts.act(runId, (now) =>
      this.#canTake(now, workflow)
        ? { events: [{ kind: "run_resumed", step: "", meta }], actor: "worker" }
        : null,
    );
    if (events.length > 0) this.#deps.execution.engine.durable(row, events);
  }
}

/** A run that was only told to stop needs no code. */
const needsNoCode = (row: RunRow): boolean => row.control === "pausing";

const awaitsMigration = ({ status, waiting }: RunRow): boolean =>
  status === "waiting" && waiting.some(({ kind }) => kind === "migration");

/** A failed migration lets the run wait; any other error is rethrown. */
function onlyFailed(error: unknown): HoldfastError {
  if (isFailed(error)) return error;
  throw error;
}
