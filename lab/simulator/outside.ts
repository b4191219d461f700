import type { StepCall } from "../../src/core/context.ts";
import { fingerprint } from "../../src/core/hash.ts";
import type { Effect } from "../../src/core/types.ts";
import { dataDigest } from "../../src/core/values/codec.ts";
import type { WitnessCall } from "../../src/testing/witness/log.ts";
import type { Machine } from "./machine.ts";
import { deedOf } from "./names.ts";
import type { Random } from "./random.ts";

export interface Request {
  readonly effect: Effect;
  readonly args: unknown;
  /** Attempts that the receiver refuses. */
  readonly bad: readonly number[];
  /** The longest time for each direction. */
  readonly ms: number;
}

/** The value that every step of this name returns, for every caller and attempt. */
export const valueOf = (step: string): string =>
  `value of ${(deedOf(step).split("/").at(-1) ?? step).replace(/#.*$/, "")}`;

/** The outside world: records every call before it answers, and recognises keys. */
export class Outside {
  readonly calls: WitnessCall[] = [];
  readonly #random: Random;
  readonly #seen = new Map<string, string>();
  /** Values that differed between two executions of the same code. */
  readonly contradictions: { readonly runId: string; readonly message: string }[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  async receive(machine: Machine, call: StepCall, request: Request): Promise<string> {
    const { effect, args, bad, ms } = request;
    await machine.pause(this.#time(ms));
    await machine.alive();
    this.calls.push({
      n: this.calls.length,
      runId: call.runId,
      step: call.step,
      effect,
      attempt: call.attempt,
      epoch: call.epoch,
      key: fingerprint(call.key),
      args: dataDigest(args),
      caller: machine.name,
    });
    await machine.pause(this.#time(ms));
    await machine.alive();
    if (bad.includes(call.attempt))
      throw new Error(`planned failure of ${call.step}, attempt ${call.attempt}`);
    return valueOf(call.step);
  }

  saw(runId: string, step: string): boolean {
    return this.calls.some((call) => call.runId === runId && deedOf(call.step) === deedOf(step));
  }

  /** Records a value that every replay must see. */
  observe(runId: string, what: string, value: unknown): void {
    const key = `${runId} ${what}`;
    const text = JSON.stringify(value) ?? "undefined";
    const before = this.#seen.get(key);
    this.#seen.set(key, text);
    if (before === undefined || before === text) return;
    this.contradictions.push({
      runId,
      message: `A replay saw ${what} as ${text}, which was ${before} before.`,
    });
  }

  #time(ms: number): number {
    return ms === 0 || this.#random.chance(0.3) ? 0 : this.#random.int(1, ms);
  }
}
