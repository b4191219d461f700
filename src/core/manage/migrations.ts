import type { MigrationPlan, StateChange } from "../changes/migration-plan.ts";
import { checkKeys, checkText, checkWhole } from "../check-options.ts";
import type { Workflow } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import { checkId } from "../ids.ts";
import { type Act, because, checkActOptions, plan, wrongStatus } from "../journal/act.ts";
import type { ActPlan } from "../journal/acts.ts";
import { isKeyAway, loadRun } from "../journal/load.ts";
import type { EngineParts } from "../journal/parts.ts";
import { onDemand } from "../on-demand.ts";
import type { ExecutionDeps } from "../run/execution-deps.ts";
import type { ClaimChange } from "../store/contract.ts";
import { everyRun } from "../store/query.ts";
import type { Run } from "../types.ts";
import { type RunRow, type RunStatus, terminal } from "../types.ts";
import type { Outlook } from "./migrations-outlook.ts";

const migrating = onDemand(() => import("./migrating.ts"));

/** Selects runs: those of one workflow or of all registered ones, newest first. */
export interface MigrationQuery {
  readonly workflow?: string;
  /** The maximum number of runs to examine. */
  readonly limit?: number;
}

/** What happens to one run when a process with this code takes it up. */
export interface RunMigration extends Partial<Outlook> {
  readonly runId: string;
  readonly workflow: string;
  readonly status: RunStatus;
  /** The run's version, and the code's version. */
  readonly from: string;
  readonly to: string;
  /**
   * `current`: nothing to do. `parks`: it waits for the reason in `problem`: there is no path to the code's version, or
   * the code doesn't match the run's records. `next`, `at` and `missing` tell what follows, in a dry run only.
   */
  readonly outcome: "current" | "migrates" | "parks";
  /** The versions it goes through, including the last one, even if it parks after that. */
  readonly hops: readonly string[];
  readonly changes: readonly StateChange[];
  /** New paths of renamed steps, by the recorded path. */
  readonly renamed: Readonly<Record<string, string>>;
  /** Paths of recorded steps that the new code no longer asks for. */
  readonly dropped: readonly string[];
  /** Why it parks, in the run's own words. */
  readonly problem?: string;
  /** True when this call migrated it. */
  readonly applied: boolean;
}

export interface MigrationReport {
  readonly runs: readonly RunMigration[];
  readonly totals: Readonly<Record<RunMigration["outcome"], number>>;
  /** True when `limit` left runs out. */
  readonly more: boolean;
}

const UNENDED: readonly RunStatus[] = ["queued", "running", "waiting", "paused", "failed"];

/** No path, a failing migration, and unreadable data. */
const PARKING: readonly string[] = ["HF-2114", "HF-2115", "HF-2161", "HF-3010", "HF-3011", "HF-1023"];

/** The number of runs examined at once: it takes a moment to know that nothing more happens in one. */
const AT_ONCE = 64;

/**
 * Predicts what a new version of the code means for unfinished runs, for use before a deploy, and applies migrations
 * without waiting for the next worker.
 *
 * @example
 * ```ts
 * import { createEngine, workflow } from "holdfast";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const order = workflow(
 *   "order",
 *   { version: "2", migrations: [{ from: "1", to: "2", rename: { pay: "charge" } }] },
 *   async (ctx) => ctx.step("charge", ({ key }) => key, { effect: "keyed" }),
 * );
 *
 * const engine = createEngine({ store: await openSqliteStore(), workflows: [order], execute: false });
 * const { runs, totals } = await engine.migrations.check({ workflow: "order" });
 * for (const { runId, problem } of runs) if (problem) console.log(runId, problem);
 * if (totals.parks === 0) await engine.migrations.apply({ workflow: "order" }, { actor: "ada" });
 * await engine.close();
 * ```
 */
export class Migrations {
  readonly #parts: EngineParts;
  readonly #foresight: () => Promise<ExecutionDeps>;

  constructor(parts: EngineParts, foresight: () => Promise<ExecutionDeps>) {
    this.#parts = parts;
    this.#foresight = foresight;
  }

  /**
   * Predicts what a worker with this code does with unfinished runs, by doing everything but writing: each is migrated
   * in memory, and its function runs against its records, up to the first thing that would reach outside.
   */
  async check(which: string | MigrationQuery = {}): Promise<MigrationReport> {
    const deps = await this.#foresight();
    return this.#report(which, async (row) => this.#foretell(deps, row, (await this.#examine(row)).report));
  }

  async #foretell(deps: ExecutionDeps, row: RunRow, report: RunMigration): Promise<RunMigration> {
    const { foreseen, said } = await migrating();
    try {
      const { problem, ...found } = await foreseen(deps, row, this.#workflow(row.workflow));
      if (found.next !== "parks" || problem === undefined) return { ...report, ...found };
      return { ...report, ...found, problem, outcome: "parks" };
    } catch (error) {
      return { ...report, outcome: "parks", problem: said(unreadable(error)) };
    }
  }

  /** Migrates the runs that no worker has now. The others are migrated by the next worker that takes them up. */
  async apply(which: string | MigrationQuery, act: Act = {}): Promise<MigrationReport> {
    checkActOptions(act);
    return this.#report(which, (row) => this.#apply(row, act));
  }

