import { describe, expect, it } from "vitest";
import { createStockAgent, type StockAgent, stockAgent } from "../../test/support/stock-agent.ts";
import type { StoredRecord } from "../core/records.ts";
import type { Append, AppendResult } from "../core/store/contract.ts";
import { AgentCheckpointer } from "../team/index.ts";
import { FastRecords } from "./fast-records.ts";
import { createMemoryStore } from "./memory.ts";
import { createTieredStore } from "./tiered/index.ts";

const ANALYSIS = "550e8400-e29b-41d4-a716-446655440000";
const AGENT = "valuation_agent";
const KEY = `checkpoint:${ANALYSIS}:${AGENT}`;
const MEMORY = `L1:${ANALYSIS}:${AGENT}:working`;

/** A cache that can be away, and an agent that is saved beside it. */
function opened() {
  const texts = new Map<string, string>();
  const cache = {
    isAway: false,
    get: async (key: string) => texts.get(key) ?? null,
    async set(key: string, text: string) {
      if (cache.isAway) throw new Error("away");
      texts.set(key, text);
    },
    close: async () => undefined,
  };
  const primary = createMemoryStore();
  const agent = stockAgent(ANALYSIS);
  const open = () => {
    const store = createTieredStore({ primary: { ...primary, close: async () => undefined }, cache });
    return {
      store,
      checkpointer: new AgentCheckpointer<StockAgent>({ store, createAgent: createStockAgent }),
    };
  };
  const progress = (): unknown =>
    (JSON.parse(texts.get(KEY) || "{}") as { progress_pct?: number }).progress_pct;
  return { cache, texts, agent, open, progress };
}

describe("the keys that show an agent's checkpoint to other programs", () => {
  it("show the newest one at the latest when the store is closed, although the cache was away (S0-27)", async () => {
    const { cache, texts, agent, open, progress } = opened();
    const { store, checkpointer } = open();
    await checkpointer.saveCheckpoint(agent, agent.doNext());
    expect(progress()).toBe(20);
    cache.isAway = true;
    await checkpointer.saveCheckpoint(agent, agent.doNext());
    cache.isAway = false;
    // The cache isn't asked for a while after an error.
    await checkpointer.saveCheckpoint(agent, agent.doNext());
    expect(progress()).toBe(20);
    await checkpointer.close();
    await store.close();
    expect(progress()).toBe(60);
    expect(Object.keys(JSON.parse(texts.get(MEMORY) ?? "{}") as object)).toHaveLength(3);
  });

  it("go with a deleted checkpoint, although the cache was away (S0-37)", async () => {
    const { cache, texts, agent, open, progress } = opened();
    const { store, checkpointer } = open();
    await checkpointer.saveCheckpoint(agent, agent.doNext());
    expect(progress()).toBe(20);
    cache.isAway = true;
    expect(await checkpointer.cleanup(ANALYSIS)).toEqual([AGENT]);
    cache.isAway = false;
    await checkpointer.close();
    await store.close();
    expect([texts.get(KEY), texts.get(MEMORY)]).toEqual(["", ""]);
  });

  it("are written with the next save of any run once the cache is back, as the store shows them then (S0-27)", async () => {
    const texts = new Map<string, string>();
    let isAway = true;
    const write = async (key: string, text: string): Promise<boolean> => {
      if (!isAway) texts.set(key, text);
      return !isAway;
    };
    const row = { stock_ticker: "AAPL", agent_type: AGENT, analysis_id: ANALYSIS };
    const at = (progress_pct: number) =>
      ({ table: "agent_checkpoints", seq: progress_pct, row: { ...row, progress_pct } }) as const;
    const fast = new FastRecords({
      primary: { records: async (id) => (id === "a" ? [at(20), at(40)] : []) },
      cache: { set: write, remove: (key) => write(key, "") },
      ttlOf: () => 1_000,
    });
    const save = (id: string, records: readonly StoredRecord[]) => {
      const append = { run: { id, workflow: "w" }, records, claim: { kind: "keep" } } as unknown as Append;
      return fast.after([append], [{ ok: true } as AppendResult], new Map());
    };
    await save("a", [at(20)]);
    await save("b", []);
    expect(texts.size).toBe(0);
    isAway = false;
    await save("b", []);
    expect(JSON.parse(texts.get(KEY) ?? "{}")).toMatchObject({ progress_pct: 40 });
    texts.clear();
    await save("b", []);
    expect(texts.size).toBe(0);
  });

  it("don't keep a store from closing when the cache stays away", async () => {
    const { cache, agent, open, progress } = opened();
    const { store, checkpointer } = open();
    cache.isAway = true;
    await checkpointer.saveCheckpoint(agent, agent.doNext());
    await checkpointer.close();
    await store.close();
    expect(progress()).toBeUndefined();
  });
});
