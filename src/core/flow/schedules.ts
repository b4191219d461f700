import { badOption, checkKeys, checkWhole } from "../check-options.ts";
import type { Workflow } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import { type Act, checkAct } from "../journal/act.ts";
import { readRun } from "../journal/door.ts";
import type { Moment, ScheduleOptions } from "../schedule-options.ts";
import type { Run } from "../types.ts";
import { checkSchedule, checkScheduleName, definitionDigest, moment } from "./check-schedule.ts";
import type { FlowDeps } from "./flow-deps.ts";
import { type Held, Kept, UNCHANGED } from "./kept.ts";
import {
  edited,
  editOf,
  isScheduleRecord,
  newRecord,
  redefined,
  tickRunId,
  ticksOfRecord,
  viewOf,
} from "./schedule-record.ts";
import type { Schedule, ScheduleDefinition, ScheduleEdit, ScheduleRecord } from "./schedule-types.ts";

/** Who changes a schedule, and why; with `version`, the change is refused if it has changed since (HF-5108). */
export interface ScheduleAct extends Act {
  readonly version?: string | undefined;
}

/** A schedule and the workflow that it starts. */
export type ScheduleInput = ScheduleOptions & { readonly workflow: string | Workflow<never, unknown> };

/** The ticks from `from` to `to`, both included. */
export interface BackfillRange {
  readonly from: Moment;
  readonly to: Moment;
}

export interface BackfillOptions extends ScheduleAct {
  /** Says which runs would be started, and starts none. */
  readonly dryRun?: boolean | undefined;
}

export interface BackfillReport {
  /** The runs that were started, in order of their ticks. */
  readonly started: readonly string[];
  /** The runs of ticks that had one already. */
  readonly existing: readonly string[];
}

export interface NextOptions {
  /** Default 1, at most 1,000. */
  readonly count?: number;
  /** Default: now. */
  readonly after?: Moment;
}

/** The most runs that one backfill starts. */
const MOST_BACKFILLED = 1_000;

const ACT = ["actor", "reason", "version"] as const;

/**
 * Starts runs at set times. Every engine that advances runs also minds the schedules of its store; each tick starts one
 * run, whose id is derived from the schedule and the tick.
 *
 * @example
 * ```ts
 * import { createEngine, workflow } from "holdfast";
 * import { createMemoryStore } from "holdfast/stores/memory";
 *
 * const report = workflow("report", async (ctx, input: { team: string }) =>
 *   ctx.step("write", () => `Report for ${input.team}`),
 * );
 *
 * const engine = createEngine({ store: createMemoryStore(), workflows: [report] });
 * await engine.schedules.create("nightly", {
 *   workflow: report,
 *   input: { team: "billing" },
 *   cron: "0 2 * * *",
 *   timezone: "Europe/Berlin",
 * });
 * console.log(await engine.schedules.next("nightly", { count: 3 }));
 * ```
 */
export class Schedules {
  readonly #deps: FlowDeps;
  readonly #kept: Kept<ScheduleRecord>;
  /** Called after every change, so that this process acts on it at once. */
  #changed: () => void = () => undefined;

  constructor(deps: FlowDeps) {
    this.#deps = deps;
    this.#kept = schedulesKept(deps);
  }

  /** @internal */
  onChange(listener: () => void): void {
    this.#changed = listener;
  }

