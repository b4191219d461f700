import { type Reading, recordReading } from "../../control/reading.ts";
import { checkId } from "../../ids.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { type StoreVerification, type VerifyOptions, verifyStore } from "../verify/verify.ts";
import { type CapacityReport, capacityReport } from "./capacity.ts";
import { type EffectReport, effectReport } from "./effects.ts";
import type { ReportQuery } from "./period.ts";
import { type RecoveryReport, recoveryReport } from "./recoveries.ts";
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

  constructor(parts: EngineParts) {
    this.#parts = parts;
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

  /** Every takeover from a lost worker: its duration, the interrupted steps, and the result. */
  recoveries(query: ReportQuery = {}): Promise<RecoveryReport> {
    return recoveryReport(this.#parts.store, query);
  }

  /** `keyed` and `once` calls that weren't clearly made once, with the cause and the resolution. */
  effects(query: ReportQuery = {}): Promise<EffectReport> {
    return effectReport(this.#parts.store, query);
  }

  /**
   * Checks every run's row, chain, values and blobs, and the store's own integrity. Reports damage instead of throwing
   * it.
   */
  verify(options: VerifyOptions = {}): Promise<StoreVerification> {
    return verifyStore(this.#parts, options);
  }

  /** The content of the store, its growth, and what retention removes. */
  capacity(query: ReportQuery = {}): Promise<CapacityReport> {
    return capacityReport(this.#parts.store, query);
  }
}
