import { writeSync } from "node:fs";
import type { Point, Probe } from "../../src/core/ports.ts";
import type { Append, AppendResult, Store } from "../../src/core/store/contract.ts";
import { withParts } from "../../src/testing/with-parts.ts";
import type { AckedWrite } from "../../src/testing/witness/log.ts";
import type { ChildConfig, Strike } from "./config.ts";

export const FROZEN = "frozen";

/** Announces the stop, then stops this process until it gets SIGCONT. */
export function freeze(): void {
  writeSync(1, `${FROZEN}\n`);
  process.kill(process.pid, "SIGSTOP");
}

/** Counts this process's writes and protocol points, and kills or freezes it at the configured one. */
export class FaultInjector {
  readonly #config: ChildConfig;
  readonly #acks: number;
  readonly points: Partial<Record<Point, number>> = {};
  readonly refused: Record<string, number> = {};
  writes = 0;
  /** The writes among them made under a claim. */
  #claimed = 0;

  /** `acks`: the descriptor of the file that records acknowledged appends. */
  constructor(config: ChildConfig, acks: number) {
    this.#config = config;
    this.#acks = acks;
  }

  readonly probe: Probe = (point) => {
    const nth = (this.points[point] ?? 0) + 1;
    this.points[point] = nth;
    this.#strike((strike) => "point" in strike && strike.point === point && strike.nth === nth);
  };

  /** Wraps the store so that every write is counted and every acknowledgement is recorded before the engine sees it. */
  wrap(store: Store): Store {
    const transaction: Store["transaction"] = async (work, build) => {
      // Only the owner of a run has one.
      const strike = this.#write(true);
      strike("before");
      let built: Append | undefined;
      const done = await inner(work, (value) => (built = build(value)));
      if (built) this.#note([built], [done.result]);
      strike("after");
      return done;
    };
    const inner = store.transaction?.bind(store) as NonNullable<Store["transaction"]>;
    return withParts(store, {
      append: (batch) => this.#append(store, batch),
      ...(store.transaction ? { transaction } : {}),
    });
  }

  async #append(store: Store, batch: readonly Append[]): Promise<readonly AppendResult[]> {
    const strike = this.#write(batch.some(({ expect }) => (expect?.token ?? null) !== null));
    strike("before");
    const results = await store.append(batch);
    this.#note(batch, results);
    strike("after");
    return results;
  }

  /** Counts a write and returns a function that injects the fault before or after it. */
  #write(isClaimed: boolean): (side: "before" | "after") => void {
    const nth = ++this.writes;
    const nthClaimed = isClaimed ? ++this.#claimed : 0;
    return (side) =>
      this.#strike(
        (strike) =>
          "write" in strike &&
          strike.side === side &&
          strike.write === (strike.claimed === true ? nthClaimed : nth),
      );
  }

  #note(batch: readonly Append[], results: readonly AppendResult[]): void {
    const lines = batch.flatMap((append, index) => {
      const result = results[index];
      if (!result?.ok) {
        const reason = result?.reason ?? "unanswered";
        this.refused[reason] = (this.refused[reason] ?? 0) + 1;
        return [];
      }
      return append.entries.map(({ seq, head }) => {
        const ack: AckedWrite = { runId: append.run.id, seq, head };
        return `${JSON.stringify(ack)}\n`;
      });
    });
    if (lines.length > 0) writeSync(this.#acks, lines.join(""));
  }

  /** A signal to the own process takes effect before the call returns: nothing after it runs. */
  #strike(isHere: (strike: Strike) => boolean): void {
    const { kill, freeze: frozen } = this.#config;
    if (kill && isHere(kill)) process.kill(process.pid, "SIGKILL");
    if (frozen && isHere(frozen)) freeze();
  }
}
