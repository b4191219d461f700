import { keepRecent } from "../../core/recent.ts";
import type { Carried } from "./contract.ts";
import { JournalState } from "./journal-state.ts";
import type { Described } from "./sdk.ts";

/** Each may have as much as one answer of Temporal's. */
const MOST_COPIES = 16;

/** Runs that seemed to have ended when they were last seen. */
const MOST_HINTS = 10_000;

interface Copy {
  readonly execution: string;
  readonly state: JournalState;
}

/** How the server is asked about a run. */
interface Asking {
  /** The run's newest execution; `null` for none. */
  readonly describe: (runId: string) => Promise<Described | null>;
  readonly carried: (runId: string, execution: string) => Promise<Carried>;
}

/**
 * Copies of runs whose execution has ended. A worker forgets such an execution, so that each further query makes it
 * replay the whole history; and nothing changes in it any more.
 */
export class EndedRuns {
  readonly #asking: Asking;
  readonly #hints = new Map<string, true>();
  readonly #copies = new Map<string, Promise<Copy>>();

  constructor(asking: Asking) {
    this.#asking = asking;
  }

  /** The run seems to have ended, so that it is worth asking. */
  hint(runId: string): void {
    keepRecent(this.#hints, runId, true, MOST_HINTS);
  }

  /** The run as it ended; `undefined` for one that goes on, as far as anybody here knows. */
  async find(runId: string): Promise<JournalState | undefined> {
    if (!this.#hints.has(runId)) return undefined;
    const described = await this.#asking.describe(runId);
    if (!described || described.status.name === "RUNNING") {
      this.#hints.delete(runId);
      this.#copies.delete(runId);
      return undefined;
    }
    const { runId: execution } = described;
    const known = await this.#copies.get(runId)?.catch(() => undefined);
    if (known?.execution === execution) return known.state;
    const copied = this.#copy(runId, execution);
    keepRecent(this.#copies, runId, copied, MOST_COPIES);
    copied.catch(() => void this.#copies.delete(runId));
    return (await copied).state;
  }

  async #copy(runId: string, execution: string): Promise<Copy> {
    const state = new JournalState();
    state.restore(await this.#asking.carried(runId, execution));
    return { execution, state };
  }
}
