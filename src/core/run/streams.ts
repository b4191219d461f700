import { HoldfastError } from "../errors.ts";
import { type StreamContent, type StreamItem, streamContent } from "../journal/stream-fold.ts";
import { checkNamed } from "../names.ts";
import { type StreamOptions, type StreamWriter, streamOptions } from "../streams.ts";
import { decode, encode } from "../values/codec.ts";
import { type ActiveRun, never } from "./active-run.ts";
import type { Frame, Scope } from "./scope.ts";

/** Items that aren't durable yet: beyond this, whoever appends waits. */
const MOST_BYTES = 1_000_000;

/** Where a writer stands among the items that it wrote before: it compares with the next of them. */
interface Place {
  readonly frame: Frame | undefined;
  readonly by: string;
  /** Its earlier items. */
  readonly own: readonly StreamItem[];
  met: number;
  restarted: number | undefined;
}

/** A stream that this process writes. */
class Stream {
  readonly name: string;
  readonly #run: ActiveRun;
  #options: Required<StreamOptions>;
  #content: StreamContent | undefined;
  #loading: Promise<StreamContent> | undefined;
  /** Appends whose items haven't been taken yet. */
  #taking = 0;
  #place: Place | undefined;
  readonly #places = new Map<string, Place>();
  #buffer: unknown[] = [];
  #bytes = 0;
  #cancel: (() => void) | undefined;
  #inFlight = 0;
  /** Closed by this process, so that writing more is a mistake and no replay. */
  #closedHere = false;
  #idlers: (() => void)[] = [];

  constructor(run: ActiveRun, name: string, options: Required<StreamOptions>) {
    this.#run = run;
    this.name = name;
    this.#options = options;
  }

  use(options: Required<StreamOptions>): void {
    this.#options = options;
  }

  /** The stored content, read when it is first needed: a run that this process resumes may have some. */
  #load(): Promise<StreamContent> {
    const { deps, writer } = this.#run;
    this.#loading ??= this.#run
      .busy(streamContent(deps.store, deps.values, writer.row, this.name))
      .then((content) => (this.#content = content));
    return this.#loading;
  }

  async append(scope: Scope, item: unknown): Promise<void> {
    if (scope.frame?.ended) return never();
    this.#run.enterNow();
    const plain = this.#run.deps.values.redacted(`stream ${this.name}`, item);
    const text = encode(plain);
    refuseMark(this.name, plain);
    this.#taking++;
    try {
      const content = this.#content ?? (await this.#load());
      this.#take(content, scope, plain, text);
    } finally {
      this.#taking--;
      this.#wake();
    }
    while (this.#bytes > MOST_BYTES && !this.#run.closed) await this.#change();
  }

  /** What this writer wrote before and hasn't written again yet. */
  async earlier(scope: Scope): Promise<readonly unknown[]> {
    const content = this.#content ?? (await this.#load());
    if (content.closed) return [];
    const { own, met } = this.#enter(content, scope);
    return own.slice(met).flatMap(({ isVoid, text }) => (isVoid ? [] : [decode(text)]));
  }

  #take(content: StreamContent, scope: Scope, value: unknown, text: string): void {
    if (this.#closedHere) throw new HoldfastError("HF-6202", { stream: this.name });
    // A replay may write again to what was closed before the crash: it stays as it was.
    if (content.closed) return;
    const place = this.#enter(content, scope);
    const earlier = earlierItem(place);
    if (earlier?.text === text) {
      place.met++;
      return;
    }
    if (earlier) this.#restart(content, place, earlier);
    content.items.push({ text, by: place.by });
    this.#buffer.push(value);
    this.#bytes += text.length;
    if (this.#bytes >= this.#options.bytes) this.write();
    else this.#arm();
  }

  /** The place of this writer. A step's attempt, and the function after a resume, begin with what they wrote before. */
  #enter(content: StreamContent, { frame, prefix }: Scope): Place {
    const by = frame ? this.#run.state.firstKey(frame.key) : prefix;
    const before = this.#place;
    if (before && before.frame === frame && before.by === by) return before;
    const isMixed = content.inBody !== undefined && content.inBody !== (frame === undefined);
    const isShared = before?.frame !== undefined && !before.frame.ended;
    if (isMixed || isShared)
      throw new HoldfastError("HF-6203", {
        stream: this.name,
        writer: frame ? `Step ${frame.key}` : "The workflow's function",
        other: isShared ? `step ${before.by}` : content.inBody ? "the workflow's function" : "a step",
      });
    if (before) this.#leave(content, before);
    content.inBody = frame === undefined;
    const known = this.#places.get(by);
    const own = content.items.filter((item) => item.by === by);
    const place = known && known.frame === frame ? known : { frame, by, own, met: 0, restarted: undefined };
    this.#places.set(by, place);
    return (this.#place = place);
  }

  /** Whoever wrote less than before has voided the rest. */
  #leave(content: StreamContent, place: Place): void {
    const left = place.frame ? earlierItem(place) : undefined;
    if (left && !content.closed) this.#restart(content, place, left);
    this.write();
  }

  #restart({ items }: StreamContent, place: Place, from: StreamItem): void {
    this.write();
    for (const item of items.splice(items.indexOf(from))) item.isVoid = true;
    place.met = place.own.length;
    const record = place.frame && this.#run.state.find(place.frame.key);
    place.restarted = record?.attempt ?? this.#run.writer.row.claim.epoch;
  }

  #arm(): void {
    this.#cancel ??= this.#run.deps.ports.clock.setTimer(() => {
      this.#cancel = undefined;
      // A slow store gets more at a time, not more writes.
      if (this.#inFlight === 0) this.write();
      else this.#idlers.push(() => this.write());
    }, this.#options.everyMs);
  }

