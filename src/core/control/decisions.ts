import type { GateAnswer } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import { type Act, because, plan } from "../journal/act.ts";
import type { Decide } from "../journal/acts.ts";
import type { EventDraft } from "../journal/events.ts";
import { loadRun } from "../journal/load.ts";
import type { EngineParts } from "../parts.ts";
import type { StepRecord } from "../run/replay.ts";
import { type RunRow, terminal } from "../types.ts";
import type { Encoded } from "../values/values.ts";

/** What a person says about a step whose outcome is unknown. */
export type Resolution =
  | { readonly action: "rerun" }
  | { readonly action: "done"; readonly value?: unknown }
  | { readonly action: "failed"; readonly error?: unknown }
  | { readonly action: "cancel" };

export interface OpenGate {
  readonly runId: string;
  readonly gate: string;
  readonly show: unknown;
  readonly choices: readonly string[];
  readonly text: boolean;
  /** Digest of what is shown; an answer given for it is refused once something else is shown. */
  readonly digest: string;
  readonly since: number;
  readonly until: number | null;
}

/** What a run asks of people: answers at gates, and what became of a step whose outcome is unknown. Each is decided once. */
export class Decisions {
  readonly #deps: EngineParts;

  constructor(deps: EngineParts) {
    this.#deps = deps;
  }

  async #act(runId: string, decide: Decide): Promise<RunRow> {
    const { row, events } = await this.#deps.acts.act(runId, decide);
    if (events.length > 0) this.#deps.written(row, events);
    return row;
  }

  async gates(runId: string): Promise<OpenGate[]> {
    const { store, values } = this.#deps;
    const row = await this.#read(runId);
    const state = await loadRun(store, values, row);
    const open = [...state.steps()].filter(
      ([, record]) => record.type === "gate" && record.status === "started",
    );
    return Promise.all(
      open.map(async ([gate, record]) => {
        const shown = (await values.of(runId, record)) as Pick<OpenGate, "show" | "choices" | "text">;
        return {
          runId,
          gate,
          ...shown,
          digest: record.args ?? "",
          since: record.since,
          until: record.until ?? null,
        };
      }),
    );
  }

  async answer(
    runId: string,
    gate: string,
    answer: { choice: string; text?: string; digest?: string } & Act,
  ): Promise<GateAnswer> {
    const { values } = this.#deps;
    let given: GateAnswer | undefined;
    await this.#act(runId, async (row) => {
      if (terminal(row.status)) throw new HoldfastError("HF-1013", { run: runId, gate });
      const { record, shown } = await this.#openGate(row, gate);
      if (!shown.choices.includes(answer.choice)) {
        throw new HoldfastError("HF-1015", {
          choice: answer.choice,
          gate,
          choices: shown.choices.join(", "),
        });
      }
      if (answer.text !== undefined && !shown.text)
        throw new HoldfastError("HF-1003", { option: "text", problem: "this gate takes no free text" });
      if (answer.digest !== undefined && answer.digest !== record.args)
        throw new HoldfastError("HF-1016", { gate });
      const now = await this.#deps.store.now();
      if (record.until !== undefined && now >= record.until)
        throw new HoldfastError("HF-1013", { run: runId, gate });
      const text = answer.text === undefined ? {} : { text: answer.text };
      given = {
        choice: answer.choice,
        ...text,
        actor: answer.actor ?? "unknown",
        at: now,
        timedOut: false,
      };
      const encoded = values.encode(gate, given);
      const meta = { digest: record.args ?? "", choice: answer.choice };
      return plan(
        { kind: "gate_answered", step: gate, meta, data: encoded.data },
        answer,
        undefined,
        encoded,
      );
    });
    return given as GateAnswer;
  }

  async #openGate(
    row: RunRow,
    gate: string,
  ): Promise<{ record: StepRecord; shown: Pick<OpenGate, "choices" | "text"> }> {
    const { store, values } = this.#deps;
    const record = (await loadRun(store, values, row)).find(gate);
    if (record?.type !== "gate" || record.status === "failed")
      throw new HoldfastError("HF-1013", { run: row.id, gate });
    const value = await values.of(row.id, record);
    if (record.status === "completed") {
      const { choice, actor, at } = value as GateAnswer;
      throw new HoldfastError("HF-1014", {
        gate,
        run: row.id,
        choice,
        actor,
        at: new Date(at).toISOString(),
      });
    }
    return { record, shown: value as Pick<OpenGate, "choices" | "text"> };
  }

  /** Refuses a step that is not in doubt. */
  async checkInDoubt(runId: string, step: string): Promise<void> {
    await this.#inDoubt(await this.#read(runId), step);
  }

  resolve(
    runId: string,
    step: string,
    resolution: Exclude<Resolution, { action: "cancel" }> & Act,
  ): Promise<RunRow> {
    return this.#act(runId, async (row) => {
      const record = await this.#inDoubt(row, step);
      if (resolution.action === "rerun" && (await this.#deps.store.now()) < (record.rerunAfter ?? 0)) {
        throw new HoldfastError("HF-1012", { step, after: new Date(record.rerunAfter ?? 0).toISOString() });
      }
      const encoded = this.#resolved(step, resolution);
      const meta = { action: resolution.action, ...because(resolution) };
      const event: EventDraft = {
        kind: "step_resolved",
        step,
        meta,
        ...(encoded ? { data: encoded.data } : {}),
      };
      return plan(event, resolution, undefined, encoded);
    });
  }

  #resolved(step: string, resolution: Resolution): Encoded | undefined {
    const { values } = this.#deps;
    if (resolution.action === "done") return values.encode(step, resolution.value);
    if (resolution.action !== "failed") return undefined;
    return values.encode(step, resolution.error ?? new Error(`${step} was marked as failed by hand.`));
  }

  async #inDoubt(row: RunRow, step: string): Promise<StepRecord> {
    const { store, values } = this.#deps;
    if (terminal(row.status)) throw new HoldfastError("HF-1011", { step, run: row.id });
    const record = (await loadRun(store, values, row)).find(step);
    if (!record) throw new HoldfastError("HF-1010", { run: row.id, step });
    if (record.status !== "in_doubt") throw new HoldfastError("HF-1011", { step, run: row.id });
    return record;
  }

  /** A fenced worker's result: kept, and it settles the step if nothing else has yet. */
  async evidence(
    runId: string,
    step: string,
    attempt: number,
    encoded: Pick<Encoded, "data" | "blobs">,
  ): Promise<void> {
    await this.#act(runId, async (row) => {
      const { store, values } = this.#deps;
      // Evidence is kept whatever else of the run can be read.
      const state = await loadRun(store, values, row).catch(() => undefined);
      const event: EventDraft = {
        kind: "step_evidence",
        step: state?.keyNow(step) ?? step,
        meta: { attempt },
        data: encoded.data,
      };
      return plan(event, { actor: "worker" }, undefined, encoded);
    });
  }

  async #read(runId: string): Promise<RunRow> {
    const row = await this.#deps.store.read(runId);
    if (!row) throw new HoldfastError("HF-1001", { run: runId });
    return row;
  }
}