  /** Creates a schedule. Throws HF-5104 if there is one with this name. */
  async create(name: string, { workflow, ...options }: ScheduleInput, act: Act = {}): Promise<Schedule> {
    checkScheduleName(name);
    this.#check(act);
    const definition = checkSchedule(name, this.#workflowName(workflow), options);
    const now = await this.#deps.now();
    const record = newRecord(definition, now, editOf("create", now, act));
    if (ticksOfRecord(record).next(now) === null) throw new HoldfastError("HF-5103", { name });
    const written = await this.#kept.replace(name, null, record);
    if (!written) throw new HoldfastError("HF-5104", { kind: "schedule", name });
    return this.#done(written, now);
  }

  /** Changes options of a schedule; an option that is `null` is removed. */
  async update(
    name: string,
    changes: Partial<{ readonly [K in keyof ScheduleInput]: ScheduleInput[K] | null }>,
    act: ScheduleAct = {},
  ): Promise<Schedule> {
    const workflow = changes.workflow ? this.#workflowName(changes.workflow) : undefined;
    return this.#change(name, act, "update", (record, now, edit) => {
      const { workflow: before, ...kept } = record.definition;
      const options = merged(kept, changes);
      return redefined(record, checkSchedule(name, workflow ?? before, options), now, edit);
    });
  }

  /** All schedules, in order of their names. */
  async list(): Promise<readonly Schedule[]> {
    const now = await this.#deps.now();
    return (await this.#kept.all()).map((held) => viewOf(held, now));
  }

  /** One schedule, or `null`. */
  async get(name: string): Promise<Schedule | null> {
    checkScheduleName(name);
    const held = await this.#kept.read(name);
    return held && viewOf(held, await this.#deps.now());
  }

  /** Stops its ticks. Runs that it has started continue. */
  pause(name: string, act: ScheduleAct = {}): Promise<Schedule> {
    return this.#change(name, act, "pause", (record, now, edit) => {
      if (record.paused) return UNCHANGED;
      const { act: _, ...paused } = edit;
      return edited({ ...record, paused: { ...paused, at: now } }, edit);
    });
  }

  /** Lets it tick again. Ticks from the time of the pause aren't made up for; `backfill` starts them. */
  resume(name: string, act: ScheduleAct = {}): Promise<Schedule> {
    return this.#change(name, act, "resume", (record, now, edit) =>
      record.paused ? edited({ ...record, paused: null, from: now }, edit) : UNCHANGED,
    );
  }

  /** Removes a schedule with its history. Its runs stay. */
  async delete(name: string, act: ScheduleAct = {}): Promise<void> {
    const held = await this.#held(name, act);
    await this.#kept.change(name, (_, version) => {
      checkCurrent(name, version, act);
      return null;
    });
    this.#deps.logger.info("schedule deleted", {
      schedule: name,
      workflow: held.value.definition.workflow,
      actor: act.actor ?? "",
      reason: act.reason ?? "",
    });
    this.#changed();
  }

  /** Starts a run now, whatever the schedule's times, even while another run is in progress. */
  async trigger(
    name: string,
    { id, input, ...act }: ScheduleAct & { readonly id?: string; readonly input?: unknown } = {},
  ): Promise<Run> {
    const { definition } = (await this.#held(name, act)).value;
    const flow = this.#codeOf(definition);
    const given = input === undefined ? definition : { ...definition, input };
    const runId = id ?? this.#deps.newRunId();
    const now = await this.#deps.now();
    const why = await this.#deps.start(flow, runId, name, given, now);
    if (why !== undefined) throw new HoldfastError("HF-5109", { name, why });
    await this.#change(name, { ...act, version: undefined }, "trigger", (record, _, edit) =>
      edited(record, edit),
    );
    const row = await readRun(this.#deps.store, runId);
    if (!row) throw new HoldfastError("HF-1001", { run: runId });
    return row;
  }

  /** Starts the runs of all ticks in a range that have none yet, at once and whatever `overlap` says. */
  async backfill(
    name: string,
    range: BackfillRange,
    { dryRun = false, ...act }: BackfillOptions = {},
  ): Promise<BackfillReport> {
    const [from, to] = [moment("from", range.from), moment("to", range.to)];
    if (from === undefined || to === undefined || to < from)
      throw badOption("to", "the range needs a from and a to that is not before it");
    const { value } = await this.#held(name, act);
    const ticks = ticksBetween(value, from, to);
    if (!ticks) throw new HoldfastError("HF-5105", { name, most: MOST_BACKFILLED });
    const [started, existing]: [string[], string[]] = [[], []];
    const flow = dryRun ? null : this.#codeOf(value.definition);
    for (const tick of ticks) {
      const runId = tickRunId(name, tick);
      const isThere = (await readRun(this.#deps.store, runId)) !== null;
      const why =
        isThere || !flow ? undefined : await this.#deps.start(flow, runId, name, value.definition, tick);
      if (why !== undefined) throw new HoldfastError("HF-5109", { name, why });
      (isThere ? existing : started).push(runId);
    }
    if (dryRun) return { started, existing };
    await this.#change(name, { ...act, version: undefined }, "backfill", (record, _, edit) =>
      edited(record, edit),
    );
    return { started, existing };
  }

  /** The next ticks, in epoch milliseconds, without their jitter, even while it is paused. */
  async next(name: string, options: NextOptions = {}): Promise<readonly number[]> {
    const { value } = await this.#held(name);
    return nextTicks(value, await this.#deps.now(), options);
  }

  /** The ticks that a schedule with these options would have if it were created now. Stores nothing. */
  async preview(options: ScheduleOptions, next: NextOptions = {}): Promise<readonly number[]> {
    const now = await this.#deps.now();
    const record = newRecord(checkSchedule("preview", "preview", options), now, editOf("create", now, {}));
    return nextTicks(record, now, next);
  }

  /**
   * Creates what code declares if it is missing, and replaces it only when the declaration itself has changed since it
   * was last declared, so that edits by operators last.
   *
   * @internal
   */
  async declare(name: string, definition: ScheduleDefinition): Promise<void> {
    const now = await this.#deps.now();
    const declared = definitionDigest(definition);
    const edit = editOf("declare", now, { actor: "code" });
    await this.#kept.change(name, (current) => {
      if (current === null) return { ...newRecord(definition, now, edit), declared };
      if (current.declared === declared) return UNCHANGED;
      return { ...redefined(current, definition, now, edit), declared };
    });
  }

  async #change(
    name: string,
    act: ScheduleAct,
    what: ScheduleEdit["act"],
    next: (record: ScheduleRecord, now: number, edit: ScheduleEdit) => ScheduleRecord | typeof UNCHANGED,
  ): Promise<Schedule> {
    checkScheduleName(name);
    this.#check(act);
    const now = await this.#deps.now();
    const edit = editOf(what, now, act);
    const held = await this.#kept.change(name, (current, version) => {
      if (current === null) throw new HoldfastError("HF-5100", { kind: "schedule", name });
      checkCurrent(name, version, act);
      return next(current, now, edit);
    });
    if (!held) throw new HoldfastError("HF-5100", { kind: "schedule", name });
    return this.#done(held, now);
  }

  async #held(name: string, act: ScheduleAct = {}): Promise<Held<ScheduleRecord>> {
    checkScheduleName(name);
    this.#check(act);
    const held = await this.#kept.read(name);
    if (!held) throw new HoldfastError("HF-5100", { kind: "schedule", name });
    checkCurrent(name, held.version, act);
    return held;
  }

  #done(held: Held<ScheduleRecord>, now: number): Schedule {
    this.#changed();
    return viewOf(held, now);
  }

  #check(act: ScheduleAct): void {
    checkKeys(act, ACT);
    checkAct(act);
    this.#deps.checkReason(act);
  }

  #workflowName(workflow: string | Workflow<never, unknown>): string {
    if (typeof workflow === "string") return workflow;
    this.#deps.register(workflow);
    return workflow.name;
  }

  #codeOf({ workflow }: ScheduleDefinition): Workflow {
    const found = this.#deps.workflows.get(workflow);
    if (!found) throw new HoldfastError("HF-5106", { workflow });
    return found;
  }
}

