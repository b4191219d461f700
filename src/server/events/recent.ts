import type { EventLine } from "../../core/manage/reports/event-page.ts";
import type { Run } from "../../core/types.ts";
import type { Hub } from "./hub.ts";

/** An event in the order in which this process has heard of it. */
interface Heard {
  readonly id: string;
  readonly run: Run;
  readonly line: EventLine;
}

const MOST = 10_000;

/** The last events of all runs, for readers that come back. Their ids count within this process. */
export class Recent {
  readonly #epoch = crypto.randomUUID().slice(0, 8);
  readonly #heard: Heard[] = [];
  readonly #ids = new Map<string, string>();
  #count = 0;

  /** Begins to keep what the hub tells, before any stream listens to it. */
  async follow(hub: Hub): Promise<() => void> {
    return hub.listen({
      runs: null,
      heard: (run, lines) => {
        for (const line of lines) this.#keep(run, line);
      },
    });
  }

  get lastId(): string {
    return `${this.#epoch}.${this.#count}`;
  }

  idOf({ run, seq }: EventLine): string {
    return this.#ids.get(`${run}@${seq}`) ?? this.lastId;
  }

  /** What came after an id; `undefined` when this process doesn't know that any more, or never did. */
  after(id: string): readonly Heard[] | undefined {
    const [epoch, count] = id.split(".");
    if (epoch !== this.#epoch || !/^\d{1,15}$/.test(count ?? "")) return undefined;
    const missing = this.#count - Number(count);
    if (missing < 0 || missing > this.#heard.length) return undefined;
    return missing === 0 ? [] : this.#heard.slice(-missing);
  }

  #keep(run: Run, line: EventLine): void {
    this.#count++;
    this.#heard.push({ id: this.lastId, run, line });
    this.#ids.set(`${run.id}@${line.seq}`, this.lastId);
    const old = this.#heard.length > MOST ? this.#heard.shift() : undefined;
    if (old) this.#ids.delete(`${old.line.run}@${old.line.seq}`);
  }
}
