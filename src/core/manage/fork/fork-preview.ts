import { fitEdits } from "../../declared-checks.ts";
import { Ancestry, CallLog, type Foreseen, foresee } from "../../journal/ancestry.ts";
import { editEvents } from "../../journal/edits.ts";
import type { JournalEvent } from "../../journal/events.ts";
import { dropped } from "../../journal/journal.ts";
import { loadRun } from "../../journal/load.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { headEventAt } from "../../journal/read.ts";
import type { Effect, EffectPolicy, Origin, RunRow } from "../../types.ts";
import { findCheckpoint } from "../checkpoints/kept.ts";
import { checkEffects, type ForkOptions } from "./fork.ts";
import { positionAt } from "./fork-child.ts";

/** The starting state of a fork, and the handling of the calls that its source has made since. */
export interface ForkPreview {
  readonly from: Origin;
  readonly effects: EffectPolicy;
  /** Calls with effects after the checkpoint, including those of children: what happens when the fork reaches them. */
  readonly calls: readonly ForeseenCall[];
  /** Runs that would be forked too when the fork reaches them. */
  readonly children: readonly ForeseenChild[];
  /** The edits that would be made. */
  readonly edits: readonly { readonly what: string; readonly name: string }[];
}

export interface ForeseenCall {
  readonly runId: string;
  readonly step: string;
  readonly effect: Effect;
  /** The source's knowledge of the call. */
  readonly status: "started" | "completed" | "failed" | "in_doubt";
  readonly attempts: number;
  /** The digest of its arguments; `null` when it declares none. */
  readonly args: string | null;
  /** The time of the last call. */
  readonly at: number;
  readonly becomes: Foreseen;
}

export interface ForeseenChild {
  readonly step: string;
  readonly runId: string;
  /** The position at which it would be forked. */
  readonly seq: number;
  /** `false`: its values are gone, and the step would fail (HF-1023). */
  readonly kept: boolean;
}

/** Changes nothing. */
export async function previewFork(
  parts: EngineParts,
  address: string,
  options: ForkOptions,
): Promise<ForkPreview> {
  const { store, values } = parts;
  const effects = checkEffects(options.effects);
  const { row, seq } = await findCheckpoint(parts, address);
  if (row.prunedAt !== null) throw dropped(row.id, seq);
  const state = await loadRun(store, values, row, seq);
  const set = options.set && (await fitEdits(parts.workflows.get(row.workflow), options.set));
  const edits = set ? (await editEvents(values, row.id, state, set)).events : [];
  const at = (await headEventAt(store, row.id, seq))?.at ?? row.updatedAt;
  const family = new Foresight(parts, effects, at);
  await family.look(row, seq);
  return {
    from: { runId: row.id, seq },
    effects,
    calls: family.calls,
    children: family.children,
    edits: edits.map((event) =>
      event.kind === "memory_written"
        ? { what: "memory", name: event.meta.name }
        : { what: event.kind === "value_edited" ? event.meta.what : event.kind, name: event.step },
    ),
  };
}

class Foresight {
  readonly calls: ForeseenCall[] = [];
  readonly children: ForeseenChild[] = [];
  readonly #parts: EngineParts;
  readonly #effects: EffectPolicy;
  readonly #at: number;

  constructor(parts: EngineParts, effects: EffectPolicy, at: number) {
    this.#parts = parts;
    this.#effects = effects;
    this.#at = at;
  }

  /** Collects what the run has done after the position, then the children it had in progress or started since. */
  async look(row: RunRow, seq: number): Promise<void> {
    const { store } = this.#parts;
    const from = { runId: row.id, seq };
    const log = new CallLog(store, row.id);
    await log.read();
    for (const call of (await new Ancestry(store, { origin: from, parent: null }).all()).values()) {
      if (call.status === "completed" && call.runId === row.id && call.seq <= seq) continue;
      if ((log.simulated(call.step) ?? Number.POSITIVE_INFINITY) <= seq) continue;
      const { runId, step, effect, status, attempt: attempts, args = null, at } = call;
      const becomes = foresee(this.#effects, call);
      this.calls.push({ runId, step, effect, status, attempts, args, at, becomes });
    }
    const under = await this.#underWay(row, from);
    for (const [step, { child, position }] of under) await this.#child(step, child, position);
    for (const { step, runId, seq: begun } of log.children()) {
      if (begun <= seq || under.has(step)) continue;
      const child = await store.read(runId);
      if (child) await this.#child(step, child, 1);
    }
  }

  async #child(step: string, row: RunRow, seq: number): Promise<void> {
    const kept = row.prunedAt === null;
    this.children.push({ step, runId: row.id, seq, kept });
    if (kept) await this.look(row, seq);
  }

  async #underWay(row: RunRow, from: Origin): Promise<Map<string, { child: RunRow; position: number }>> {
    const { store, values } = this.#parts;
    const state = await loadRun(store, values, row, from.seq);
    const meta = { from, at: this.#at, effects: this.#effects };
    const forked: JournalEvent = {
      kind: "run_forked",
      step: "",
      meta,
      seq: from.seq + 1,
      at: this.#at,
      epoch: 0,
    };
    state.apply(forked);
    const under = new Map<string, { child: RunRow; position: number }>();
    for (const [step, fork] of state.facts.childForks) {
      const child = state.find(step) ? null : await store.read(fork.runId);
      if (child) under.set(step, { child, position: await positionAt(store, child, fork) });
    }
    return under;
  }
}
