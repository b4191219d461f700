import { randomUUID } from "node:crypto";
import { createClient } from "redis";
import { afterAll, describe, expect, it } from "vitest";
import { sharedRedis } from "../../../test/support/services/redis.ts";
import { createStockAgent, type StockAgent, stockAgent } from "../../../test/support/stock-agent.ts";
import { AgentCheckpointer } from "../../team/index.ts";
import { openRedisStore, type RedisClient } from "./index.ts";

const { url } = await sharedRedis();
const admin = createClient(url === undefined ? {} : { url });
if (url !== undefined) await admin.connect();
const prefix = `agents${process.pid}`;
const AGENT = "valuation_agent";
const WEEK_S = 7 * 24 * 3600;

afterAll(async () => {
  if (url === undefined) return;
  for await (const keys of admin.scanIterator({ MATCH: `{${prefix}*` }))
    if (keys.length > 0) await admin.unlink(keys);
  admin.destroy();
});

async function opened(client?: RedisClient) {
  const warnings: string[] = [];
  const logger = { warn: (message: string) => void warnings.push(message) };
  const place = client ? { client } : { url: url as string };
  const store = await openRedisStore({ ...place, prefix, logger });
  const checkpointer = new AgentCheckpointer<StockAgent>({ store, createAgent: createStockAgent });
  const close = async () => {
    await checkpointer.close();
    await store.close();
  };
  return { store, checkpointer, warnings, close };
}

describe.skipIf(url === undefined)("an agent of one's own on Redis alone", () => {
  it("has its newest checkpoint and its memory under the document's keys, for 7 days (S0-26, S0-41)", async () => {
    const { store, checkpointer, close } = await opened();
    const agent = stockAgent(randomUUID());
    for (let i = 0; i < 3; i++) await checkpointer.saveCheckpoint(agent, agent.doNext());
    const key = `checkpoint:${agent.analysisId}:${AGENT}`;
    const shown = JSON.parse((await admin.get(key)) ?? "null") as Record<string, unknown>;
    expect(shown).toMatchObject({
      progress_pct: 60,
      current_subtask: "terminal_value",
      completed_subtasks: agent.completedSubtasks,
      interim_results: agent.results,
    });
    const memory = `L1:${agent.analysisId}:${AGENT}:working`;
    expect(JSON.parse((await admin.get(memory)) ?? "null")).toEqual(shown["working_memory"]);
    for (const one of [key, memory]) {
      const left = await admin.ttl(one);
      expect(left).toBeLessThanOrEqual(WEEK_S);
      expect(left).toBeGreaterThan(WEEK_S - 3600);
    }
    const rows = await store.records?.(`${agent.analysisId}-${AGENT}`);
    expect(rows?.map(({ row }) => row["progress_pct"])).toEqual([20, 40, 60]);
    await close();
  });

  it("leaves neither keys nor records behind after its analysis has succeeded", async () => {
    const { checkpointer, close } = await opened();
    const agent = stockAgent(randomUUID());
    await checkpointer.saveCheckpoint(agent, agent.doNext());
    expect(await checkpointer.cleanup(agent.analysisId)).toEqual([AGENT]);
    expect(await admin.keys(`*${agent.analysisId}*`)).toEqual([]);
    await close();
  });

  it("is saved although its keys can't be written, which is logged", async () => {
    const client: RedisClient = {
      sendCommand: (args) =>
        args[0] === "SETEX"
          ? Promise.reject(new Error("NOPERM this user may only use its own keys"))
          : admin.sendCommand(args),
    };
    const { checkpointer, warnings, close } = await opened(client);
    const agent = stockAgent(randomUUID());
    await checkpointer.saveCheckpoint(agent, agent.doNext());
    expect((await checkpointer.readCheckpoint(agent.analysisId, AGENT))?.progress_pct).toBe(20);
    expect(warnings).toContain("a key that shows an agent's checkpoint was not written");
    await close();
  });

  it("refuses to archive checkpoints, because Redis has no table for them", async () => {
    const { store, close } = await opened();
    const checkpointer = new AgentCheckpointer({ store, createAgent: createStockAgent, archive: true });
    await expect(checkpointer.cleanup(randomUUID())).rejects.toMatchObject({ code: "HF-4505" });
    await checkpointer.close();
    await close();
  });
});
