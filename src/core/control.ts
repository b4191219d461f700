import type { ActPlan, Acts, Decide } from "./acts.ts";
import type { GateAnswer } from "./context.ts";
import { HoldfastError } from "./errors.ts";
import type { EventDraft, JournalEvent } from "./events.ts";
import { lastEvent, loadRun } from "./load.ts";
import type { Ports } from "./ports.ts";
import type { StepRecord } from "./replay.ts";
import { checkName } from "./scope.ts";
import type { ClaimChange, Store } from "./store.ts";
import { ended, type RunRow, terminal } from "./types.ts";
import type { Encoded, Values } from "./values.ts";

/** Who acts and why. Recorded with the act. */
export interface Act {
  readonly actor?: string;
  readonly reason?: string;
}

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

interface Deps {
  readonly store: Store;
  readonly acts: Acts;
  readonly values: Values;
  readonly ports: Ports;
  /** Called with what was written, once it is durable. */
  written(row: RunRow, events: readonly JournalEvent[]): void;
}

/** What people and other programs can do to a run. Every act is one conditional append, so races have one winner. */
export class Control {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async #act(runId: string, decide: Decide): Promise<RunRow> {
    const { row, events } = await this.#deps.acts.act(runId, decide);
    if (events.length > 0) this.#deps.written(row, events);
    return row;
  }

  pause(runId: string, act: Act): Promise<RunRow> {
    return this.#act(runId, (row) => {
      if (row.status === "paused" || row.control === "pausing") return null;
      if (row.control === "compensating") throw beingCancelled(row, "be paused");
      if (ended(row.status)) throw wrongStatus(row, "be paused", "It is not running.", "Nothing to do.");
      return plan({ kind: "pause_requested", step: "", meta: because(act) }, act);
    }).then((row) => {
      this.#deps.ports.probe("C15:pause-requested", { runId });
      return row;
    });
  }

  resume(runId: string, act: Act & { retryFailed?: boolean }): Promise<RunRow> {
    return this.#act(runId, async (row) => {
      if (row.status === "queued" || (row.status === "running" && row.control === "none")) return null;
      const review = row.status === "waiting" && row.waiting.some((wait) => wait.kind === "review");
      if (row.control === "compensating" && !review) throw beingCancelled(row, "be resumed");
      if (row.status === "failed" && (await this.#compensated(row))) {
        throw wrongStatus(
          row,
          "be resumed",
          "Its steps were undone when it failed.",
          "Fork it from a checkpoint, or start a new run.",
        );
      }
      if (row.status !== "paused" && row.status !== "failed" && row.control !== "pausing" && !review)
        throw cannotResume(row);
      const meta = { ...because(act), ...(act.retryFailed ? { retryFailed: true } : {}) };
      return plan({ kind: "run_resumed", step: "", meta }, act);
    }).then((row) => {
      this.#deps.ports.probe("C16:resumed", { runId });
      return row;
    });
  }

  /** Resumes a failed run unless that was done for this very reason before. */
  async resumeOnce(runId: string, reason: string): Promise<void> {
    await this.#act(runId, async (row) => {
      if (row.status !== "failed") return null;
      const last = await lastEvent(this.#deps.store, row, ["run_resumed"]);
      if (last?.kind === "run_resumed" && last.meta.reason === reason) return null;
      return plan({ kind: "run_resumed", step: "", meta: { reason } }, { actor: "parent" });
    });
  }

  async #compensated(row: RunRow): Promise<boolean> {
    const event = await lastEvent(this.#deps.store, row, ["run_failed"]);
    return event?.kind === "run_failed" && event.meta.compensated === true;
  }

  cancel(runId: string, act: Act & { compensate?: boolean }): Promise<RunRow> {
    this.#deps.ports.probe("C17:before-cancel", { runId });
    return this.#act(runId, (row) => {
      if (row.status === "cancelled" || (row.control === "compensating" && act.compensate)) return null;
      if (row.status === "completed")
        throw wrongStatus(row, "be cancelled", "It has finished.", "Nothing to do.");
      const meta = because(act);
      if (act.compensate) return plan({ kind: "cancel_requested", step: "", meta }, act);
      return plan({ kind: "run_cancelled", step: "", meta }, act, { kind: "revoke" });
    }).then((row) => {
      this.#deps.ports.probe("C17:after-cancel", { runId });
      return row;
    });
  }

  async signal(runId: string, name: string, payload: unknown, options: Act & { id?: string }): Promise<void> {
    checkName(name);
    const { values, ports, store } = this.#deps;
    const encoded = values.encode(`signal:${name}`, payload);
    const id = options.id ?? ports.ids.id();
    await this.#act(runId, async (row) => {
      if (terminal(row.status))
        throw wrongStatus(row, "take a signal", "It has ended.", "Start or fork a run.");
      if (options.id !== undefined) {
        const known = (await loadRun(store, values, row)).signals.find((one) => one.id === id);
        if (
          known &&
          (known.name !== name ||
            (known.data !== undefined && JSON.stringify(known.data) !== JSON.stringify(encoded.data)))
        ) {
          throw new HoldfastError("HF-1020", { id, run: runId });
        }
        if (known) return null;
      }
      return plan(
        { kind: "signal_received", step: "", meta: { name, id }, data: encoded.data },
        options,
        undefined,
        encoded,
      );
    });
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

  async resolve(runId: string, step: string, resolution: Resolution & Act): Promise<RunRow> {
    if (resolution.action === "cancel") {
      await this.#inDoubt(await this.#read(runId), step);
      return this.cancel(runId, resolution);
    }
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
    await this.#act(runId, () =>
      plan(
        { kind: "step_evidence", step, meta: { attempt }, data: encoded.data },
        { actor: "worker" },
        undefined,
        encoded,
      ),
    );
  }

  /** Tells the parent how its child ended, then notes on the child that it was told. */
  async notifyParent(child: RunRow): Promise<void> {
    const { parent, status } = child;
    const { store, values } = this.#deps;
    const ending = await lastEvent(store, child, ["run_completed", "run_failed", "run_cancelled"]);
    if (parent && (await store.read(parent.runId))) {
      await this.#act(parent.runId, async (row) => {
        if (terminal(row.status)) return null;
        const record = (await loadRun(store, values, row)).find(parent.step);
        if (record?.status !== "started" || record.child !== child.id) return null;
        const message = child.error ?? "It was cancelled.";
        const failure =
          status === "completed"
            ? undefined
            : values.encode(parent.step, new HoldfastError("HF-2107", { child: child.id, status, message }));
        const data = failure ? failure.data : ending?.data;
        const event: EventDraft = {
          kind: "child_finished",
          step: parent.step,
          meta: { child: child.id, status },
          ...(data === undefined ? {} : { data }),
        };
        return plan(event, {}, undefined, failure);
      });
    }
    await this.#act(child.id, (row) =>
      row.wakeAt === null || row.status !== status
        ? null
        : plan({ kind: "parent_notified", step: "", meta: {} }, {}),
    );
  }

  async #read(runId: string): Promise<RunRow> {
    const row = await this.#deps.store.read(runId);
    if (!row) throw new HoldfastError("HF-1001", { run: runId });
    return row;
  }
}

const because = (act: Act): { reason?: string } => (act.reason === undefined ? {} : { reason: act.reason });

function plan(event: EventDraft, act: Act, claim?: ClaimChange, encoded?: Pick<Encoded, "blobs">): ActPlan {
  return {
    events: [event],
    actor: act.actor,
    ...(claim ? { claim } : {}),
    ...(encoded ? { blobs: encoded.blobs } : {}),
  };
}

const wrongStatus = (row: RunRow, verb: string, why: string, fix: string): HoldfastError =>
  new HoldfastError("HF-1007", { run: row.id, status: row.status, verb, why, fix });

const beingCancelled = (row: RunRow, verb: string): HoldfastError =>
  wrongStatus(
    row,
    verb,
    "It is being cancelled, and what it did is being undone.",
    "Wait until it has ended.",
  );

function cannotResume(row: RunRow): HoldfastError {
  if (terminal(row.status))
    return wrongStatus(row, "be resumed", "It has ended.", "Fork it from a checkpoint to go on from there.");
  const what = row.waiting.map((wait) => `${wait.kind} ${wait.step}`).join(", ");
  return wrongStatus(row, "be resumed", `It waits for: ${what}.`, "Answer or resolve what it waits for.");
}
