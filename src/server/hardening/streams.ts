import { HoldfastError } from "../../core/errors.ts";

export interface StreamLimits {
  readonly perCredential: number;
  readonly total: number;
}

interface Open {
  readonly caller: string;
  /** True while whoever opened it is still let in. */
  readonly isWelcome: () => Promise<boolean>;
  end(): void;
}

/** The streams of events that are open. They are limited in number, and end when their credential does. */
export class Streams {
  readonly #limits: StreamLimits;
  readonly #open = new Set<Open>();

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The same answer, under watch. Refuses one too many (HF-6069). */
  async watch(response: Response, caller: string, isWelcome: () => Promise<boolean>): Promise<Response> {
    const { body } = response;
    if (!body) return response;
    const { perCredential, total } = this.#limits;
    const own = [...this.#open].filter((one) => one.caller === caller).length;
    const refused = own >= perCredential ? "credential" : this.#open.size >= total ? "server" : undefined;
    if (refused !== undefined) {
      await body.cancel();
      const limit = refused === "server" ? total : perCredential;
      throw new HoldfastError("HF-6069", { who: refused, limit });
    }
    const { status, headers } = response;
    return new Response(this.#follow(body, caller, isWelcome), { status, headers });
  }

  #follow(body: ReadableStream<Uint8Array>, caller: string, isWelcome: Open["isWelcome"]) {
    const reader = body.getReader();
    let open: Open | undefined;
    const leave = (): void => {
      if (open) this.#open.delete(open);
    };
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        const end = (): void => {
          leave();
          controller.close();
          reader.cancel().catch(() => undefined);
        };
        open = { caller, isWelcome, end };
        this.#open.add(open);
      },
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (open && !this.#open.has(open)) return;
        if (!done) return controller.enqueue(value);
        leave();
        controller.close();
      },
      cancel: (reason) => {
        leave();
        return reader.cancel(reason);
      },
    });
  }

  /** Ends the streams of those who aren't let in any more. */
  async recheck(): Promise<void> {
    const verdicts = new Map<string, boolean>();
    for (const open of this.#open) {
      const known = verdicts.get(open.caller) ?? (await open.isWelcome());
      verdicts.set(open.caller, known);
      if (!known && this.#open.has(open)) open.end();
    }
  }

  /** Ends all of them. Their readers come back and go on after the last event they have seen. */
  endAll(): void {
    for (const open of this.#open) open.end();
  }
}
