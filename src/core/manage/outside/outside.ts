import { fingerprint } from "../../hash.ts";
import type { Acted, ActPlan, NewRun } from "../../journal/acts.ts";
import { rawRow } from "../../journal/door.ts";
import type { EventDraft, JournalEvent } from "../../journal/events.ts";
import { ChainCheck } from "../../journal/journal.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { markWith } from "../../journal/placed-records.ts";
import { entryPages } from "../../journal/read.ts";
import { insistOn } from "../../journal/row-shape.ts";
import { isReserved } from "../../keys.ts";
import type { CheckpointTrigger } from "../../options.ts";
import type { CheckpointRecord } from "../../records.ts";
import type { Store } from "../../store/contract.ts";
import { type RunRow, terminal, type Waiting } from "../../types.ts";
import { OutsideThread, type ThreadOpening } from "./outside-thread.ts";

/** What a program outside saves: one append to its run. */
export interface OutsideSave {
  readonly workflow: string;
  readonly version: string;
  /** What the run was created with. */
  readonly input: unknown;
  readonly label: string;
  readonly trigger: CheckpointTrigger;
  readonly record: CheckpointRecord;
  /** All parts of its work by name, and those that are done. */
  readonly plan: readonly string[];
  readonly done: readonly string[];
  /** How far it is, in words. */
  readonly detail: string;
  /** What it waits for from now on: a name for people. */
  readonly awaits: string;
  /** The error that it saves; the run has failed with it until the next save. */
  readonly failure?: Error;
}

/** A position that a program has saved or read, with what is recorded there. A save is made on top of it. */
export interface OutsidePosition {
  readonly seq: number;
  readonly plan: readonly string[];
  readonly done: readonly string[];
}

/** The newest save of a run: its position, and the values of its record. */
export interface OutsideState {
  readonly at: OutsidePosition;
  readonly row: RunRow;
  readonly record: CheckpointRecord | null;
  /** The positions of all saves that have a record. */
  readonly records: readonly number[];
}

export type OutsideResult =
  | { readonly ok: true; readonly at: OutsidePosition; readonly address: string }
  /** `moved`: somebody else has saved since. `known`: it has saves, and none of them was read. */
  | {
      readonly ok: false;
      readonly reason: "moved" | "known" | "missing" | "ended";
      readonly row: RunRow | null;
    };

interface Scan {
  readonly plan: readonly string[];
  readonly done: ReadonlySet<string>;
  readonly marks: readonly (JournalEvent & { readonly kind: "checkpoint_marked" })[];
}

/**
 * Runs that no worker advances: a program outside saves its own state, each time in one append that names the position
 * of its last save. So of two programs that save the same run one is told that the other was first.
 */
export class OutsideRuns {
  readonly #parts: EngineParts;
  #store: Promise<string> | undefined;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /** The store, once it is open. */
  async store(): Promise<Pick<Store, "name" | "capabilities" | "documents">> {
    await this.#open();
    return this.#parts.store;
  }

  /** A run whose loops a program outside advances. Nothing is read or written yet. */
  thread(runId: string, opening: ThreadOpening): OutsideThread {
    return new OutsideThread(this.#parts, runId, opening);
  }

  /** The store's time. */
  async now(): Promise<number> {
    await this.#open();
    return this.#parts.time.read();
  }

  /** The newest save, from the verified journal; `null` when there is no such run. */
  async newest(runId: string): Promise<OutsideState | null> {
    await this.#open();
    const { store, values } = this.#parts;
    const row = await rawRow(store, runId);
    if (!row) return null;
    const { plan, done, marks } = await this.#scan(insistOn(row));
    const mark = marks.at(-1);
    const value = mark && (await values.of(runId, mark));
    const record = mark ? ({ table: mark.meta.record, row: value } as CheckpointRecord) : null;
    const at = { seq: row.seq, plan, done: [...done] };
    return { at, row, record, records: marks.map(({ seq }) => seq) };
  }

  /** Saves on top of `known`; `null` for the first save. */
  async save(runId: string, save: OutsideSave, known: OutsidePosition | null): Promise<OutsideResult> {
    await this.#open();
    await this.#parts.time.read();
    for (;;) {
      const row = await rawRow(this.#parts.store, runId);
      const reason = row ? await this.#refusal(insistOn(row), known) : known && "missing";
      if (reason) return { ok: false, reason, row };
      const acted = row ? await this.#continue(row, save, known) : await this.#create(runId, save);
      if (!acted) continue;
      this.#parts.written(acted.row, acted.events);
      const mark = acted.events.find(({ kind }) => kind === "checkpoint_marked");
      const at = { seq: acted.row.seq, plan: save.plan.map(stepName), done: save.done.map(stepName) };
      return { ok: true, at, address: `${runId}@${mark?.seq ?? acted.row.seq}` };
    }
  }

  /** Ends the run well; with `archive`, its records go to the archive in the same write. */
  async complete(runId: string, { archive }: { readonly archive: boolean }): Promise<void> {
    const state = await this.newest(runId);
    if (!state || terminal(state.row.status)) return;
    const drop = archive ? { drop: { entries: [], blobs: [], records: state.records, archive } } : {};
    const acted = await this.#parts.acts.act(runId, (row) =>
      terminal(row.status) ? null : { events: [{ kind: "run_completed", step: "", meta: {} }], ...drop },
    );
    if (acted.events.length > 0) this.#parts.written(acted.row, acted.events);
  }

  async #refusal(row: RunRow, known: OutsidePosition | null): Promise<"known" | "moved" | "ended" | null> {
    if (terminal(row.status)) return "ended";
    if (!known) return "known";
    if (known.seq === row.seq) return null;
    // Other acts, such as a pin or a drop of old values, don't matter.
    const { marks } = await this.#scan(row);
    return marks.some(({ seq }) => seq > known.seq) ? "moved" : null;
  }

