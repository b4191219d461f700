import { badOption, checkText } from "../check-options.ts";
import type { GateAnswer } from "../context.ts";
import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import { checkAct, type NamedAct, plan, told, wrongStatus } from "../journal/act.ts";
import { readRun } from "../journal/door.ts";
import { isLosingAll } from "../journal/dropped.ts";
import type { EventDraft } from "../journal/events.ts";
import { actOn, type EngineParts } from "../journal/parts.ts";
import type { StepRecord } from "../journal/records.ts";
import { insistOn } from "../journal/row-shape.ts";
import { checkSeen } from "../journal/seen-position.ts";
import type { RunState } from "../journal/state.ts";
import type { Encoded } from "../journal/values.ts";
import { isApproval, isUndo } from "../keys.ts";
import { answerOf } from "../run/fitting.ts";
import { conform } from "../standard-schema.ts";
import { everyRun } from "../store/query.ts";
import { type RunRow, terminal } from "../types.ts";
import { sentBefore } from "./repeats.ts";
import { requestersOf } from "./requesters.ts";

/** A person's decision about a step whose outcome is unknown. */
export type Resolution =
  /** `newKey`: uses another idempotency key, if the step allows it (`onKeyRejected: "new-key"`). */
  | { readonly action: "rerun"; readonly newKey?: boolean }
  | { readonly action: "done"; readonly value?: unknown }
  | { readonly action: "failed"; readonly error?: unknown }
  | { readonly action: "cancel" };

/** A person's answer at a gate. */
export interface Answer extends NamedAct {
  readonly choice: string;
  /** Free text, if the gate accepts it. */
  readonly text?: string;
  /** The data that the gate asks for, if it has a schema for it. */
  readonly data?: unknown;
  /** The digest of what the answer is for; refused when something else is shown by now. */
  readonly digest?: string;
}

/** A gate that waits for an answer. */
export interface OpenGate {
  readonly runId: string;
  readonly gate: string;
  readonly show: unknown;
  readonly choices: readonly string[];
  /** The consequences of choices, as far as the workflow or the engine names them. */
  readonly means: Readonly<Record<string, string>>;
  readonly text: boolean;
  /** True when an answer must carry data: the gate has a schema for it. */
  readonly data: boolean;
  /** True when whoever asked for the run can't answer. */
  readonly fourEyes: boolean;
  /** The digest of what is shown; an answer for it is refused once something else is shown. */
  readonly digest: string;
  readonly since: number;
  readonly until: number | null;
}

/** The part of an open gate that the journal holds. */
export type Shown = Pick<OpenGate, "show" | "choices" | "text"> & {
  readonly means?: Readonly<Record<string, string>>;
  readonly data?: true;
  readonly fourEyes?: true;
};

/** The gate as it is shown to people. */
export const openGate = (
  runId: string,
  gate: string,
  shown: Shown,
  { args = "", since, until }: Pick<StepRecord, "args" | "since" | "until">,
): OpenGate => ({
  runId,
  gate,
  ...shown,
  means: shown.means ?? (isApproval(gate) ? meansOf(shown.choices) : {}),
  data: shown.data === true,
  fourEyes: shown.fourEyes === true,
  digest: args,
  since,
  until: until ?? null,
});

/** The consequences of the choices in questions before a call. */
const MEANS: Readonly<Record<string, string>> = {
  approve: "The call is made, with exactly these arguments.",
  deny: "The call is not made, and the step fails.",
  call: "The call is made again, under a key of its own.",
  reuse: "Nothing is called: the result that the source has recorded is taken.",
  done: "Nothing is called: the run continues as if the call had returned nothing.",
};

const meansOf = (choices: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(MEANS).filter(([choice]) => choices.includes(choice)));

/** The runs that may be parked at a gate. */
export const PARKED = { status: ["waiting"] } as const;

/** True when the row says that the run waits at a gate: only then its journal needs to be read. */
export const isAtGate = ({ waiting }: Pick<RunRow, "waiting">): boolean =>
  waiting.some(({ kind }) => kind === "gate");

/** The questions that a run asks people: answers at gates, and the outcomes of steps in doubt. Each is decided once. */
export class Decisions {
  readonly #deps: EngineParts;

  constructor(deps: EngineParts) {
    this.#deps = deps;
  }