  /** Gives what was collected to the run's journal. */
  write(closed = false): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const [place, content, count] = [this.#place, this.#content, this.#buffer.length];
    const restarted = place?.restarted;
    if (this.#run.closed || !content || (count === 0 && restarted === undefined && !closed)) return;
    const { data, blobs } = this.#run.deps.values.encode(`stream ${this.name}`, this.#buffer);
    const meta = {
      stream: this.name,
      at: content.items.length - count,
      count,
      ...(place && place.by !== "" ? { by: place.by } : {}),
      ...(content.inBody ? { inBody: true as const } : {}),
      ...(restarted === undefined ? {} : { restarted }),
      ...(closed ? { closed: true as const } : {}),
    };
    if (place) place.restarted = undefined;
    const bytes = this.#bytes;
    this.#buffer = [];
    this.#inFlight++;
    this.#run.record(
      { kind: "stream_written", step: "", meta, ...(count > 0 ? { data } : {}) },
      blobs,
      () => {
        this.#inFlight--;
        this.#bytes -= bytes;
        this.#wake();
      },
    );
  }

  /** Everything that was appended is given to the journal; with a frame, the part of its step is complete. */
  async settle(frame: Frame | undefined): Promise<void> {
    while (this.#taking > 0 && !this.#run.closed) await this.#change();
    const [content, place] = [this.#content, this.#place];
    if (!content || !place || (frame && place.frame !== frame)) return;
    if (frame) this.#leave(content, place);
    else this.write();
  }

  async flush(): Promise<void> {
    await this.settle(undefined);
    while (this.#inFlight > 0 && !this.#run.closed) await this.#change();
    if (this.#run.closed) await never();
  }

  async close(scope: Scope): Promise<void> {
    this.#run.enterNow();
    const content = this.#content ?? (await this.#load());
    await this.settle(undefined);
    if (!content.closed) {
      const place = this.#enter(content, scope);
      const left = earlierItem(place);
      if (left) this.#restart(content, place, left);
      content.closed = true;
      this.write(true);
    }
    this.#closedHere = true;
    await this.flush();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#idlers.push(resolve));
  }

  #wake(): void {
    for (const look of this.#idlers.splice(0)) look();
  }
}

/** The item that the writer wrote here before, if nobody has voided it since. */
function earlierItem({ own, met }: Place): StreamItem | undefined {
  const item = own[met];
  return item?.isVoid ? undefined : item;
}

function refuseMark(stream: string, value: unknown): void {
  if (typeof value === "object" && value !== null && "type" in value && value.type === "data-restarted")
    throw new HoldfastError("HF-6204", { stream });
}

/** The streams that this process writes for a run. */
class Streams {
  readonly #run: ActiveRun;
  readonly #open = new Map<string, Stream>();

  constructor(run: ActiveRun) {
    this.#run = run;
  }

  writer<T>(name: string, options?: StreamOptions): StreamWriter<T> {
    checkNamed("stream", name);
    const checked = streamOptions(options);
    const stream = this.#open.get(name) ?? new Stream(this.#run, name, checked);
    stream.use(checked);
    this.#open.set(name, stream);
    const writer: StreamWriter<T> = {
      name,
      append: (item) => stream.append(this.#run.scope(), item),
      flush: () => stream.flush(),
      close: () => stream.close(this.#run.scope()),
    };
    earlier.set(writer, () => stream.earlier(this.#run.scope()));
    return writer;
  }

  async settle(frame: Frame | undefined): Promise<void> {
    for (const stream of this.#open.values()) await stream.settle(frame);
  }

  write(): void {
    for (const stream of this.#open.values()) stream.write();
  }
}

const earlier = new WeakMap<StreamWriter<never>, () => Promise<readonly unknown[]>>();

/**
 * The items that a writer is expected to write again, because it wrote them before a crash. For those who can say the
 * same in other pieces, and want to say it in the pieces that readers have got.
 */
export const earlierItems = async (writer: StreamWriter<never>): Promise<readonly unknown[]> =>
  (await earlier.get(writer)?.()) ?? [];

const streams = new WeakMap<ActiveRun, Streams>();

export function streamsOf(run: ActiveRun): Streams {
  const known = streams.get(run);
  if (known) return known;
  const made = new Streams(run);
  streams.set(run, made);
  return made;
}

/** What a step, or the function, wrote to streams goes to the journal before its outcome. */
export const settleStreams = (run: ActiveRun, frame: Frame | undefined): Promise<void> | undefined =>
  streams.get(run)?.settle(frame);

/** The same at once, for a run that is about to be released. */
export const writeStreams = (run: ActiveRun): void => streams.get(run)?.write();
