import type { AuditVerification } from "../../audit/proof/result.ts";
import { checkText } from "../../check-options.ts";
import { type Reading, recordReading } from "../../control/reading.ts";
import { checkId } from "../../ids.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { onDemand } from "../../on-demand.ts";
import type { Run } from "../../types.ts";
import type { Evidence, EvidenceQuery } from "../evidence/types.ts";
import type { CountQuery, RunCounts } from "../status/count-runs.ts";
import type { NeedsPage, NeedsQuery } from "../status/needs-you.ts";
import type { QueueKeys, QueueStanding } from "../status/queue-standing.ts";
import type { StoreVerification, VerifyOptions } from "../verify/verify.ts";
import type { ActPage, ActQuery } from "./act-page.ts";
import type { CapacityReport } from "./capacity.ts";
import type { CostQuery, CostReport } from "./cost-report.ts";
import type { EffectReport } from "./effects.ts";
import type { ErrorQuery, ErrorReport } from "./error-groups.ts";
import type { EventPage, EventQuery } from "./event-page.ts";
import type { GatePage, GateQuery } from "./gate-page.ts";
import type { Lineage } from "./lineage.ts";
import type { LogPage, LogQuery } from "./log-page.ts";
import type { Outline, OutlineQuery, OutlineReader } from "./outline.ts";
import type { ReportQuery } from "./period.ts";
import type { ProgressReader, RunProgress } from "./progress-of.ts";
import type { RecoveryReport } from "./recoveries.ts";
import type { StepDetail, StepValues } from "./step-detail.ts";
import type { StepQuery, StepReport } from "./step-report.ts";
import type { AuditTrail } from "./trail.ts";

const lookups = onDemand(() => import("./lookups.ts"));

/**
 * Reports for auditors and operators, made from the heads of journals, which retention never drops. All but `trail`
 * read the journals of every run in their period, page by page; `verify` also reads all values.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 *
 * export async function monthly(engine: Engine): Promise<void> {
 *   const since = Date.now() - 30 * 86_400_000;
 *   const { violations, findings } = await engine.reports.effects({ since });
 *   console.log(violations, findings);
 *   const { incidents, runs } = await engine.reports.recoveries({ since });
 *   console.log(incidents.length, runs.completionRate);
 * }
 * ```
 */
export class Reports {
  readonly #parts: EngineParts;
  #progress: ProgressReader | undefined;
  #outlines: OutlineReader | undefined;
  readonly #verifyAudit: () => Promise<AuditVerification | null>;

  /** `verifyAudit`: what the audit log says about the journals; `null`: nothing was ever signed. */
  constructor(parts: EngineParts, verifyAudit: () => Promise<AuditVerification | null>) {
    this.#parts = parts;
    this.#verifyAudit = verifyAudit;
  }

