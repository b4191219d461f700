import type { Engine } from "../../core/engine.ts";
import { type ErrorCode, HoldfastError } from "../../core/errors.ts";
import type { RunRow, Waiting } from "../../core/types.ts";
import type { WitnessClient } from "../witness.ts";
import type { ChildConfig } from "./config.ts";

/** Somebody else was faster, or it is too early: looked at again on the next round. */
const EXPECTED: readonly ErrorCode[] = ["HF-1007", "HF-1011", "HF-1012", "HF-1013", "HF-1014"];

/**
 * The people around the runs: they answer gates, send the one signal with the same delivery id each time, say what became
 * of steps in doubt by what the witness saw, cancel what is there to be cancelled. All of it can be done twice.
 */
export class Attendant {
  readonly #engine: Engine;
  readonly #witness: WitnessClient;
  readonly #config: ChildConfig;

  constructor(engine: Engine, witness: WitnessClient, config: ChildConfig) {
    this.#engine = engine;
    this.#witness = witness;
    this.#config = config;
  }

  /** Early on purpose: a signal that comes before the wait counts. */
  async greet(runId: string): Promise<void> {
    await expected(this.#engine.signal(runId, "go", "now", { id: "delivery-1", actor: "tester" }));
  }

  /** One round over the unfinished runs. */
  async tend(rows: readonly Pick<RunRow, "id" | "status" | "waiting">[]): Promise<void> {
    for (const row of rows) {
      for (const waiting of row.waiting) await expected(this.#answer(row.id, waiting));
      if (row.status === "paused" && this.#config.act?.kind === "resume") {
        await expected(this.#engine.resume(row.id, { actor: "tester" }));
      }
    }
  }

  async #answer(runId: string, { kind, step, names }: Waiting): Promise<void> {
    if (kind === "gate") await this.#engine.answer(runId, step, { choice: "yes", actor: "tester" });
    else if (kind === "decision") await this.#decide(runId, step);
    else if (kind === "signal" && names?.includes("stop")) {
      await this.#engine.cancel(runId, { compensate: true, actor: "tester" });
    } else if (kind === "review" && this.#config.act?.kind === "resume") {
      await this.#engine.resume(runId, { actor: "tester" });
    }
  }

  async #decide(runId: string, step: string): Promise<void> {
    const value = await this.#witness.seen(runId, step);
    const resolution = value === null ? ({ action: "rerun" } as const) : ({ action: "done", value } as const);
    await this.#engine.resolve(runId, step, {
      ...resolution,
      actor: "tester",
      reason: "the witness was asked",
    });
  }
}

/** Waits for an act, whose being too late or too early is no surprise. */
export async function expected(act: Promise<unknown>): Promise<void> {
  try {
    await act;
  } catch (error) {
    if (!EXPECTED.some((code) => HoldfastError.is(error, code))) throw error;
  }
}
