import type { Acted } from "../../agent/call-tools.ts";
import type { Context } from "../../core/context.ts";
import { dataDigest } from "../../core/values/codec.ts";
import type { ContentPart } from "./language-model.ts";

type InScope = <T>(work: () => T) => T;

/**
 * One conversation that the AI SDK drives: which model call it is at, and which tool calls that one asked for. A replay
 * builds it anew from the journal's answers, so that every step has the same name again.
 */
export class Talk {
  readonly ctx: Context;
  readonly name: string;
  /** Calls that may have taken effect. */
  readonly acted: Acted[] = [];
  /** The ids of calls that a person must approve. */
  readonly toApprove = new Set<string>();
  /** Runs work where `durable` was called: the SDK's streams don't keep the place of their caller. */
  readonly inScope: InScope;
  /** An error that ends the conversation, although the SDK tells the model about every error of a tool. */
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

  end(error: unknown): void {
    this.#end ??= { error };
  }

  /** The content of a reply, with ids that are unique in the conversation: providers omit and reuse them. */
  heard(turn: number, content: readonly ContentPart[]): readonly ContentPart[] {
    const counts = new Map<string, number>();
    const renamed = new Map<string, string>();
    return content.map((part) => {
      if (part.type === "tool-result") {
        const id = renamed.get(part.toolCallId ?? "");
        return id === undefined ? part : { ...part, toolCallId: id };
      }
      if (part.type !== "tool-call") return part;
      const { toolName = "", toolCallId = "" } = part;
      const nth = (counts.get(toolName) ?? 0) + 1;
      counts.set(toolName, nth);
      const isFree = toolCallId !== "" && !this.#calls.has(toolCallId);
      const id = isFree
        ? toolCallId
        : `${toolCallId || "call"}-${turn}-${dataDigest([toolName, nth]).slice(0, 8)}`;
      if (!isFree) renamed.set(toolCallId, id);
      this.#calls.set(id, { turn, nth });
      return isFree ? part : { ...part, toolCallId: id };
    });
  }

  /** The place of a tool call. One from a conversation that began elsewhere belongs to the turn before the first. */
  placeOf(toolCallId: string): { readonly turn: number; readonly nth: number } {
    return this.#calls.get(toolCallId) ?? { turn: this.#turn, nth: 1 };
  }
}
