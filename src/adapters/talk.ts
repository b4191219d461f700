import type { Acted } from "../agent/call-tools.ts";
import type { Context } from "../core/context.ts";

/** A part of a reply or of a stream, as far as it matters for tool calls. */
interface CallPart {
  readonly type: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
}

/** Takes a part of a reply; see `Talk.listen`. */
export type Hear = ReturnType<Talk["listen"]>;

type InScope = <T>(work: () => T) => T;

/**
 * One conversation that a framework drives: which model call it is at, and which tool calls that one asked for. A replay
 * builds it anew from the journal's answers, so that every step has the same name again.
 */
export class Talk {
  readonly ctx: Context;
  readonly name: string;
  /** Calls that may have taken effect. */
  readonly acted: Acted[] = [];
  /** The ids of calls that a person must approve. */
  readonly toApprove = new Set<string>();
  /** Runs work where `durable` was called: streams don't keep the place of their caller. */
  readonly inScope: InScope;
  /** An error that ends the conversation, although a framework tells the model about every error of a tool. */
  #end: { readonly error: unknown } | undefined;
  #turn = 0;
  /** By the id of a call: its turn, and its place among the calls of the same tool in that turn. */
  readonly #calls = new Map<string, { readonly turn: number; readonly nth: number }>();

  constructor(ctx: Context, name: string, inScope: InScope) {
    this.ctx = ctx;
    this.name = name;
    this.inScope = inScope;
  }

  /** Begins the next model call, unless a tool has ended the conversation. */
  nextTurn(): number {
    if (this.#end) throw this.#end.error;
    return ++this.#turn;
  }

  /** The error that has ended the conversation. */
  get ended(): { readonly error: unknown } | undefined {
    return this.#end;
  }

  end(error: unknown): void {
    this.#end ??= { error };
  }

  /**
   * Begins to take in the reply of a turn, anew for each attempt. Returns what takes each part before anybody else sees
   * it: a tool may be called as soon as its part has arrived. Ids are made unique in the conversation, because providers
   * omit and reuse them.
   */
  listen(turn: number): <P extends CallPart>(part: P) => P {
    for (const [id, place] of this.#calls) if (place.turn === turn) this.#calls.delete(id);
    const counts = new Map<string, number>();
    const renamed = new Map<string, string>();
    return (part) => {
      const { type, toolName = "", toolCallId = "" } = part;
      if (type === "tool-result" && renamed.has(toolCallId))
        return { ...part, toolCallId: renamed.get(toolCallId) };
      if (type !== "tool-call") return part;
      const nth = (counts.get(toolName) ?? 0) + 1;
      counts.set(toolName, nth);
      const isFree = toolCallId !== "" && !this.#calls.has(toolCallId);
      const id = isFree ? toolCallId : `${toolCallId || "call"}-${turn}-${toolName}-${nth}`;
      this.#calls.set(id, { turn, nth });
      if (isFree) return part;
      renamed.set(toolCallId, id);
      return { ...part, toolCallId: id };
    };
  }

  /** The place of a tool call. One from a conversation that began elsewhere belongs to the turn before the first. */
  placeOf(toolCallId: string): { readonly turn: number; readonly nth: number } {
    return this.#calls.get(toolCallId) ?? { turn: this.#turn, nth: 1 };
  }
}
