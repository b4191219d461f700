import type { AuditVerification } from "../../audit/proof/result.ts";
import { checkText } from "../../check-options.ts";
import { type Reading, recordReading } from "../../control/reading.ts";
import { checkId } from "../../ids.ts";
import type { EngineParts } from "../../journal/parts.ts";
import type { Run } from "../../types.ts";
import { collectEvidence } from "../evidence/collect.ts";
import type { Evidence, EvidenceQuery } from "../evidence/types.ts";
import { type CountQuery, countRuns, type RunCounts } from "../status/count-runs.ts";
import { type NeedsPage, type NeedsQuery, needsYou } from "../status/needs-you.ts";
import { type QueueKeys, type QueueStanding, queueKeys, queueStanding } from "../status/queue-standing.ts";
import { type StoreVerification, type VerifyOptions, verifyStore } from "../verify/verify.ts";
import { type ActPage, type ActQuery, actPage } from "./act-page.ts";
import { type CapacityReport, capacityReport } from "./capacity.ts";
import { type CostQuery, type CostReport, costReport } from "./cost-report.ts";
import { type EffectReport, effectReport } from "./effects.ts";
import { type ErrorQuery, type ErrorReport, errorReport } from "./error-groups.ts";
import { type EventPage, type EventQuery, readEvents } from "./event-page.ts";
import { type GatePage, type GateQuery, gatePage } from "./gate-page.ts";
import { type Lineage, readLineage } from "./lineage.ts";
import { type LogPage, type LogQuery, readLogs } from "./log-page.ts";
import { type Outline, type OutlineQuery, readOutline } from "./outline.ts";
import type { ReportQuery } from "./period.ts";
import { ProgressReader, type RunProgress } from "./progress-of.ts";
import { type RecoveryReport, recoveryReport } from "./recoveries.ts";
import { readStep, readStepValues, type StepDetail, type StepValues } from "./step-detail.ts";
import { type StepQuery, type StepReport, stepReport } from "./step-report.ts";
import { type AuditTrail, auditTrail } from "./trail.ts";

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
  readonly #progress: ProgressReader;

  readonly #verifyAudit: () => Promise<AuditVerification | null>;

  /** `verifyAudit`: what the audit log says about the journals; `null`: nothing was ever signed. */
  constructor(parts: EngineParts, verifyAudit: () => Promise<AuditVerification | null>) {
    this.#parts = parts;
    this.#verifyAudit = verifyAudit;
    this.#progress = new ProgressReader(parts.store);
  }

  /** How many runs match, by status and by workflow. */
  async counts(query: CountQuery = {}): Promise<RunCounts> {
    return countRuns(this.#parts.store, query);
  }

  /** How many runs of a queue are being advanced, and how many stand in line. */
  async queue(name: string): Promise<QueueStanding> {
    return queueStanding(this.#parts.store, name);
  }

  /** The same by the keys of its runs. */
  async queueKeys(name: string): Promise<QueueKeys> {
    return queueKeys(this.#parts.store, name);
  }

  /** The runs that don't continue unless a person does something, the costliest wait first. */
  async needsYou(query: NeedsQuery = {}): Promise<NeedsPage> {
    return needsYou(this.#parts.store, query);
  }

  /** Everything that happened in a run, who did it and why, and whether the record is intact. */
  async trail(runId: string): Promise<AuditTrail> {
    checkId(runId);
    return auditTrail(this.#parts, runId);
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
    return readOutline(this.#parts.store, runId, query);
  }

  /** One step of a run: its attempts, its effect class, and what a crash there would mean. Without values. */
  async step(runId: string, step: string): Promise<StepDetail> {
    checkId(runId);
    return readStep(this.#parts, runId, checkText("step", step, 1));
  }

  /** The values of a step, each cut to its beginning. That they are read is recorded first (HF-6064 without a reason). */
  async stepValues(runId: string, step: string, reader: Omit<Reading, "what">): Promise<StepValues> {
    checkId(runId);
    checkText("step", step, 1);
    await recordReading(this.#parts, runId, { ...reader, what: `step ${step}`.slice(0, 200) });
    return readStepValues(this.#parts, runId, step);
  }

  /** How far runs are: done of how much, as their plans say. What a list shows besides is in their rows. */
  progress(runIds: readonly string[], where?: (run: Run) => boolean): Promise<readonly RunProgress[]> {
    return this.#progress.of(runIds, where);
  }

  /** Where a run comes from, and what came of it: forks, parents and children. */
  async lineage(runId: string, where?: (run: Run) => boolean): Promise<Lineage> {
    checkId(runId);
    return readLineage(this.#parts.store, runId, where);
  }

  /** What happened in a run, oldest first, one page at a time. */
  async events(runId: string, query: EventQuery = {}): Promise<EventPage> {
    checkId(runId);
    return readEvents(this.#parts.store, runId, query);
  }

  /** The lines that the workflow wrote with `ctx.log`: the newest, oldest first. */
  async logs(runId: string, query: LogQuery = {}): Promise<LogPage> {
    checkId(runId);
    return readLogs(this.#parts, runId, query);
  }

  /** Stores the lines of `ctx.log` that wait in memory. It happens by itself within half a second, and on `close`. */
  async storeLogs(): Promise<void> {
    await this.#parts.logs.flush();
  }

  /** Tokens and money: spent, wasted on failed attempts, saved by resuming instead of starting over. */
  async costs(query: CostQuery = {}): Promise<CostReport> {
    return costReport(this.#parts.store, query);
  }

  /** The open gates of all runs, one page at a time; `engine.gates()` reads all of them. */
  async gates(query: GateQuery = {}): Promise<GatePage> {
    return gatePage(this.#parts, query);
  }

  /** Failed runs in groups of the same workflow and the same kind of error, newest first. */
  async errors(query: ErrorQuery = {}): Promise<ErrorReport> {
    return errorReport(this.#parts.store, query);
  }

  /** What people and programs from outside did to runs, and why, newest first. */
  async acts(query: ActQuery = {}): Promise<ActPage> {
    return actPage(this.#parts.store, query);
  }

  /** How often each step was called and failed, the one that fails most first. */
  async steps(query: StepQuery = {}): Promise<StepReport> {
    return stepReport(this.#parts.store, query);
  }

  /** Every takeover from a lost worker: its duration, the interrupted steps, and the result. */
  recoveries(query: ReportQuery = {}): Promise<RecoveryReport> {
    return recoveryReport(this.#parts.store, query);
  }

  /** `keyed` and `once` calls that weren't clearly made once, with the cause and the resolution. */
  effects(query: ReportQuery = {}): Promise<EffectReport> {
    return effectReport(this.#parts.store, query);
  }

  /**
   * Checks every run's row, chain, values and blobs, the store's own integrity, and the journals against the signed
   * audit log. Reports damage instead of throwing it.
   */
  async verify(options: VerifyOptions = {}): Promise<StoreVerification> {
    const found = await verifyStore(this.#parts, options);
    const audit = await this.#verifyAudit();
    return { ...found, audit, ok: found.ok && audit?.ok !== false };
  }

  /** The four artefacts for auditors about one run, a month or a period, as data; `evidenceFile` makes a page of it. */
  async evidence(query: EvidenceQuery): Promise<Evidence> {
    return collectEvidence(this.#parts, query);
  }

  /** The content of the store, its growth, and what retention removes. */
  capacity(query: ReportQuery = {}): Promise<CapacityReport> {
    return capacityReport(this.#parts.store, query);
  }
}
