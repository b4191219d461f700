/** A chunk of the AI SDK's UI message stream, as far as it is read here. */
export interface UIChunk {
  readonly type: string;
  readonly id?: string;
  readonly delta?: string;
  readonly toolCallId?: string;
}

/**
 * Puts a message that is made again into the chunks of its first time. After a crash, an answer that was saved comes from
 * the journal in one piece, with other ids and without the pieces of its tools' inputs. Readers have the first chunks, and
 * only what differs from those makes them drop the message.
 */
export class SaidAgain {
  /** The chunks of the first time that weren't met yet; empty as soon as something differs. */
  #left: UIChunk[];
  /** Text that was said and is only the beginning of the next chunk. */
  #held: UIChunk | undefined;
  readonly #ids = new Map<string, string>();

  constructor(earlier: readonly UIChunk[]) {
    this.#left = [...earlier];
  }

  /** The chunks to write for a chunk that came. */
  take(given: UIChunk): UIChunk[] {
    const kind = /^(?:text|reasoning)-(start|delta|end)$/.exec(given.type)?.[1];
    if (kind === "start") this.#name(given);
    const id = this.#ids.get(given.id ?? "");
    const chunk = kind && id !== undefined ? { ...given, id } : given;
    if (kind === "delta") return this.#say(chunk);
    return [...this.rest(), ...this.#inputsOf(chunk), this.#meet(chunk, kind !== undefined)];
  }

  /** A part that begins where one began before is that one. */
  #name({ type, id = "" }: UIChunk): void {
    const [next] = this.#left;
    if (next?.type === type && next.id !== undefined) this.#ids.set(id, next.id);
    else this.#ids.delete(id);
  }

  #say(chunk: UIChunk): UIChunk[] {
    let rest = (this.#held?.delta ?? "") + (chunk.delta ?? "");
    this.#held = undefined;
    const met: UIChunk[] = [];
    const isNext = (next: UIChunk | undefined): next is UIChunk & { delta: string } =>
      next?.type === chunk.type && next.id === chunk.id && next.delta !== undefined;
    for (let [next] = this.#left; isNext(next) && rest.startsWith(next.delta); [next] = this.#left) {
      met.push(next);
      rest = rest.slice(next.delta.length);
      this.#left.shift();
    }
    if (rest === "") return met;
    const [next] = this.#left;
    this.#held = { ...chunk, delta: rest };
    return isNext(next) && next.delta.startsWith(rest) ? met : [...met, ...this.rest()];
  }

  /** Called when the text held back differs from what was said before. */
  rest(): UIChunk[] {
    const held = this.#held;
    if (!held) return [];
    this.#held = undefined;
    this.#left = [];
    return [held];
  }

  /** A call that comes whole includes the pieces of its input. */
  #inputsOf({ type, toolCallId }: UIChunk): UIChunk[] {
    if (!/^tool-input-(available|error)$/.test(type)) return [];
    const isPiece = (one: UIChunk): boolean =>
      /^tool-input-(start|delta)$/.test(one.type) && one.toolCallId === toolCallId;
    const end = this.#left.findIndex((one) => !isPiece(one));
    return this.#left.splice(0, end === -1 ? this.#left.length : end);
  }

  /** The first chunk stands for an equal one, and for one that says the same: ids and metadata stay as they were. */
  #meet(chunk: UIChunk, isText: boolean): UIChunk {
    const next = this.#left.shift();
    if (next && next.type === chunk.type && (chunk.type === "start" || (isText && next.id === chunk.id)))
      return next;
    if (JSON.stringify(next) !== JSON.stringify(chunk)) this.#left = [];
    return chunk;
  }
}