  /** How many runs match, by status and by workflow. */
  async counts(query: CountQuery = {}): Promise<RunCounts> {
    return (await lookups()).countRuns(this.#parts.store, query);
  }

  /** How many runs of a queue are being advanced, and how many stand in line. */
  async queue(name: string): Promise<QueueStanding> {
    return (await lookups()).queueStanding(this.#parts.store, name);
  }

  /** The same by the keys of its runs. */
  async queueKeys(name: string): Promise<QueueKeys> {
    return (await lookups()).queueKeys(this.#parts.store, name);
  }

  /** The runs that don't continue unless a person does something, the costliest wait first. */
  async needsYou(query: NeedsQuery = {}): Promise<NeedsPage> {
    return (await lookups()).needsYou(this.#parts.store, query);
  }

  /** Everything that happened in a run, who did it and why, and whether the record is intact. */
  async trail(runId: string): Promise<AuditTrail> {
    checkId(runId);
    return (await lookups()).auditTrail(this.#parts, runId);
  }

  /**
   * Records in the run's journal that somebody reads values as they are stored. Call it before they are shown: whoever
   * may see them must be in the trail.
   */
  async recordReading(runId: string, reading: Reading): Promise<void> {
    checkId(runId);
    await recordReading(this.#parts, runId, reading);
  }

  /** What a run has done, does and is expected to do, step by step. No value is read for it. */
  async outline(runId: string, query: OutlineQuery = {}): Promise<Outline> {
    checkId(runId);
    const { OutlineReader } = await lookups();
    this.#outlines ??= new OutlineReader(this.#parts.store);
    return this.#outlines.of(runId, query);
  }

  /** One step of a run: its attempts, its effect class, and what a crash there would mean. Without values. */
  async step(runId: string, step: string): Promise<StepDetail> {
    checkId(runId);
    return (await lookups()).readStep(this.#parts, runId, checkText("step", step, 1));
  }

  /** The values of a step, each cut to its beginning. That they are read is recorded first (HF-6064 without a reason). */
  async stepValues(runId: string, step: string, reader: Omit<Reading, "what">): Promise<StepValues> {
    checkId(runId);
    checkText("step", step, 1);
    await recordReading(this.#parts, runId, { ...reader, what: `step ${step}`.slice(0, 200) });
    return (await lookups()).readStepValues(this.#parts, runId, step);
  }

  /** How far runs are: done of how much, as their plans say. What a list shows besides is in their rows. */
  async progress(runIds: readonly string[], where?: (run: Run) => boolean): Promise<readonly RunProgress[]> {
    const { ProgressReader } = await lookups();
    this.#progress ??= new ProgressReader(this.#parts.store);
    return this.#progress.of(runIds, where);
  }

  /** Where a run comes from, and what came of it: forks, parents and children. */
  async lineage(runId: string, where?: (run: Run) => boolean): Promise<Lineage> {
    checkId(runId);
    return (await lookups()).readLineage(this.#parts.store, runId, where);
  }

  /** What happened in a run, oldest first, one page at a time. */
  async events(runId: string, query: EventQuery = {}): Promise<EventPage> {
    checkId(runId);
    return (await lookups()).readEvents(this.#parts.store, runId, query);
  }

  /** The lines that the workflow wrote with `ctx.log`: the newest, oldest first. */
  async logs(runId: string, query: LogQuery = {}): Promise<LogPage> {
    checkId(runId);
    return (await lookups()).readLogs(this.#parts, runId, query);
  }

  /** Stores the lines of `ctx.log` that wait in memory. It happens by itself within half a second, and on `close`. */
  async storeLogs(): Promise<void> {
    await this.#parts.logs.flush();
  }

  /** Tokens and money: spent, wasted on failed attempts, saved by resuming instead of starting over. */
  async costs(query: CostQuery = {}): Promise<CostReport> {
    return (await lookups()).costReport(this.#parts.store, query);
  }

  /** The open gates of all runs, one page at a time; `engine.gates()` reads all of them. */
  async gates(query: GateQuery = {}): Promise<GatePage> {
    return (await lookups()).gatePage(this.#parts, query);
  }

  /** Failed runs in groups of the same workflow and the same kind of error, newest first. */
  async errors(query: ErrorQuery = {}): Promise<ErrorReport> {
    return (await lookups()).errorReport(this.#parts.store, query);
  }

  /** What people and programs from outside did to runs, and why, newest first. */
  async acts(query: ActQuery = {}): Promise<ActPage> {
    return (await lookups()).actPage(this.#parts.store, query);
  }

  /** How often each step was called and failed, the one that fails most first. */
  async steps(query: StepQuery = {}): Promise<StepReport> {
    return (await lookups()).stepReport(this.#parts.store, query);
  }

  /** Every takeover from a lost worker: its duration, the interrupted steps, and the result. */
  async recoveries(query: ReportQuery = {}): Promise<RecoveryReport> {
    return (await lookups()).recoveryReport(this.#parts.store, query);
  }

  /** `keyed` and `once` calls that weren't clearly made once, with the cause and the resolution. */
  async effects(query: ReportQuery = {}): Promise<EffectReport> {
    return (await lookups()).effectReport(this.#parts.store, query);
  }

  /**
   * Checks every run's row, chain, values and blobs, the store's own integrity, and the journals against the signed
   * audit log. Reports damage instead of throwing it.
   */
  async verify(options: VerifyOptions = {}): Promise<StoreVerification> {
    const found = await (await lookups()).verifyStore(this.#parts, options);
    const audit = await this.#verifyAudit();
    return { ...found, audit, ok: found.ok && audit?.ok !== false };
  }

  /** The four artefacts for auditors about one run, a month or a period, as data; `evidenceFile` makes a page of it. */
  async evidence(query: EvidenceQuery): Promise<Evidence> {
    return (await lookups()).collectEvidence(this.#parts, query);
  }

  /** The content of the store, its growth, and what retention removes. */
  async capacity(query: ReportQuery = {}): Promise<CapacityReport> {
    return (await lookups()).capacityReport(this.#parts.store, query);
  }
}