  async #scan(row: RunRow): Promise<Scan> {
    const chain = new ChainCheck(row.id, 1, "");
    let plan: readonly string[] = [];
    const done = new Set<string>();
    const marks: (JournalEvent & { readonly kind: "checkpoint_marked" })[] = [];
    for await (const page of entryPages(this.#parts.store, row.id, 1, row.seq))
      for (const event of page.flatMap((entry) => chain.take(entry).events)) {
        if (event.kind === "plan_made") plan = event.meta.steps ?? [];
        if (event.kind === "step_completed") done.add(event.step);
        if (event.kind === "checkpoint_marked" && event.meta.record) marks.push(event);
      }
    chain.end(row.seq, row.head);
    return { plan, done, marks };
  }

  async #create(runId: string, save: OutsideSave): Promise<Acted | null> {
    const { acts, values, ports, time } = this.#parts;
    const { workflow, version } = save;
    const input = values.encode("input", save.input);
    const kin = { lineage: runId, seed: ports.ids.id(), store: await this.#open() };
    const meta = { workflow, version, schema: 1, ...kin };
    const created: EventDraft = { kind: "run_created", step: "", meta, data: input.data };
    const plan = this.#plan(save, null);
    const createdAt = time.now();
    const identity: NewRun = {
      id: runId,
      workflow,
      version,
      schema: 1,
      lineage: runId,
      parent: null,
      origin: null,
      createdAt,
    };
    return acts.create(identity, {
      ...plan,
      events: [created, ...plan.events],
      blobs: [...input.blobs, ...(plan.blobs ?? [])],
    });
  }

  #continue(row: RunRow, save: OutsideSave, known: OutsidePosition | null): Promise<Acted | null> {
    const plan = this.#plan(save, known);
    // What a program saves of a run that a person has paused is kept, and the run stays paused.
    if (row.status === "paused")
      return this.#parts.acts.write(row, { ...plan, events: plan.events.slice(0, -1) });
    const resumed: EventDraft[] =
      row.status === "failed" ? [{ kind: "run_resumed", step: "", meta: {} }] : [];
    return this.#parts.acts.write(row, { ...plan, events: [...resumed, ...plan.events] });
  }

  /** The parts that are new, the mark with its record, and what the run waits for. */
  #plan(save: OutsideSave, known: OutsidePosition | null): ActPlan {
    const { values, time } = this.#parts;
    const [steps, done] = [save.plan.map(stepName), save.done.map(stepName)];
    const isSame = known !== null && known.plan.join("\n") === steps.join("\n");
    const planned: EventDraft[] = isSame ? [] : [{ kind: "plan_made", step: "plan", meta: { steps } }];
    const before = new Set(known?.done.map(stepName));
    const fresh = [...new Set(done)].filter((step) => !before.has(step)).flatMap(finished);
    const meta = { label: save.label, trigger: save.trigger };
    const { event, blobs, record } = markWith(
      { kind: "checkpoint_marked", step: "", meta },
      save.record,
      values,
    );
    const last: EventDraft = save.failure
      ? { kind: "run_failed", step: "", meta: { message: values.headline(save.failure), steps: [] } }
      : { kind: "run_waiting", step: "", meta: { waiting: [waitFor(save, time.now())] } };
    return { events: [...planned, ...fresh, event, last], blobs, ...(record ? { record } : {}) };
  }

  /** Opens the store once; returns what names its incarnation. */
  #open(): Promise<string> {
    this.#store ??= this.#parts.store.identity().then(({ incarnation }) => fingerprint(incarnation));
    this.#store.catch(() => (this.#store = undefined));
    return this.#store;
  }
}

const finished = (step: string): EventDraft[] => [
  { kind: "step_started", step, meta: { type: "call", effect: "repeatable", attempt: 1, call: 1 } },
  { kind: "step_completed", step, meta: {} },
];

const waitFor = ({ awaits, detail }: OutsideSave, since: number): Waiting => ({
  kind: "signal",
  step: awaits,
  names: [awaits],
  since,
  detail,
});

/** The part's name as the name of a step. */
function stepName(name: string): string {
  const clean = name.replaceAll(/[/#[\]]/g, "_");
  return isReserved(clean) ? `_${clean}` : clean;
}
