import { inScope } from "../access/permission.ts";
import { Outlet } from "./outlet.ts";
import type { StreamOptions } from "./stream-options.ts";
import { type Batch, bytesOf, type Told } from "./told.ts";

/** How many events are written before the reader has to take some. */
const PIECE = 200;

/** Follows all runs. Its ids are places in the store, so any server can go on from one exactly. */
export class WholeStream extends Outlet {
  readonly #options: StreamOptions;
  #leave: () => void = () => undefined;
  #isLive = false;
  /** Everything up to here is told, or waits for the reader. */
  #at = "";

  constructor(options: StreamOptions) {
    super(options.clock);
    this.#options = options;
  }

  protected override async begin(): Promise<void> {
    const { hub, lastId } = this.#options;
    await hub.ready();
    if (lastId !== null) {
      this.#at = lastId;
      return this.#fallBehind();
    }
    this.#listen();
    this.say(`: following\n${this.pulse}\n`);
  }

  protected override stop(): void {
    this.#leave();
  }

  /** Even if nothing of what happens is for this reader, it comes back to where it was. */
  protected override get pulse(): string {
    return this.#isLive ? `id: ${this.#options.hub.position}\n` : "";
  }

  #listen(): void {
    const heard = (batch: Batch): void => {
      if (this.isPrompt) this.#tell(batch.told, batch);
      else this.#fallBehind();
    };
    const { hub } = this.#options;
    this.#leave = hub.listen({ runs: null, heard, lost: () => this.#resync() });
    this.#isLive = true;
    this.#at = hub.position;
    if (this.isOver) this.#leave();
  }

  #resync(): void {
    this.#at = this.#options.hub.position;
    this.say(`id: ${this.#at}\nevent: resync\ndata: {}\n\n`);
  }

  /** For a reader that comes back, or is too slow to be told at once. */
  #fallBehind(): void {
    this.#leave();
    this.#isLive = false;
    this.#catchUp().catch((error: unknown) => this.fail(error));
  }

  /** Tells what the reader has missed, as fast as it reads, and then goes on with what happens. */
  async #catchUp(): Promise<void> {
    const { hub } = this.#options;
    const { recent } = hub;
    // Another server may have been ahead of this one.
    await hub.ask();
    while (!this.isOver) {
      await this.drained();
      const { position } = hub;
      const { count } = recent;
      const near = recent.after(this.#at);
      if (near && this.#join(near)) return;
      const page = near ? firstOf(near) : await hub.missed(this.#at, position);
      if (page.told === null) {
        this.#listen();
        return this.#resync();
      }
      for (let from = 0; from < page.told.length; from += PIECE) {
        await this.drained();
        this.#tell(page.told.slice(from, from + PIECE));
      }
      this.#at = page.position;
      if (!page.hasMore && this.#join(recent.since(count))) return;
    }
  }

  /** Tells the rest and goes on with what happens, without a gap between them; unless there is too much of it. */
  #join(rest: readonly Told[] | undefined): boolean {
    if (!rest || rest.length > PIECE) return false;
    this.#tell(rest);
    this.#listen();
    return true;
  }

  #tell(told: readonly Told[], batch?: Batch): void {
    const { scope } = this.#options;
    this.#at = told.at(-1)?.id ?? this.#at;
    if (scope === null) this.write(batch?.bytes ?? bytesOf(told));
    else this.write(bytesOf(told.filter(({ run }) => inScope(scope, run))));
  }
}

const firstOf = (told: readonly Told[]) => ({
  told: told.slice(0, PIECE),
  hasMore: true,
  position: told[PIECE - 1]?.id ?? "",
});
