import { HoldfastError } from "../../core/errors.ts";
import type { EventLine } from "../../core/manage/reports/event-page.ts";
import { Outlet } from "./outlet.ts";
import type { StreamOptions } from "./stream-options.ts";
import { type Batch, textOf } from "./told.ts";

const PAGE = 500;

/** Follows named runs. Its ids are the positions of all of them, so any server can go on from one exactly. */
export class NamedStream extends Outlet {
  readonly #options: StreamOptions;
  readonly #runs: readonly string[];
  readonly #positions = new Map<string, number>();
  /** Runs whose journals have to be read, because what was heard isn't what comes next. */
  readonly #behind = new Set<string>();
  #isReading = false;
  #leave: () => void = () => undefined;

  constructor(options: StreamOptions, runs: readonly string[]) {
    super(options.clock);
    this.#options = options;
    this.#runs = [...new Set(runs)].sort();
  }

  protected override async begin(): Promise<void> {
    const { lastId, after, engine, hub } = this.#options;
    const given = lastId === null ? null : positionsIn(lastId, this.#runs.length);
    await hub.ready();
    this.#leave = hub.listen({ runs: new Set(this.#runs), heard: (batch) => this.#heard(batch) });
    try {
      for (const [index, id] of this.#runs.entries()) {
        const at = given?.[index] ?? after ?? (await engine.get(id))?.seq ?? 0;
        this.#positions.set(id, at);
        this.#behind.add(id);
      }
    } catch (error) {
      this.#leave();
      throw error;
    }
    // A reader that is cut off before the first event comes back with this.
    this.say(`: following\nid: ${this.#id}\n\n`);
    this.#read();
  }

  protected override stop(): void {
    this.#leave();
  }

  get #id(): string {
    return `r.${this.#runs.map((run) => this.#positions.get(run) ?? 0).join(".")}`;
  }

  #heard({ told }: Batch): void {
    const texts: string[] = [];
    for (const { line, text } of told) {
      const known = this.#positions.get(line.run);
      // Before it has begun, reading finds the same.
      if (known === undefined || line.seq <= known) continue;
      if (!this.#isReading && this.isPrompt && line.seq === known + 1) texts.push(this.#take(line, text));
      else this.#behind.add(line.run);
    }
    this.say(texts.join(""));
    if (this.#behind.size > 0) this.#read();
  }

  #take(line: EventLine, text: string): string {
    this.#positions.set(line.run, line.seq);
    return `id: ${this.#id}\n${text}`;
  }

  /** One reading at a time, as fast as the reader takes it. */
  #read(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    const all = async (): Promise<void> => {
      for (const id of this.#behind) {
        this.#behind.delete(id);
        await this.#catchUp(id);
      }
    };
    all()
      .catch((error: unknown) => this.fail(error))
      .finally(() => {
        this.#isReading = false;
        if (this.#behind.size > 0 && !this.isOver) this.#read();
      });
  }

  async #catchUp(id: string): Promise<void> {
    const { reports } = this.#options.engine;
    for (let after: number | null = this.#positions.get(id) ?? 0; after !== null && !this.isOver; ) {
      await this.drained();
      const page: Awaited<ReturnType<typeof reports.events>> = await reports.events(id, {
        after,
        limit: PAGE,
      });
      const texts: string[] = [];
      // None is told again, and none is skipped.
      for (const line of page.events)
        if (line.seq === (this.#positions.get(id) ?? 0) + 1) texts.push(this.#take(line, textOf(line)));
      this.say(texts.join(""));
      after = page.next;
    }
  }
}

function positionsIn(id: string, runs: number): readonly number[] {
  const [kind, ...positions] = id.split(".");
  if (kind === "r" && positions.length === runs && positions.every((one) => /^\d{1,15}$/.test(one)))
    return positions.map(Number);
  throw new HoldfastError("HF-6010", {
    header: "Last-Event-ID",
    problem: "It is not an id that this stream has given.",
    fix: "Send the id of the last event, with the same runs; or none, to begin now.",
  });
}
