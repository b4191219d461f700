import { checkKeys, checkMethod, checkObject, keysOf } from "../core/check-options.ts";
import type { Context, StepCall } from "../core/context.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Message } from "./model.ts";
import { cut } from "./render.ts";

/** A record of a long-term memory. */
export interface MemoryRecord {
  readonly id: string;
  readonly text: string;
}

/**
 * An agent's long-term memory, wherever it lives. A run saves the ids of its records, never their texts: each process
 * that takes the run up loads them again, so it sees them as they are then.
 */
export interface AgentMemory {
  /** Records that the agent begins with. */
  readonly ids?: readonly string[];
  /** Finds records for the prompt. Called once, in a step; the ids that it returns are saved. */
  select?(prompt: string, call: StepCall): readonly string[] | Promise<readonly string[]>;
  /** Loads records by id, once in each process. One that it leaves out is reported to the model as gone. */
  load(ids: readonly string[], call: StepCall): readonly MemoryRecord[] | Promise<readonly MemoryRecord[]>;
}

export function checkMemory(memory: AgentMemory | undefined): void {
  if (memory === undefined) return;
  checkObject("memory", memory, "an object with load");
  checkKeys(memory, keysOf<AgentMemory>({ ids: true, select: true, load: true }));
  checkMethod("memory", memory, "load");
  if ("select" in memory && memory.select !== undefined) checkMethod("memory", memory, "select");
}

/** The part of an agent's state that matters here. */
interface Remembering {
  messages: readonly Message[];
  turns: number;
  memory?: string[];
}

/** The records of a memory, as this process has loaded them. */
export class Recall {
  readonly #agent: string;
  readonly #memory: AgentMemory;
  readonly #texts = new Map<string, string | undefined>();

  constructor(agent: string, memory: AgentMemory) {
    this.#agent = agent;
    this.#memory = memory;
  }

  /** Finds the records for the prompt, before the first turn. */
  async select(ctx: Context, talk: Remembering): Promise<void> {
    const memory = this.#memory;
    if (!("select" in memory) || talk.turns > 0) return;
    const prompt = talk.messages.findLast(({ role }) => role === "user")?.text ?? "";
    const found = await ctx.step("memory", async (call) =>
      idsIn(this.#agent, await memory.select?.(prompt, call)),
    );
    talk.memory = [...new Set([...(talk.memory ?? []), ...found])];
  }

  /** The records as messages before the conversation: words of a user, because they may hold anybody's. */
  async messages(ids: readonly string[], call: StepCall): Promise<Message[]> {
    const missing = ids.filter((id) => !this.#texts.has(id));
    if (missing.length > 0) {
      const records = await this.#memory.load(missing, call);
      for (const id of missing) this.#texts.set(id, records.find((record) => record.id === id)?.text);
    }
    if (ids.length === 0) return [];
    const lines = ids.map(
      (id) => `[${id}] ${this.#texts.get(id) ?? "(This record doesn't exist any more.)"}`,
    );
    return [{ role: "user", text: cut(`From your memory:\n${lines.join("\n")}`), origin: "engine" }];
  }
}

function idsIn(agent: string, found: unknown): string[] {
  if (Array.isArray(found) && found.every((id) => typeof id === "string")) return found;
  throw new HoldfastError("HF-4602", { agent });
}
