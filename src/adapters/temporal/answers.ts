import { keepRecent } from "../../core/recent.ts";
import type { AppendAnswer } from "./contract.ts";

/** How long the answer is waited for of a sandbox that was in this process a moment ago. */
const NEAR_MS = 500;

/** The number of runs whose sandbox is known to be in this process. */
const MOST_NEAR = 10_000;

/**
 * Answers that a sandbox in this process has given by itself. Usually the sandbox of a run is where its worker is, and
 * whoever appends there needs no query.
 */
export class Answers {
  readonly #open = new Map<string, (answer: AppendAnswer) => void>();
  readonly #near = new Map<string, true>();

  /** Called by the sandbox of the run. */
  here(runId: string): void {
    keepRecent(this.#near, runId, true, MOST_NEAR);
  }

  told(runId: string, number: string, answer: AppendAnswer): void {
    this.here(runId);
    this.#open.get(number)?.(answer);
  }

  /** Sends a message and resolves with the answer, or with `undefined` when it has to be asked for. */
  async to(runId: string, number: string, send: () => Promise<unknown>): Promise<AppendAnswer | undefined> {
    const told = new Promise<AppendAnswer>((resolve) => void this.#open.set(number, resolve));
    try {
      await send();
      return this.#near.has(runId) ? await this.#soon(runId, told) : undefined;
    } finally {
      this.#open.delete(number);
    }
  }

  async #soon(runId: string, told: Promise<AppendAnswer>): Promise<AppendAnswer | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => {
        this.#near.delete(runId);
        resolve(undefined);
      }, NEAR_MS);
    });
    try {
      return await Promise.race([told, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
