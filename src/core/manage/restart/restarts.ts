import type { Workflow } from "../../context.ts";
import { HoldfastError } from "../../errors.ts";
import { checkId } from "../../ids.ts";
import type { Act } from "../../journal/act.ts";
import { checkActOptions } from "../../journal/act.ts";
import { isUnreadable } from "../../journal/load.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { readRow } from "../../journal/positions.ts";
import { eventAt } from "../../journal/read.ts";
import { onDemand } from "../../on-demand.ts";
import { type Given, givenAnew } from "../../run/given.ts";
import type { Run } from "../../types.ts";
import type { EffectAudit } from "./audit.ts";

const auditing = onDemand(() => import("./audit.ts"));

export interface RestartOptions extends Act {
  /** The new run's id. Default: the old one's with `-fresh` after it, so that a second call creates no second run. */
  readonly id?: string;
  /** The new run's input. Default: the old one's. */
  readonly input?: unknown;
}

export interface Restarted {
  readonly run: Run;
  /** What the old run did, or may have done, that the new one could do again. */
  readonly audit: EffectAudit;
}

/** The config key under which a fresh run keeps where it comes from, and what may happen twice. */
const RESTART_KEY = "$restart";

type Create = (workflow: Workflow, id: string, input: unknown, parent: null, given: Given) => Promise<Run>;

/**
 * Starts runs again from the beginning that can't be restored: their state is damaged, or the code is of another major
 * version. Of the old run, only its input and config are used, and it stays as it is.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 *
 * export async function again(engine: Engine, runId: string) {
 *   const { effects } = await engine.restarts.audit(runId);
 *   if (effects.length > 0) console.table(effects); // what could happen twice
 *   const { run } = await engine.restarts.start(runId, { actor: "ada", reason: "the disk was damaged" });
 *   return engine.result(run.id);
 * }
 * ```
 */
export class Restarts {
  readonly #parts: EngineParts;
  readonly #create: Create;

  constructor(parts: EngineParts, create: Create) {
    this.#parts = parts;
    this.#create = create;
  }

  /** Lists the `once` and `keyed` effects that a fresh start could repeat. Starts nothing. */
  async audit(runId: string): Promise<EffectAudit> {
    checkId(runId);
    const { store } = this.#parts;
    return (await auditing()).auditEffects(store, await readRow(store, runId));
  }

  /** Starts the run's workflow again with the same input, as a new run that keeps the audit in its config. */
  async start(runId: string, options: RestartOptions = {}): Promise<Restarted> {
    checkId(runId);
    checkActOptions(options, ["id", "input"]);
    const row = await readRow(this.#parts.store, runId);
    const workflow = this.#parts.workflows.get(row.workflow);
    if (!workflow) throw new HoldfastError("HF-1026", { workflow: row.workflow });
    const id = options.id ?? freshId(row.id);
    checkId(id);
    const { auditEffects } = await auditing();
    const audit = await auditEffects(this.#parts.store, row);
    const old = await this.#given(row.id, options);
    const { actor, reason } = options;
    const about = { of: row.id, version: row.version, actor: actor ?? null, reason: reason ?? null };
    const config = {
      ...old.config,
      [RESTART_KEY]: { ...about, complete: audit.complete, effects: audit.effects },
    };
    const given = givenAnew(workflow, old.input, { config });
    return { run: await this.#create(workflow, id, old.input, null, given), audit };
  }

  /** The input and config of the old run, from its first entry. */
  async #given(
    run: string,
    options: RestartOptions,
  ): Promise<{ input: unknown; config: Readonly<Record<string, unknown>> }> {
    const { store, values } = this.#parts;
    const config = await this.#config(run);
    if ("input" in options) return { input: options.input, config };
    const created = await eventAt(store, run, 1);
    if (created?.kind !== "run_created" || created.dropped) throw new HoldfastError("HF-4364", { run });
    try {
      return { input: await values.decode(run, created.data), config };
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      throw new HoldfastError("HF-4364", { run }, { cause: error });
    }
  }

  async #config(run: string): Promise<Readonly<Record<string, unknown>>> {
    const { store, values } = this.#parts;
    for (const seq of [2, 3]) {
      const event = await eventAt(store, run, seq);
      if (event?.kind !== "value_edited" || event.meta.what !== "config" || event.dropped) continue;
      try {
        const config = await values.decode(run, event.data);
        return typeof config === "object" && config !== null ? { ...config } : {};
      } catch (error) {
        if (!isUnreadable(error)) throw error;
      }
    }
    return {};
  }
}

const LONGEST = 64;

/** `a` → `a-fresh` → `a-fresh2`. */
export function freshId(id: string): string {
  const [, base = id, number] = /^(.+)-fresh(\d*)$/.exec(id) ?? [];
  const ending = number === undefined ? "-fresh" : `-fresh${Number(number || 1) + 1}`;
  return `${base.slice(0, LONGEST - ending.length)}${ending}`;
}
