import { HoldfastError } from "../core/errors.ts";
import { isUuid } from "../core/ids.ts";
import { readRun } from "../core/journal/door.ts";
import type { Checkpoints } from "../core/manage/checkpoints/checkpoints.ts";
import type { Store } from "../core/store/contract.ts";
import { everyRun } from "../core/store/query.ts";
import type { RunRow } from "../core/types.ts";
import { findRecord } from "./find-record.ts";
import { usage } from "./globals.ts";
import { readOrigin } from "./run-origin.ts";

/** An address on a command line: `run`, `run:step` or `run@place`, with the run as typed. */
export interface Written {
  readonly run: string;
  readonly step?: string;
  readonly place?: string;
}

/** Splits an address. `@last` is the newest run of all. */
export function splitAddress(text: string): Written {
  const from = text.startsWith("@") ? 1 : 0;
  const at = text.slice(from).search(/[:@]/);
  if (at < 0) return { run: text };
  const run = text.slice(0, from + at);
  const rest = text.slice(from + at + 1);
  if (rest === "")
    throw usage(
      `${text} is incomplete`,
      "A step follows the colon, and a checkpoint follows the @.",
      `${run}@last`,
    );
  return text[from + at] === ":" ? { run, step: rest } : { run, place: rest };
}

/** How many of the newest runs are searched by their name. */
const NAMED = 1_000;
const MOST_CANDIDATES = 8;

/** Resolves addresses. One grammar for every command. */
export class Addresses {
  readonly #store: Store;
  readonly #where: string;
  readonly #checkpoints: () => Promise<Checkpoints>;

  constructor(store: Store, where: string, checkpoints: () => Promise<Checkpoints>) {
    this.#store = store;
    this.#where = where;
    this.#checkpoints = checkpoints;
  }

  /**
   * The run of an address: by id, name, workflow (its latest), beginning of an id, or `@last`. Throws HF-4302 or
   * HF-4303.
   */
  async run(text: string): Promise<RunRow> {
    if (text === "@last") {
      for await (const last of everyRun(this.#store, {}, 1)) return last;
      return this.#none(text);
    }
    const exact = /^[\w-]{1,64}$/.test(text) ? await readRun(this.#store, text) : null;
    if (exact) return exact;
    const [latest] = (await this.#store.list({ workflow: text, limit: 1 })).runs;
    const { named, begun } = await this.#search(text, latest === undefined);
    const found = [named, latest ? [latest] : [], begun].find((rows) => rows.length > 0) ?? [];
    const [only, ...others] = found;
    if (!only) return this.#none(text);
    if (others.length > 0) throw ambiguous(text, found);
    return only;
  }

  /** The run and its step: `run:step`. */
  async step(text: string): Promise<{ run: RunRow; step: string | undefined }> {
    const { run, step, place } = splitAddress(text);
    if (place !== undefined)
      throw usage(
        `${text} is a checkpoint`,
        "This command takes a run, or a step of one.",
        `holdfast checkpoints show ${text}`,
      );
    return { run: await this.run(run), step };
  }

  /**
   * The checkpoint that `run@place` names, as `run@seq`. A place is a position, a label, a phase or a step (the latest
   * of it), `first`, or `last`, which is also the default. A checkpoint that has a UUID is found by that, too.
   */
  async checkpoint(text: string): Promise<{ run: RunRow; address: string }> {
    const byId = isUuid(text) ? await findRecord(this.#store, text) : undefined;
    if (byId) return byId;
    const { run: written, place = "last", step } = splitAddress(text);
    if (step !== undefined)
      throw usage(`${text} is a step`, "This command takes a checkpoint.", `${written}@${step}`);
    const run = await this.run(written);
    if (/^\d+$/.test(place)) return { run, address: `${run.id}@${place}` };
    return { run, address: await (await this.#checkpoints()).find(`${run.id}@${place}`) };
  }

  /**
   * The checkpoint of an option: `run@place` as anywhere, or only a place (`phase2`, a label, a position) of the task
   * that is named beside it.
   */
  async placed(text: string, task?: string): Promise<{ run: RunRow; address: string }> {
    const isWhole = task === undefined || isUuid(text) || splitAddress(text).place !== undefined;
    return this.checkpoint(isWhole ? text : `${(await this.run(task)).id}@${text}`);
  }

  /** Runs with this name, and runs whose id begins with it. */
  async #search(text: string, andBegun: boolean): Promise<{ named: RunRow[]; begun: RunRow[] }> {
    const [named, begun]: [RunRow[], RunRow[]] = [[], []];
    for (const row of (await this.#store.list({ name: text, limit: NAMED })).runs)
      if (row.origin === null) named.push(row);
    let seen = 0;
    for await (const row of everyRun(this.#store)) {
      if (andBegun && row.id.startsWith(text)) begun.push(row);
      // A fork begins with its source's input; the name stays the source's. Runs of earlier versions have it there.
      if (row.origin === null && seen++ < NAMED && row.name === null)
        if ((await readOrigin(this.#store, row.id)).name === text) named.push(row);
      if (!andBegun && seen >= NAMED) break;
    }
    return { named, begun };
  }

  #none(text: string): never {
    throw new HoldfastError("HF-4303", { address: text, store: this.#where });
  }
}

function ambiguous(address: string, rows: readonly RunRow[]): HoldfastError {
  const shown = rows.slice(0, MOST_CANDIDATES).map(({ id, status }) => `${id} (${status})`);
  const more = rows.length > MOST_CANDIDATES ? ` and ${rows.length - MOST_CANDIDATES} more` : "";
  return new HoldfastError("HF-4302", { address, candidates: `${shown.join(", ")}${more}` });
}
