import type { AgentInputItem, Session } from "@openai/agents";
import { checkText } from "../../core/check-options.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { Store } from "../../core/store/contract.ts";
import { OutsideState } from "../outside-state.ts";
import { ownEngine } from "../own-engine.ts";

interface Saved {
  items: AgentInputItem[];
  /** The keys of the last writes: one that comes again has been done. */
  keys: string[];
}

/** How many writes are remembered. */
const MOST_KEYS = 200;
const WORKFLOW = "openai-agents-session";

/**
 * A session of the OpenAI Agents SDK in a Holdfast store. It is a run of its own, named like the session: each write
 * saves what it adds, and it appears in lists, exports and the dashboard. Inside a workflow, give it to
 * {@link run}: then each write is a step, and happens once.
 *
 * @example
 * ```ts
 * import { HoldfastSession } from "holdfast/adapters/openai-agents";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const session = new HoldfastSession(await openSqliteStore(), "customer-7");
 * await session.addItems([{ role: "user", content: "Where is my lamp?" }]);
 * export const items = await session.getItems(10);
 * ```
 */
export class HoldfastSession implements Session {
  readonly #id: string;
  readonly #state: OutsideState<Saved>;
  readonly #engine: Engine;
  readonly #ownsEngine: boolean;

  /** A store, or an engine whose settings (redaction, limits, retention) then apply. */
  constructor(target: Store | Engine, sessionId: string) {
    this.#id = checkText("sessionId", sessionId, 1, 200);
    ({ engine: this.#engine, owned: this.#ownsEngine } = ownEngine(target));
    this.#state = new OutsideState<Saved>(this.#engine, sessionId, {
      workflow: WORKFLOW,
      loop: "session",
      initial: { items: [], keys: [] },
    });
  }

  async getSessionId(): Promise<string> {
    return this.#id;
  }

  /** The items, oldest first; with a limit, the newest of them. */
  async getItems(limit?: number): Promise<AgentInputItem[]> {
    const { items = [] } = (await this.#state.read()) ?? {};
    const from = limit === undefined ? 0 : Math.max(0, items.length - Math.max(0, limit));
    return structuredClone(items.slice(from));
  }

  /** Adds items at the end. With a key, the same write is made once, however often it is asked for. */
  async addItems(items: AgentInputItem[], _context?: unknown, key?: string): Promise<void> {
    if (items.length === 0) return;
    await this.#once(key, (draft) => draft.items.push(...structuredClone(items)));
  }

  /** Removes the newest item, and returns it. */
  async popItem(_context?: unknown, key?: string): Promise<AgentInputItem | undefined> {
    const { items = [] } = (await this.#state.read()) ?? {};
    if (items.length === 0) return undefined;
    let popped: AgentInputItem | undefined;
    await this.#once(key, (draft) => {
      const last = draft.items.pop();
      popped = last && (JSON.parse(JSON.stringify(last)) as AgentInputItem);
    });
    return popped;
  }

  async clearSession(_context?: unknown, key?: string): Promise<void> {
    if ((await this.#state.read()) === undefined) return;
    await this.#once(key, (draft) => {
      draft.items = [];
    });
  }

  /** Closes what it opened itself. The store stays open. */
  async close(): Promise<void> {
    if (this.#ownsEngine) await this.#engine.close();
  }

  #once(key: string | undefined, change: (draft: Saved) => unknown): Promise<void> {
    return this.#state.change((draft) => {
      if (key !== undefined && draft.keys.includes(key)) return;
      change(draft);
      if (key === undefined) return;
      draft.keys.push(key);
      if (draft.keys.length > MOST_KEYS) draft.keys.shift();
    });
  }
}
