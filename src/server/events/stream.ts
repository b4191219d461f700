import type { Clock } from "../../core/clock.ts";
import type { Engine } from "../../core/engine.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { EventLine } from "../../core/manage/reports/event-page.ts";
import type { Run } from "../../core/types.ts";
import { inScope, type Scope } from "../access/permission.ts";
import type { Hub } from "./hub.ts";
import type { Recent } from "./recent.ts";

const BEAT_MS = 15_000;
/** A reader this far behind is cut off. It comes back with the last id it has got, so it loses nothing. */
const MOST_WAITING = 2_000;

export interface StreamOptions {
  readonly engine: Engine;
  readonly hub: Hub;
  readonly recent: Recent;
  readonly clock: Clock;
  /** The runs to follow; `null`: all. */
  readonly runs: readonly string[] | null;
  /** For named runs without `lastId`: the position to begin after. Default: where each is now. */
  readonly after?: number;
  readonly lastId: string | null;
  readonly scope: Scope | null;
}

/** One stream of server-sent events: what happens in runs, each event once and those of a run in order. */
export async function openStream(options: StreamOptions): Promise<Response> {
  const stream = options.runs ? new NamedStream(options, options.runs) : new WholeStream(options);
  const body = await stream.open();
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
  });
}

abstract class Stream {
  protected readonly options: StreamOptions;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly #encoder = new TextEncoder();
  #stop: () => void = () => undefined;
  #cancelBeat: () => void = () => undefined;
  #isOver = false;

  constructor(options: StreamOptions) {
    this.options = options;
  }

  /** Called once the stream listens, so that nothing between then and now is missed. */
  protected abstract begin(): Promise<void>;
  protected abstract heard(run: Run, lines: readonly EventLine[]): void;

  async open(): Promise<ReadableStream<Uint8Array>> {
    const body = new ReadableStream<Uint8Array>(
      { start: (controller) => void (this.#controller = controller), cancel: () => this.close() },
      new CountQueuingStrategy({ highWaterMark: MOST_WAITING }),
    );
    const { runs, hub } = this.options;
    const heard = (run: Run, lines: readonly EventLine[]): void => this.heard(run, lines);
    this.#stop = await hub.listen({ runs: runs && new Set(runs), heard });
    await this.begin();
    this.#beat();
    return body;
  }

  /** Where it begins: a reader that is cut off before the first event comes back with this. */
  protected follow(id: string): void {
    this.write(`: following\nid: ${id}\n\n`);
  }

  protected send(id: string, line: EventLine): void {
    this.write(`id: ${id}\nevent: run\ndata: ${JSON.stringify(line)}\n\n`);
  }

  protected write(text: string): void {
    if (this.#isOver || !this.#controller) return;
    this.#controller.enqueue(this.#encoder.encode(text));
    if ((this.#controller.desiredSize ?? 1) > 0) return;
    this.#controller.close();
    this.close();
  }

  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#controller?.error(error);
    this.close();
  }

  close(): void {
    this.#isOver = true;
    this.#stop();
    this.#cancelBeat();
  }

  #beat(): void {
    if (this.#isOver) return;
    const again = (): void => {
      this.write(": beat\n\n");
      this.#beat();
    };
    this.#cancelBeat = this.options.clock.setTimer(again, BEAT_MS, { background: true });
  }
}

/** Follows named runs. Its ids are the positions of all of them, so any process can go on from one exactly. */
class NamedStream extends Stream {
  readonly #runs: readonly string[];
  readonly #positions = new Map<string, number>();
  #reading: Promise<void> = Promise.resolve();

  constructor(options: StreamOptions, runs: readonly string[]) {
    super(options);
    this.#runs = [...new Set(runs)].sort();
  }

  protected override async begin(): Promise<void> {
    const { lastId, after, engine } = this.options;
    const given = lastId === null ? null : positionsIn(lastId, this.#runs.length);
    const begins = new Map<string, number>();
    for (const [index, id] of this.#runs.entries()) {
      const at = given?.[index] ?? after ?? (await engine.get(id))?.seq ?? 0;
      begins.set(id, at);
    }
    for (const [id, at] of begins) this.#positions.set(id, at);
    this.follow(this.#id);
    for (const id of this.#runs) await this.#catchUp(id);
  }

  get #id(): string {
    return `r.${this.#runs.map((run) => this.#positions.get(run) ?? 0).join(".")}`;
  }

  protected override heard({ id }: Run, lines: readonly EventLine[]): void {
    const known = this.#positions.get(id);
    // Before it has begun, catching up finds the same.
    if (known === undefined) return;
    const [first] = lines;
    if (first && first.seq <= known + 1) for (const line of lines) this.#tell(line);
    else
      this.#reading = this.#reading.then(() => this.#catchUp(id)).catch((error: unknown) => this.fail(error));
  }

  async #catchUp(id: string): Promise<void> {
    for (let after: number | null = this.#positions.get(id) ?? 0; after !== null; ) {
      const page: Awaited<ReturnType<Engine["reports"]["events"]>> = await this.options.engine.reports.events(
        id,
        {
          after,
          limit: 500,
        },
      );
      for (const line of page.events) this.#tell(line);
      after = page.next;
    }
  }

  /** Only what comes next in its run: an event told before isn't told again, and none is skipped. */
  #tell(line: EventLine): void {
    if (line.seq !== (this.#positions.get(line.run) ?? 0) + 1) return;
    this.#positions.set(line.run, line.seq);
    this.send(this.#id, line);
  }
}

function positionsIn(id: string, runs: number): readonly number[] {
  const [kind, ...positions] = id.split(".");
  if (kind === "r" && positions.length === runs && positions.every((one) => /^\d{1,15}$/.test(one)))
    return positions.map(Number);
  throw badId();
}

/** Follows all runs. A reader that comes back to the same process gets exactly what it missed. */
class WholeStream extends Stream {
  #isBegun = false;

  protected override async begin(): Promise<void> {
    const { recent, lastId } = this.options;
    this.#isBegun = true;
    if (lastId === null) return this.follow(recent.lastId);
    const missed = recent.after(lastId);
    if (missed) for (const { id, run, line } of missed) this.#tell(id, run, line);
    // Another process, or too long ago: the reader is told to read its lists again, and what follows is complete.
    else this.write(`id: ${recent.lastId}\nevent: resync\ndata: {}\n\n`);
  }

  protected override heard(run: Run, lines: readonly EventLine[]): void {
    if (!this.#isBegun) return;
    for (const line of lines) this.#tell(this.options.recent.idOf(line), run, line);
  }

  #tell(id: string, run: Run, line: EventLine): void {
    if (inScope(this.options.scope, run)) this.send(id, line);
  }
}

const badId = (): HoldfastError =>
  new HoldfastError("HF-6010", {
    header: "Last-Event-ID",
    problem: "It is not an id that this stream has given.",
    fix: "Send the id of the last event, with the same runs; or none, to begin now.",
  });