  async gates(runId: string): Promise<OpenGate[]> {
    const { folds, values } = this.#deps;
    const row = await this.#read(runId);
    const state = await folds.open(row);
    const open = [...state.steps()].filter(
      ([gate, record]) => record.type === "gate" && record.status === "started" && !whyClosed(row, gate),
    );
    return Promise.all(
      open.map(async ([gate, record]) =>
        openGate(runId, gate, (await values.of(runId, record)) as Shown, record),
      ),
    );
  }

  /** The gates of all runs parked at one, longest open first. */
  async allGates(): Promise<OpenGate[]> {
    const found: OpenGate[] = [];
    for await (const row of everyRun(this.#deps.store, PARKED))
      if (isAtGate(row)) found.push(...(await this.gates(row.id)));
    return found.sort((a, b) => a.since - b.since);
  }

  async answer(runId: string, gate: string, answer: Answer): Promise<GateAnswer> {
    checkText("gate", gate, 1);
    checkAnswer(answer);
    const { store, values } = this.#deps;
    let given: GateAnswer | undefined;
    await actOn(this.#deps, runId, async (row) => {
      const before = await sentBefore(this.#deps, row, "answer", answer.id);
      if (before?.step === gate && before.kind === "gate_answered" && before.choice === answer.choice) {
        given = (await values.of(runId, before)) as GateAnswer;
        return null;
      }
      await checkSeen(store, row, answer);
      const at = await store.now();
      const { record, shown } = await this.#openGate(row, gate, at);
      checkFits(gate, answer, shown, record);
      if (shown.fourEyes) await this.#checkApart(row, gate, answer);
      await this.#checkData(runId, gate, answer, shown);
      const { text, data } = answer;
      given = {
        choice: answer.choice,
        ...defined({ text, data }),
        actor: answer.actor ?? "unknown",
        at,
        timedOut: false,
      };
      const encoded = values.encode(gate, given);
      const meta = { digest: record.args ?? "", choice: answer.choice, ...told(answer) };
      const event = { kind: "gate_answered", step: gate, meta, data: encoded.data } as const;
      return plan(event, answer, undefined, encoded);
    });
    return given as GateAnswer;
  }

  /** Refuses the answer of whoever asked for the run, and of somebody who doesn't say who they are. */
  async #checkApart(row: RunRow, gate: string, { actor = "" }: Answer): Promise<void> {
    if (actor !== "" && !(await requestersOf(this.#deps, row)).has(actor)) return;
    throw new HoldfastError("HF-6052", { actor: actor || "Somebody without a name", gate, run: row.id });
  }

  /** Refuses data that the run's code would refuse; what it makes of the rest is up to it. */
  async #checkData(runId: string, gate: string, { data }: Answer, shown: Shown): Promise<void> {
    if (!shown.data && data !== undefined) throw badOption("data", "this gate takes no data");
    const schema = shown.data && this.#deps.answerSchemas.of(runId, gate);
    if (schema) await conform(schema, data, answerOf(gate));
  }

  /** The gate, if it can be answered at this time; otherwise throws the reason. */
  async #openGate(row: RunRow, gate: string, at: number): Promise<{ record: StepRecord; shown: Shown }> {
    const { folds, values } = this.#deps;
    const run = row.id;
    const closed = (why: string) => new HoldfastError("HF-1013", { run, gate, why });
    const open = (await folds.open(row)).find(gate);
    // Why it isn't open is told by the whole journal.
    const record = open?.status === "started" ? open : (await folds.at(row)).find(gate);
    if (record?.type !== "gate") throw closed("It hasn't been opened yet, or no gate has this name.");
    if (record.reopened) throw closed("It expired, and is opened again when the run gets there.");
    if (record.status === "failed") throw expired(run, gate, record, "The run was told so.");
    const value = await values.of(run, record);
    if (record.status === "completed") throw answered(run, gate, record, value as GateAnswer);
    const why = whyClosed(row, gate);
    if (why) throw closed(why);
    if (record.until !== undefined && at >= record.until)
      throw expired(run, gate, record, "The run continues without an answer.");
    return { record, shown: value as Shown };
  }

  /** Refuses a step that is not in doubt. */
  async checkInDoubt(runId: string, step: string): Promise<void> {
    checkText("step", step, 1);
    await this.#inDoubt(await this.#read(runId), step);
  }

  async resolve(
    runId: string,
    step: string,
    resolution: Exclude<Resolution, { action: "cancel" }> & NamedAct,
  ): Promise<RunRow> {
    checkText("step", step, 1);
    checkAct(resolution);
    return actOn(this.#deps, runId, async (row) => {
      const before = await sentBefore(this.#deps, row, "resolve", resolution.id);
      if (before?.step === step) return null;
      await checkSeen(this.#deps.store, row, resolution);
      const { record, state } = await this.#inDoubt(row, step);
      const isRekeyed = resolution.action === "rerun" && resolution.newKey === true;
      if (isRekeyed && !record.newKey) throw new HoldfastError("HF-2173", { step });
      // A run that is being cancelled only starts undos, so the outcome of the first call would never be learned.
      if (resolution.action === "rerun" && row.control === "compensating" && !isUndo(step)) {
        const fix = "Say whether it was done.";
        throw wrongStatus(row, `call ${step} again`, "It is being cancelled.", fix);
      }
      if (resolution.action === "rerun" && (await this.#deps.store.now()) < (record.rerunAfter ?? 0)) {
        throw new HoldfastError("HF-1012", { step, after: new Date(record.rerunAfter ?? 0).toISOString() });
      }
      const encoded = this.#resolved(step, resolution);
      const rekeyed = isRekeyed ? { call: unusedCall(state, step) } : {};
      const meta = { action: resolution.action, ...told(resolution), ...rekeyed };
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

  async #inDoubt(row: RunRow, step: string): Promise<{ record: StepRecord; state: RunState }> {
    if (terminal(row.status)) throw new HoldfastError("HF-1011", { step, run: row.id });
    const state = await this.#deps.folds.at(row);
    const record = state.find(step);
    if (!record) throw new HoldfastError("HF-1010", { run: row.id, step });
    if (record.status !== "in_doubt") throw new HoldfastError("HF-1011", { step, run: row.id });
    return { record, state };
  }

  /**
   * Records the late result of a fenced worker. It settles the step if nothing else has. `first`: the key under which the
   * step began, because the worker's code may know it by a name that a migration has changed since.
   */
  async evidence(
    runId: string,
    first: string,
    attempt: number,
    encoded: Pick<Encoded, "data" | "blobs">,
  ): Promise<void> {
    await actOn(this.#deps, runId, async (row) => {
      const { store, folds } = this.#deps;
      if (await isLosingAll(store, row)) return null;
      // Evidence is kept even if other parts of the run can't be read.
      const state = await folds.at(row).catch(() => undefined);
      const event: EventDraft = {
        kind: "step_evidence",
        step: state?.keyNow(first) ?? first,
        meta: { attempt },
        data: encoded.data,
      };
      return plan(event, { actor: "worker" }, undefined, encoded);
    });
  }

  async #read(runId: string): Promise<RunRow> {
    const row = await readRun(this.#deps.store, runId);
    if (!row) throw new HoldfastError("HF-1001", { run: runId });
    return insistOn(row);
  }
}

/** Why a gate of the run is closed, regardless of the gate's own record. */
function whyClosed({ status, control }: RunRow, gate: string): string | undefined {
  if (terminal(status)) return "The run has ended.";
  if (control === "compensating" && !isUndo(gate)) return "The run is being cancelled.";
  return undefined;
}

function checkAnswer(answer: Answer): void {
  checkAct(answer);
  for (const option of ["choice", "text", "digest"] as const) {
    const value: unknown = answer[option];
    if (value !== undefined || option === "choice") checkText(option, value);
  }
}

function checkFits(gate: string, { choice, text, digest }: Answer, shown: Shown, record: StepRecord): void {
  const { choices } = shown;
  if (!choices.includes(choice))
    throw new HoldfastError("HF-1015", { choice, gate, choices: choices.join(", ") });
  if (text !== undefined && !shown.text) throw badOption("text", "this gate takes no free text");
  if (digest !== undefined && digest !== record.args) throw new HoldfastError("HF-1016", { gate });
}

function answered(run: string, gate: string, record: StepRecord, answer: GateAnswer): HoldfastError {
  const { choice, actor, at, timedOut } = answer;
  if (timedOut) return expired(run, gate, record, `What counts as given is ${choice}.`);
  return new HoldfastError("HF-1014", { gate, run, choice, actor, at: new Date(at).toISOString() });
}

const expired = (run: string, gate: string, { until = 0 }: StepRecord, became: string): HoldfastError =>
  new HoldfastError("HF-2150", { run, gate, until: new Date(until).toISOString(), became });

/** A call number that gives the step a key this run has never used. */
function unusedCall(state: RunState, step: string): number {
  const first = state.firstKey(step);
  const calls = [...state.steps()].flatMap(([key, record]) =>
    (record.first ?? key) === first ? [record.call] : [],
  );
  return Math.max(0, ...calls) + 1;
}
