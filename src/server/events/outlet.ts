import type { Clock } from "../../core/clock.ts";

const BEAT_MS = 15_000;
/** The most bytes that wait for a reader. The rest stays in the store until it has taken these. */
const MOST_WAITING = 256 * 1024;

const encoder = new TextEncoder();

/** The body of one stream: a bounded amount of bytes that wait for their reader, and signs of life. */
export abstract class Outlet {
  readonly #clock: Clock;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #cancelBeat: () => void = () => undefined;
  #isOver = false;
  #written = 0;
  #drained: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Prepares what follows, so that a refusal is an answer. What takes long goes on after the stream has begun. */
  protected abstract begin(): Promise<void>;
  protected abstract stop(): void;
  /** What a sign of life says besides. */
  protected get pulse(): string {
    return "";
  }

  async open(): Promise<ReadableStream<Uint8Array>> {
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        pull: () => this.#drained(),
        cancel: () => this.close(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MOST_WAITING }),
    );
    await this.begin();
    this.#beat();
    return body;
  }

  protected get isOver(): boolean {
    return this.#isOver;
  }

  /** True while the reader keeps up, so that what happens can be told at once. */
  protected get isPrompt(): boolean {
    return this.#waiting < MOST_WAITING / 2;
  }

  protected say(text: string): void {
    this.write(encoder.encode(text));
  }

  protected write(bytes: Uint8Array): void {
    if (this.#isOver || bytes.length === 0) return;
    this.#written += bytes.length;
    this.#controller?.enqueue(bytes);
  }

  /** Resolves when the reader has taken most of what waits for it, or has left. */
  protected async drained(): Promise<void> {
    while (!this.#isOver && !this.isPrompt)
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
  }

  protected fail(error: unknown): void {
    if (this.#isOver) return;
    this.#controller?.error(error);
    this.close();
  }

  protected close(): void {
    this.#isOver = true;
    this.stop();
    this.#cancelBeat();
    this.#drained();
  }

  get #waiting(): number {
    return MOST_WAITING - (this.#controller?.desiredSize ?? 0);
  }

  /** A reader that takes nothing from one beat to the next is cut off. It comes back with its last id. */
  #beat(): void {
    if (this.#isOver) return;
    const taken = this.#written - this.#waiting;
    const again = (): void => {
      if (this.#waiting > 0 && this.#written - this.#waiting === taken) return this.#cut();
      this.say(`: beat\n${this.pulse}\n`);
      this.#beat();
    };
    this.#cancelBeat = this.#clock.setTimer(again, BEAT_MS, { background: true });
  }

  #cut(): void {
    this.#controller?.close();
    this.close();
  }
}
