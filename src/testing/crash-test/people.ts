import { createEngine, type Engine } from "../../core/engine/engine.ts";
import { HoldfastError } from "../../core/errors.ts";
import { lastSegment } from "../../core/keys.ts";
import type { Store } from "../../core/store/contract.ts";
import { type RunRow, terminal, type Waiting } from "../../core/types.ts";
import { decode } from "../../core/values/codec.ts";
import { expected } from "../expected.ts";
import { withParts } from "../with-parts.ts";
import type { SceneConfig, Settlement, Stuck } from "./config.ts";
import { callKey, isBegun, isEffect, isEnded, type Note } from "./notes.ts";

const ACTOR = "crash-test";
/** How often a run that failed because of the fault is resumed. */
const MOST_RESUMES = 3;
/** Longer than any time limit of a step, for calls whose process is known to be dead. */
const AHEAD_MS = 366 * 86_400_000;

/** Acts for the people around the run: answers gates, sends signals, and resolves steps by what the witness saw. */
export class People {
  readonly settled: Settlement[] = [];
  answered = 0;
  signalled = 0;
  undone = false;
  readonly #engine: Engine;
  /**
   * For resolving a step with "run it again" at once: the process that began the call is dead, so no time limit needs
   * to pass.
   */
  readonly #later: Engine;
  readonly #config: SceneConfig;
  readonly #notes: () => readonly Note[];
  readonly #resumes = new Map<string, number>();

  constructor(engine: Engine, store: Store, config: SceneConfig, notes: () => readonly Note[]) {
    this.#engine = engine;
    this.#config = config;
    this.#notes = notes;
    const ahead = withParts(store, { now: async () => (await store.now()) + AHEAD_MS });
    this.#later = createEngine({ store: ahead, execute: false });
  }

  /** Checks the unfinished runs once. Returns a wait that none of them can get past. */
  async tend(rows: readonly RunRow[]): Promise<Stuck | null> {
    let stuck: Stuck | null = null;
    for (const row of rows) {
      if (row.status === "failed") await this.#resume(row);
      for (const wait of row.waiting) stuck ??= await this.#answer(row.id, wait);
    }
    return stuck;
  }

  /** True when a failed run should continue: the fault caused it, and a person resumes it. */
  mayResume({ id, status, parent }: RunRow): boolean {
    if (status !== "failed" || parent !== null || this.#config.fault !== "throw" || this.undone) return false;
    return (this.#resumes.get(id) ?? 0) < MOST_RESUMES;
  }

  async #resume(row: RunRow): Promise<void> {
    if (!this.mayResume(row)) return;
    this.#resumes.set(row.id, (this.#resumes.get(row.id) ?? 0) + 1);
    try {
      await this.#engine.resume(row.id, { retryFailed: true, actor: ACTOR });
    } catch (error) {
      if (!HoldfastError.is(error, "HF-1007")) throw error;
      this.undone = true;
    }
  }

  async #answer(runId: string, wait: Waiting): Promise<Stuck | null> {
    const { kind, step, names = [] } = wait;
    const stuck = { kind, step, text: wait.detail ?? "" };
    switch (kind) {
      case "gate":
        return this.#open(runId, step);
      case "decision":
        return this.#decide(runId, step);
      case "signal": {
        const name = names.find((one) => Object.hasOwn(this.#config.signals, one));
        if (name !== undefined) return this.#send(runId, name, step);
        return wait.until === undefined ? { ...stuck, names, text: names.join(", ") } : null;
      }
      case "timer":
      case "child":
      case "retry":
        return null;
      default:
        return stuck;
    }
  }

  async #open(runId: string, gate: string): Promise<null> {
    const open = (await this.#engine.gates(runId)).find((one) => one.gate === gate);
    if (!open) return null;
    const { answers } = this.#config;
    const choice = answers[gate] ?? answers[lastSegment(gate)] ?? open.choices[0] ?? "";
    this.answered++;
    await expected(this.#engine.answer(runId, gate, { choice, actor: ACTOR }));
    return null;
  }

  /** The same wait always gets the same delivery, however often it is sent. */
  async #send(runId: string, name: string, step: string): Promise<null> {
    this.signalled++;
    const id = `${ACTOR}-${step}`;
    await expected(this.#engine.signal(runId, name, this.#config.signals[name], { id, actor: ACTOR }));
    return null;
  }

  /** Decides like an honest operator: done if the witness saw it, otherwise run again. */
  async #decide(runId: string, step: string): Promise<null> {
    const row = await this.#engine.get(runId);
    if (!row || terminal(row.status)) return null;
    const saw = seenOf(this.#notes(), runId, step, this.#config.known);
    const act = { actor: ACTOR, reason: "the witness was asked" };
    const resolution = saw.isDone
      ? ({ action: "done", value: saw.value, ...act } as const)
      : ({ action: "rerun", ...act } as const);
    await expected(this.#later.resolve(runId, step, resolution));
    this.settled.push({ step, effect: saw.effect, as: saw.isDone ? "done" : "rerun" });
    return null;
  }
}

/**
 * The witness's knowledge of a step with an unknown outcome. The step is done when its call returned, or when all
 * possible effects of its last call were seen; the value is then the one it returned, here or in an uninterrupted run.
 */
export function seenOf(
  notes: readonly Note[],
  runId: string,
  step: string,
  known: Readonly<Record<string, string>>,
): { readonly isDone: boolean; readonly value: unknown; readonly effect: string } {
  const mine = notes.filter((note) => note.runId === runId && note.step === step);
  const before = known[callKey({ runId, step })];
  const effect = mine.findLast(isBegun)?.effect ?? "once";
  const back = mine.filter(isEnded).findLast(({ ok }) => ok);
  if (back) return { isDone: true, value: valueOf(back.value ?? before), effect };
  const isDone = mine.some(isEffect);
  return { isDone, value: isDone ? valueOf(before) : undefined, effect };
}

const valueOf = (text: string | undefined): unknown => (text === undefined ? undefined : decode(text));
