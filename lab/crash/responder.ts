import type { Engine } from "../../src/core/engine/engine.ts";
import { approvalOf, isUndo } from "../../src/core/keys.ts";
import type { Effect, RunRow, Waiting } from "../../src/core/types.ts";
import { expected } from "../../src/testing/expected.ts";
import type { WitnessClient } from "../../src/testing/witness/witness.ts";
import type { ChildConfig } from "./config.ts";
import { deedOf } from "./names.ts";

/**
 * Simulates the people around the runs: they answer gates, send the one signal with the same delivery id each time,
 * resolve steps in doubt by what the witness saw, and cancel what should be cancelled. All of it can be repeated.
 */
export class Responder {
  readonly #engine: Engine;
  readonly #witness: WitnessClient;
  readonly #config: ChildConfig;

  constructor(engine: Engine, witness: WitnessClient, config: ChildConfig) {
    this.#engine = engine;
    this.#witness = witness;
    this.#config = config;
  }

  /** Sent early on purpose: a signal that arrives before its wait counts. */
  async greet(runId: string): Promise<void> {
    await expected(this.#engine.signal(runId, "go", "now", { id: "delivery-1", actor: "tester" }));
  }

  /** One round over the unfinished runs. */
  async tend(rows: readonly Pick<RunRow, "id" | "status" | "waiting">[]): Promise<void> {
    for (const row of rows) {
      // A worker with other code may have renamed the step since the list was read (HF-1010).
      for (const waiting of row.waiting) await expected(this.#answer(row.id, waiting), ["HF-1010"]);
      if (row.status === "paused" && this.#config.act?.kind === "resume") await this.resume(row.id);
    }
  }

  /** Resumes as planned, twice, like a person who double-clicks. */
  async resume(runId: string): Promise<void> {
    const { act } = this.#config;
    if (act?.kind !== "resume") return;
    const { kind: _, ...options } = act;
    const click = () => expected(this.#engine.resume(runId, { ...options, actor: "tester" }));
    await (act.id === undefined ? click() : Promise.all([click(), click()]));
  }

  async #answer(runId: string, { kind, step, names }: Waiting): Promise<void> {
    if (kind === "gate") await this.#open(runId, step);
    else if (kind === "decision") await this.#decide(runId, step);
    else if (kind === "signal" && names?.includes("stop")) {
      await this.#engine.cancel(runId, { compensate: true, actor: "tester" });
    } else if (kind === "review" && this.#config.act?.kind === "resume") {
      await this.#engine.resume(runId, { actor: "tester" });
    }
  }

  async #open(runId: string, gate: string): Promise<void> {
    const approval = approvalOf(gate);
    if (!approval) return void (await this.#engine.answer(runId, gate, { choice: "yes", actor: "tester" }));
    const asked = (await this.#engine.gates(runId)).find((one) => one.gate === gate);
    if (!asked || this.#config.until === "settled") return;
    const { digest, show } = asked;
    // A person lets a fork repeat a call that it has made itself only where the receiver knows it by its key.
    const isKnown = (show as { readonly effect?: Effect }).effect === "keyed";
    if (approval.isFork && !isKnown && (await this.#witness.seen(runId, deedOf(approval.step))) !== null)
      return;
    const choice = approval.isFork ? "call" : "approve";
    await this.#engine.answer(runId, gate, { choice, digest, actor: "tester" });
  }

  async #decide(runId: string, step: string): Promise<void> {
    const value = await this.#witness.seen(runId, deedOf(step));
    // A run that is being cancelled repeats only its undo steps.
    const isOver = (await this.#engine.get(runId))?.control === "compensating" && !isUndo(step);
    const undone = isOver ? ({ action: "failed" } as const) : ({ action: "rerun" } as const);
    const resolution = value === null ? undone : ({ action: "done", value } as const);
    await this.#engine.resolve(runId, step, {
      ...resolution,
      actor: "tester",
      reason: "the witness was asked",
    });
  }
}