function nextTicks(
  record: ScheduleRecord,
  now: number,
  { count = 1, after }: NextOptions,
): readonly number[] {
  checkWhole("count", count, 1, 1_000);
  const ticks = ticksOfRecord(record);
  const found: number[] = [];
  for (let at = moment("after", after) ?? now; found.length < count; ) {
    const tick = ticks.next(at);
    if (tick === null) break;
    found.push(tick);
    at = tick;
  }
  return found;
}

/** Options after a change. Another way of saying when it ticks replaces the one before. */
function merged(
  before: object,
  { workflow: _, ...changes }: object & { workflow?: unknown },
): ScheduleOptions {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const isTimed = given.some(([key, value]) => WAYS.includes(key) && value !== null);
  const kept = Object.entries(before).filter(([key]) => !isTimed || ![...WAYS, "timezone"].includes(key));
  return Object.fromEntries([...new Map([...kept, ...given])].filter(([, value]) => value !== null));
}

const WAYS: readonly string[] = ["cron", "everyMs", "at"];

function checkCurrent(name: string, version: string | null, { version: expected }: ScheduleAct): void {
  if (expected === undefined || version === null || version === expected) return;
  throw new HoldfastError("HF-5108", { kind: "schedule", name, version, expected: expected.slice(0, 80) });
}

/** The schedules of a store. */
export const schedulesKept = ({ documents, newVersion }: FlowDeps): Kept<ScheduleRecord> =>
  new Kept({ documents, newVersion, kind: "schedule", isValid: isScheduleRecord });

/** The ticks of a range; `undefined` when there are too many. */
function ticksBetween(record: ScheduleRecord, from: number, to: number): number[] | undefined {
  const ticks = ticksOfRecord(record);
  const found: number[] = [];
  for (let tick = ticks.next(from - 1); tick !== null && tick <= to; tick = ticks.next(tick)) {
    if (found.length === MOST_BACKFILLED) return undefined;
    found.push(tick);
  }
  return found;
}
