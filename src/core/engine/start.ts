import type { Workflow } from "../context.ts";
import type { Family } from "../control/family.ts";
import { defined } from "../defined.ts";
import { detached } from "../detached.ts";
import { HoldfastError } from "../errors.ts";
import { fingerprint } from "../hash.ts";
import { checkId } from "../ids.ts";
import type { Acted, ActPlan, InTheWay, NewRun } from "../journal/acts.ts";
import { readRun } from "../journal/door.ts";
import type { EventDraft, EventMeta, JournalEvent } from "../journal/events.ts";
import type { EngineParts } from "../journal/parts.ts";
import { eventAt } from "../journal/read.ts";
import type { StartOptions } from "../options.ts";
import { type GivenAlone, join, untilStart } from "../run/alone.ts";
import { type AloneOptions, type Given, givenAtStart, givenEvents } from "../run/given.ts";
import { conform } from "../standard-schema.ts";
import { DELETED_RUNS } from "../store/deleted.ts";
import { tagMeta } from "../tags.ts";
import type { EffectPolicy, Parent, RunRow, RunTags } from "../types.ts";
import { claimToken } from "../worker/claim-meta.ts";
import type { Worker } from "../worker/worker.ts";
import { checkVerb } from "./arguments.ts";

export interface StarterDeps {
  readonly parts: EngineParts;
  readonly family: Family;
  /** The name of this process in claims. */
  readonly owner: string;
  readonly claimMs: number;
  /** This process's worker, if it advances runs. */
  readonly ownWorker: () => Promise<Worker | null>;
  /** True when a run stands in a queue that has limits: it isn't claimed when it is created, but in its turn. */
  readonly isQueued: (tags: Pick<RunTags, "queue">) => Promise<boolean>;
  readonly announce: (row: RunRow, events: readonly JournalEvent[]) => void;
}

/** True for a run with a short input and nothing else: neither its function nor a guard has to read the run. */
const isBare = ({ events, blobs = [], actor }: ActPlan): boolean =>
  blobs.length === 0 &&
  actor === undefined &&
  events.every(({ kind }) => kind === "run_created" || kind === "run_claimed");

interface GivenNew extends Given {
  /** True when the id was made for this run. */
  readonly isNew?: boolean;
}

/** For a child: the input it was created with stays, whatever a replay computes. */
const NOT_GIVEN = Symbol("not given");

const checkedInput = async ({ name, input: schema }: Workflow, input: unknown): Promise<unknown> =>
  schema ? conform(schema, input, `The input of ${name}`) : input;

/** What makes the child of a fork a fork, if its source has no child that it could be one of. */
const fromItself = (runId: string, at: number, effects: EffectPolicy): EventDraft => ({
  kind: "run_forked",
  step: "",
  meta: { from: { runId, seq: 1 }, at, effects },
});

/** Creates new runs, and claims them for this process if it can take one, in one write. */
export class Starter {
  readonly #deps: StarterDeps;
  #incarnation: string | undefined;

  constructor(deps: StarterDeps) {
    this.#deps = deps;
  }

  /** Creates a run for a caller outside, and returns its id; see `create`. */
  async begin(workflow: Workflow, input: unknown, options: StartOptions): Promise<string> {
    checkVerb("start", options);
    const id = options.id ?? this.#deps.parts.ports.ids.runId();
    checkId(id);
    const given = givenAtStart(workflow, input, options);
    if (given.alone) return this.#beginAlone(workflow, id, input, { ...given, alone: given.alone });
    await this.#make(workflow, id, input, null, { ...given, isNew: options.id === undefined });
    return id;
  }

