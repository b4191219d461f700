import { tagsIn } from "../tags.ts";
import type { RunProjection, RunRow, RunTags } from "../types.ts";
import { encode } from "../values/codec.ts";
import type { JournalEvent } from "./events.ts";
import { newProjection, projectAll } from "./project.ts";

/**
 * Adds up the journal while a run is restored, and compares the result with its row: identity, limits, usage, requests.
 * Fields that count time, or that older versions counted differently, decide nothing and are left to a check of the
 * whole store.
 */
export class RowFold {
  readonly #isChild: boolean;
  #run: RunProjection | undefined;
  #created: (JournalEvent & { kind: "run_created" }) | undefined;
  #isFork = false;

  constructor({ parent }: RunRow) {
    this.#isChild = parent !== null;
  }

  /** Starts at the beginning, or with the row from a snapshot. */
  begin(run?: RunProjection): void {
    this.#run = run;
    this.#created = undefined;
    this.#isFork = false;
  }

  /** Applies the events of one entry. */
  take(events: readonly JournalEvent[]): void {
    const [first] = events;
    if (first?.kind === "run_created") {
      this.#created = first;
      this.#run ??= newProjection(first.at, first.meta.version, first.meta.schema ?? 1);
    }
    this.#isFork ||= events.some(({ kind }) => kind === "run_forked");
    if (this.#run && !events.every(isQuiet)) this.#run = projectAll(this.#run, events, this.#isChild);
  }

  /** How a row differs; `undefined` when it doesn't, or when that can't be determined. */
  problem(row: RunRow): string | undefined {
    const run = this.#run;
    const differs = [
      ...(run ? COMPARED.filter((field) => text(run[field]) !== text(row[field])) : []),
      ...this.#identity(row),
    ];
    return differs.length === 0
      ? undefined
      : `The run's row differs from its journal: ${differs.join(", ")}.`;
  }

  #identity(row: RunRow): string[] {
    const { workflow, lineage, parent } = row;
    if (!this.#created) return [];
    const { meta } = this.#created;
    const isOther = workflow !== meta.workflow;
    const said = tagsIn(meta);
    const tags = TAGS.filter((tag) => text(said[tag]) !== text(row[tag]));
    // A fork has its own parent and lineage, not its source's.
    if (this.#isFork) return isOther ? ["workflow", ...tags] : tags;
    return [
      ...tags,
      ...(isOther ? ["workflow"] : []),
      ...(lineage === meta.lineage ? [] : ["lineage"]),
      ...(text(parent) === text(meta.parent ?? null) ? [] : ["parent"]),
    ];
  }
}

/** True for the most frequent events, which change nothing that is compared: a replay reads thousands of them. */
const isQuiet = ({ kind, meta }: JournalEvent): boolean =>
  kind === "step_started" || (kind === "step_completed" && meta.usage === undefined);

const TAGS = ["name", "labels", "queue", "key", "priority"] as const satisfies readonly (keyof RunTags)[];

const COMPARED = ["status", "control", "version", "schema", "usage", "budget", "pinned", "prunedAt"] as const;

const text = (value: unknown): string => encode(value, { sorted: true });
