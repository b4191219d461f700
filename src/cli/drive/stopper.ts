import type { Engine } from "../../core/engine/engine.ts";
import type { Act } from "../../core/journal/act.ts";
import { EXIT } from "../exit-codes.ts";
import type { Host, StopSignal } from "../host.ts";
import { messageOf } from "../modules.ts";
import { namesOf } from "../view/step-lines.ts";

/** How long a container's stop may take before the run is released as it is. */
const TERMINATE_MS = 25_000;

interface Stopping {
  readonly engine: Engine;
  readonly runId: string;
  readonly act: Act;
  readonly host: Host;
  /** `soon`: a more exact message follows at once. */
  readonly say: (text: string, soon?: boolean) => void;
}

/**
 * Handles Ctrl-C and SIGTERM. First: the run is paused, durably, after its current step. Again: it is released now, and
 * calls in progress count as unknown. A third time: the process ends at once; the record is as consistent as ever.
 */
export class Stopper {
  readonly #given: Stopping;
  readonly #off: () => void;
  #stage = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopNow = (): void => undefined;
  #exit: typeof EXIT.interrupted | typeof EXIT.resumable = EXIT.interrupted;
  /** Resolves when nothing more is waited for. */
  readonly now = new Promise<"stopped">((resolve) => {
    this.#stopNow = () => resolve("stopped");
  });

  constructor(given: Stopping) {
    this.#given = given;
    this.#off = given.host.onSignal((signal) => this.#hear(signal));
  }

  /** The exit code that the signals ask for; `undefined` when there were none. */
  get exit(): number | undefined {
    return this.#stage === 0 ? undefined : this.#exit;
  }

  #hear(signal: StopSignal): void {
    this.#stage++;
    if (this.#stage === 1) this.#pause(signal).catch(this.#stopNow);
    else if (this.#stage === 2) this.#stopNow();
    else this.#given.host.exit(this.#exit);
  }

  async #pause(signal: StopSignal): Promise<void> {
    const { engine, runId, act, say } = this.#given;
    const isTerminal = signal === "SIGINT";
    if (!isTerminal) {
      this.#exit = EXIT.resumable;
      this.#timer = setTimeout(this.#stopNow, TERMINATE_MS);
    }
    say("Pausing…", true);
    try {
      const reason = act.reason ?? (isTerminal ? "Ctrl-C" : signal);
      await engine.pause(runId, { ...act, reason, children: true });
      const names = namesOf((await engine.status(runId)).open);
      const finishing = names === "" ? "" : ` finishing ${names};`;
      say(
        `Pausing…${finishing} ${isTerminal ? "Ctrl-C again to stop now" : "stopping in 25s at the latest"}`,
      );
    } catch (error) {
      say(`The run couldn't be paused: ${messageOf(error)}`);
      this.#stopNow();
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#off();
  }
}
