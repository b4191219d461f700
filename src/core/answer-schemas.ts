import { keepRecent } from "./recent.ts";
import type { StandardSchema } from "./standard-schema.ts";

/** The maximum number of gates to remember. */
const MOST = 10_000;

/**
 * The schemas of the gates that runs of this process wait at. A gate's schema is in the code of its run, so an answer is
 * checked when it is given if the run's code has come to the gate here; otherwise the run checks it when it reads it.
 */
export class AnswerSchemas {
  readonly #schemas = new Map<string, StandardSchema>();

  expect(runId: string, gate: string, schema: StandardSchema): void {
    keepRecent(this.#schemas, addressOf(runId, gate), schema, MOST);
  }

  of(runId: string, gate: string): StandardSchema | undefined {
    return this.#schemas.get(addressOf(runId, gate));
  }
}

const addressOf = (runId: string, gate: string): string => `${runId}:${gate}`;