  /** Creates a run that is alone with its key, or joins the one that is there. */
  async #beginAlone(workflow: Workflow, id: string, input: unknown, given: GivenAlone): Promise<string> {
    const { parts, announce } = this.#deps;
    if (parts.store.capabilities.limits !== true)
      throw new HoldfastError("HF-5061", { store: parts.store.name });
    for (;;) {
      const made = await this.#make(workflow, id, input, null, given);
      if (!("by" in made)) return made.id;
      const checked = await checkedInput(workflow, input);
      const joined = await join(parts, { workflow: workflow.name, input: checked, given }, made.by);
      if (joined && joined !== "joined") announce(joined.row, joined.events);
      if (joined) return made.by;
    }
  }

  /** Creates the run, or returns the existing one with this id. */
  async create(
    workflow: Workflow,
    id: string,
    input: unknown,
    parent: Parent | null,
    given: Omit<Given, "alone">,
  ): Promise<RunRow> {
    return (await this.#make(workflow, id, input, parent, given)) as RunRow;
  }

  async #make(
    workflow: Workflow,
    id: string,
    input: unknown,
    parent: Parent | null,
    given: GivenNew,
  ): Promise<RunRow | InTheWay> {
    if (id === DELETED_RUNS) throw new HoldfastError("HF-1004", { id: JSON.stringify(id) });
    const { parts, owner, claimMs, ownWorker } = this.#deps;
    const { clock, ids, probe } = parts.ports;
    // A process without the code leaves the run to those that have it.
    const own = parts.workflows.has(workflow.name) ? await ownWorker() : null;
    const createdAt = parts.time.now();
    // With too little memory for another run, it is left to other workers.
    const { tags, alone, startAt = createdAt + (alone?.debounceMs ?? 0) } = given;
    const isLater = startAt > createdAt;
    const isQueued = own !== null && !isLater && (await this.#deps.isQueued(tags));
    const worker = own?.hasMemory() && !isLater && !isQueued ? own : null;
    const { name, version, schema } = workflow;
    const checked = await checkedInput(workflow, input);
    const encoded = parts.values.encode("input", checked);
    const more = givenEvents(parts.values, given);
    const kin = { lineage: id, parent, origin: null, createdAt };
    const identity = { id, workflow: name, version, schema, ...kin, ...tags };
    const born = worker ? {} : { store: await this.#store() };
    const seed = ids.id();
    const above = this.#above(parent, given);
    const meta = { workflow: name, version, schema, lineage: id, seed, ...above, ...born, ...tagMeta(tags) };
    const created = { kind: "run_created", step: "", meta, data: encoded.data } as const;
    const forked = given.effects ? [fromItself(id, createdAt, given.effects)] : [];
    const claim = worker?.claimed({ workflow: name, recoveries: 0 });
    const claimed: EventDraft[] = claim ? [{ kind: "run_claimed", step: "", meta: claim }] : [];
    const waits: EventDraft[] = isLater ? [untilStart(createdAt, startAt)] : [];
    const deadline = clock.monotonic() + claimMs;
    probe("C01:before-create", { runId: id });
    const plan: ActPlan = {
      events: [created, ...forked, ...more.events, ...claimed, ...waits],
      blobs: [...encoded.blobs, ...more.blobs],
      actor: given.actor,
      claim: worker
        ? { kind: "acquire", owner, token: claimToken(parts.ports), ttlMs: claimMs }
        : { kind: "keep" },
    };
    const joint = worker && (await this.#bear(worker, identity, plan, { ...given, deadline }));
    const acted = joint ?? (await this.#write(identity, plan, alone));
    probe("C01:after-create", { runId: id });
    if (acted && "by" in acted) return acted;
    if (!acted) return this.#existing(workflow, id, parent === null ? parts.values.echo(encoded) : NOT_GIVEN);
    if (!joint) await this.#takeUp(acted, worker, deadline, isQueued ? own : null);
    return acted.row;
  }

  /** Begins with the run, or lets it stand in its queue. */
  async #takeUp(
    { row, events }: Acted,
    worker: Worker | null,
    deadline: number,
    queued: Worker | null,
  ): Promise<void> {
    const { parts, family, announce } = this.#deps;
    announce(row, events);
    const follows = await family.follows(row);
    if (follows && worker) worker.begin(row, deadline, { events });
    else if (queued) detached(queued.seeTo(row), parts.ports.logger, "taking up a run", { runId: row.id });
  }

  /**
   * Lets the worker begin before the run is written, so that the creation travels with the first intent. Nothing is
   * called before that append is durable. `null` when the run must be written first, or is there already.
   */
  async #bear(
    worker: Worker,
    identity: NewRun,
    plan: ActPlan,
    { deadline, ...given }: GivenNew & { readonly deadline: number },
  ): Promise<Acted | null> {
    const isApart = identity.parent === null && !given.alone && isBare(plan);
    if (!isApart || !(await this.#isFree(identity.id, given))) return null;
    const birth = await this.#deps.parts.acts.expecting(identity, plan);
    // Somebody else in this process starts it at the same time.
    if (worker.active(identity.id)) return null;
    worker.begin(birth.row, deadline, { events: birth.events, birth });
    return birth.born;
  }

  /**
   * True when there is surely no such run, or when the store could say so at once. If another process creates it in
   * between, the first append is refused, and nothing has been called.
   */
  async #isFree(id: string, { isNew = false }: GivenNew): Promise<boolean> {
    const { store } = this.#deps.parts;
    return isNew || (store.capabilities.readsAtOnce === true && (await store.read(id)) === null);
  }

  /** The run and the trace that it belongs to, and why it was started. */
  #above(
    parent: Parent | null,
    { traceparent, reason }: Given,
  ): Pick<EventMeta["run_created"], "parent" | "trace" | "reason"> {
    const trace = traceparent ?? this.#deps.parts.observer?.traceparent?.(parent);
    return { ...(parent ? { parent } : {}), ...defined({ trace, reason }) };
  }

  #write(identity: NewRun, plan: ActPlan, alone: AloneOptions | undefined): Promise<Acted | InTheWay | null> {
    const { acts } = this.#deps.parts;
    if (!alone) return acts.create(identity, plan);
    return acts.createAlone(identity, plan, { key: alone.key, among: alone.among });
  }

  /** Read once: with some stores it takes several queries, which a start shouldn't repeat. */
  async #store(): Promise<string> {
    this.#incarnation ??= fingerprint((await this.#deps.parts.store.identity()).incarnation);
    return this.#incarnation;
  }

  async #existing(workflow: Workflow, id: string, input: unknown): Promise<RunRow> {
    const row = await readRun(this.#deps.parts.store, id);
    if (!row) throw new HoldfastError("HF-1001", { run: id });
    if (row.damage !== undefined) return row;
    if (row.workflow !== workflow.name)
      throw new HoldfastError("HF-1002", { run: id, workflow: row.workflow });
    if (input !== NOT_GIVEN && (await this.#isOther(id, input)))
      throw new HoldfastError("HF-1041", { run: id });
    return row;
  }

  /** True when the run was certainly created with another input. False when that can no longer be read. */
  async #isOther(id: string, input: unknown): Promise<boolean> {
    const { store, values } = this.#deps.parts;
    try {
      const created = await eventAt(store, id, 1);
      if (created?.kind !== "run_created" || created.dropped) return false;
      return values.digest(await values.decode(id, created.data)) !== values.digest(input);
    } catch {
      return false;
    }
  }
}
