import type { Logger } from "../../logger.ts";
import type { RunRow } from "../../types.ts";
import { describeRun } from "./status.ts";

/** Tells a program that waits for a run what it is waiting for, once for each reason: a process is never silent for no visible reason. */
export class Waits {
  readonly #logger: Logger;
  readonly #owner: string;
  #said = "";

  constructor(logger: Logger, owner: string) {
    this.#logger = logger;
    this.#owner = owner;
  }

  say(row: RunRow, now: number): void {
    const reason = this.#reason(row, now);
    if (reason === undefined || reason === this.#said) return;
    this.#said = reason;
    this.#logger.info(`${row.id}: ${reason}`, { runId: row.id });
  }

  #reason(row: RunRow, now: number): string | undefined {
    const { status, claim } = row;
    if (status === "waiting" || status === "paused") return describeRun(row).headline;
    const isElsewhere = claim.owner !== null && claim.owner !== this.#owner && claim.until > now;
    return isElsewhere ? `${claim.owner} has it` : undefined;
  }
}