  /**
   * Continues with the registered code despite any difference: the run counts as having its version, and recorded
   * effects that the code doesn't ask for don't hold it back. Effects with an unknown outcome must be resolved first
   * (`resolve`).
   */
  async asIs(runId: string, act: Act = {}): Promise<Run> {
    checkId(runId);
    checkActOptions(act);
    const { acts, store } = this.#parts;
    const { row, events } = await acts.act(runId, async (run) => {
      if (terminal(run.status)) throw hasEnded(run);
      const { version: to, schema } = this.#workflow(run.workflow);
      const isSame = run.version === to && run.schema === schema;
      if (!isSame && run.claim.until > (await store.now()))
        throw wrongStatus(run, "be migrated", "A worker with other code is at it.", "Pause it first.");
      const meta = { from: run.version, to, schema, asIs: true, ...because(act) } as const;
      return plan({ kind: "run_migrated", step: "", meta }, act, isSame ? undefined : fencing(run));
    });
    this.#parts.written(row, events);
    return row;
  }

  async #apply(row: RunRow, act: Act): Promise<RunMigration> {
    const { acts, store } = this.#parts;
    let report: RunMigration | undefined;
    const acted = await acts.act(row.id, async (run): Promise<ActPlan | null> => {
      if (terminal(run.status)) return null;
      const found = await this.#examine(run, act.reason);
      report = found.report;
      if (!found.plan || run.claim.until > (await store.now())) return null;
      const { events, blobs } = found.plan;
      return { events, blobs, actor: act.actor, claim: fencing(run) };
    });
    const applied = acted.events.length > 0;
    if (applied) this.#parts.written(acted.row, acted.events);
    // It ended between the list and this check.
    report ??= (await this.#examine(row)).report;
    return { ...report, applied };
  }

  /** The report on a run, and the events to write. Writes nothing. */
  async #examine(
    row: RunRow,
    reason?: string,
  ): Promise<{ readonly report: RunMigration; readonly plan?: MigrationPlan }> {
    const { noRoute, planMigration, route, said } = await migrating();
    const { store, values, ports } = this.#parts;
    const workflow = this.#workflow(row.workflow);
    const way = route(workflow, row);
    if (way?.length === 0) return { report: { ...outline(row, workflow), outcome: "current" } };
    try {
      const state = await loadRun(store, values, row);
      if (!way) throw noRoute(row, state, workflow);
      const made = await planMigration({ values, clock: ports.clock }, row, state, workflow, way, reason);
      const { hops, changes, renamed, dropped } = made;
      const found = { hops, changes, renamed, dropped, outcome: "migrates" } as const;
      return { report: { ...outline(row, workflow), ...found }, plan: made };
    } catch (error) {
      const problem = said(unreadable(error));
      return { report: { ...outline(row, workflow), outcome: "parks", problem } };
    }
  }

  #workflow(name: string): Workflow {
    const workflow = this.#parts.workflows.get(name);
    if (!workflow) throw new HoldfastError("HF-1026", { workflow: name });
    return workflow;
  }

  async #report(
    which: string | MigrationQuery,
    look: (row: RunRow) => Promise<RunMigration>,
  ): Promise<MigrationReport> {
    checkWhich(which);
    const limit = typeof which === "string" ? 1 : checkLimit(which.limit);
    const rows: RunRow[] = [];
    let more = false;
    for await (const row of typeof which === "string" ? this.#one(which) : this.#all(which)) {
      more = rows.length >= limit;
      if (more) break;
      rows.push(row);
    }
    const runs: RunMigration[] = [];
    for (let first = 0; first < rows.length; first += AT_ONCE)
      runs.push(...(await Promise.all(rows.slice(first, first + AT_ONCE).map(look))));
    const count = (outcome: RunMigration["outcome"]): number =>
      runs.filter((run) => run.outcome === outcome).length;
    const totals = { current: count("current"), migrates: count("migrates"), parks: count("parks") };
    return { runs, totals, more };
  }

  async *#one(runId: string): AsyncGenerator<RunRow> {
    checkId(runId);
    const row = await this.#parts.store.read(runId);
    if (!row) throw new HoldfastError("HF-1001", { run: runId });
    if (terminal(row.status)) throw hasEnded(row);
    if (row.prunedAt !== null) throw new HoldfastError("HF-1023", { run: runId, seq: row.seq });
    yield row;
  }

  async *#all({ workflow }: MigrationQuery): AsyncGenerator<RunRow> {
    const { store, workflows } = this.#parts;
    const names = workflow === undefined ? [...workflows.keys()] : [this.#workflow(workflow).name];
    for (const name of names) {
      yield* everyRun(store, { status: UNENDED, workflow: name, pruned: false });
    }
  }
}

const outline = (row: RunRow, workflow: Workflow): Omit<RunMigration, "outcome"> => ({
  runId: row.id,
  workflow: row.workflow,
  status: row.status,
  from: row.version,
  to: workflow.version,
  hops: [],
  changes: [],
  renamed: {},
  dropped: [],
  applied: false,
});

/** A problem with reading one run is reported with that run. Anything else is a fault of the store. */
function unreadable(error: unknown): HoldfastError {
  if (HoldfastError.is(error) && (PARKING.includes(error.code) || isKeyAway(error))) return error;
  throw error;
}

/** A worker with an expired claim may still wake up, with other code: it must not continue. */
const fencing = (row: RunRow): ClaimChange => ({ kind: row.claim.owner === null ? "keep" : "revoke" });

const hasEnded = (row: RunRow): HoldfastError =>
  wrongStatus(
    row,
    "be migrated",
    "It has ended.",
    "To continue from an earlier point, fork it from a checkpoint.",
  );

const checkLimit = (limit = Infinity): number => (limit === Infinity ? limit : checkWhole("limit", limit));

function checkWhich(which: string | MigrationQuery): void {
  if (typeof which === "string") return checkId(which);
  checkKeys(which, ["workflow", "limit"], "which");
  if (which.workflow !== undefined) checkText("workflow", which.workflow);
}
