import { randomUUID } from "node:crypto";
import pg from "pg";
import { createClient } from "redis";
import { afterAll, describe, expect, it } from "vitest";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import { sharedRedis } from "../../../test/support/services/redis.ts";
import { createStockAgent, type StockAgent, stockAgent } from "../../../test/support/stock-agent.ts";
import type { Store } from "../../core/store/contract.ts";
import { AgentCheckpointer } from "../../team/index.ts";
import { withParts } from "../../testing/with-parts.ts";
import { openPostgresStore } from "../postgres/index.ts";
import { openRedisCache } from "../redis/index.ts";
import { createTieredStore } from "./index.ts";

const redis = await sharedRedis();
const postgres = await sharedPostgres();
const isServed = redis.url !== undefined && postgres.url !== undefined;
const schema = `agents-${process.pid}`;
const pool = new pg.Pool({ connectionString: postgres.url, max: 4 });
const admin = createClient(redis.url === undefined ? {} : { url: redis.url });
if (redis.url !== undefined) await admin.connect();
const AGENT = "valuation_agent";

afterAll(async () => {
  if (postgres.url !== undefined) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
  if (redis.url !== undefined) admin.destroy();
});

/** A tiered store of a new process, which counts how often PostgreSQL is asked for entries. */
async function opened() {
  const inner = await openPostgresStore({ pool, schema });
  const asked = { entries: 0 };
  const entries: Store["entries"] = (runId, range) => {
    asked.entries++;
    return inner.entries(runId, range);
  };
  const primary = withParts(inner, { entries });
  const store = createTieredStore({ primary, cache: openRedisCache({ client: admin }) });
  const checkpointer = new AgentCheckpointer<StockAgent>({ store, createAgent: createStockAgent });
  const close = async () => {
    await checkpointer.close();
    await store.close();
  };
  return { store, checkpointer, asked, close };
}

/** Saves three subtasks of an agent in a process that ends. */
async function saved(): Promise<StockAgent> {
  const { checkpointer, close } = await opened();
  const agent = stockAgent(randomUUID());
  for (let i = 0; i < 3; i++) await checkpointer.saveCheckpoint(agent, agent.doNext());
  await close();
  return agent;
}

/** The limits of the document. Measured on a quiet machine, both restores take milliseconds (`bench/cases/agent-restore.ts`). */
const FROM_REDIS_MS = 5_000;
const FROM_POSTGRES_MS = 30_000;

/** The agent restored by a new process, and how long that took. */
async function timed(checkpointer: AgentCheckpointer<StockAgent>, { analysisId }: StockAgent) {
  const start = performance.now();
  const restored = await checkpointer.restoreCheckpoint(analysisId, AGENT);
  return { restored, ms: performance.now() - start };
}

describe.skipIf(!isServed)("an agent of one's own on PostgreSQL and Redis", () => {
  it("is restored from Redis in less than 5 s when its copy equals the head in PostgreSQL (S0-05, S0-17, S0-29, S0-45)", async () => {
    const agent = await saved();
    const { checkpointer, asked, close } = await opened();
    const { restored, ms } = await timed(checkpointer, agent);
    expect(restored?.state()).toEqual(agent.state());
    expect(asked.entries).toBe(0);
    expect(ms).toBeLessThan(FROM_REDIS_MS);
    await close();
  });

  it("is restored from PostgreSQL in less than 30 s when Redis has nothing, or something else (S0-17, S0-29, S0-46)", async () => {
    const agent = await saved();
    const key = `journal:${agent.analysisId}-${AGENT}:agent-checkpointer`;
    for (const text of [null, "not a copy"]) {
      if (text === null) expect(await admin.del(key)).toBe(1);
      else await admin.set(key, text);
      const { checkpointer, asked, close } = await opened();
      const { restored, ms } = await timed(checkpointer, agent);
      expect(restored?.state()).toEqual(agent.state());
      expect(asked.entries).toBeGreaterThan(0);
      expect(ms).toBeLessThan(FROM_POSTGRES_MS);
      await close();
    }
  });

  it("has a row for each save, and its newest one and its memory in Redis (S0-24, S0-26, S0-27, S0-41)", async () => {
    const agent = await saved();
    const { rows } = await pool.query(
      `SELECT * FROM "${schema}".agent_checkpoints WHERE analysis_id = $1 AND agent_type = $2 ORDER BY checkpoint_time`,
      [agent.analysisId, AGENT],
    );
    expect(rows.map(({ progress_pct }) => Number(progress_pct))).toEqual([20, 40, 60]);
    expect(rows[2]).toMatchObject({
      stock_ticker: "AAPL",
      current_subtask: "terminal_value",
      completed_subtasks: agent.completedSubtasks,
      pending_subtasks: agent.pendingSubtasks,
      interim_results: agent.results,
      agent_config: agent.config.settings,
      agent_version: "1.0",
      retry_count: 0,
      failure_reason: null,
    });
    const cached = await admin.get(`checkpoint:${agent.analysisId}:${AGENT}`);
    expect(JSON.parse(cached ?? "null")).toMatchObject({ progress_pct: 60, interim_results: agent.results });
    const memory = await admin.get(`L1:${agent.analysisId}:${AGENT}:working`);
    expect(JSON.parse(memory ?? "null")).toEqual(rows[2].working_memory);
  });

  it("leaves nothing behind after its analysis has succeeded (S0-37, S0-47)", async () => {
    const agent = await saved();
    const { store, checkpointer, close } = await opened();
    expect(await checkpointer.cleanup(agent.analysisId)).toEqual([AGENT]);
    expect(await store.read(`${agent.analysisId}-${AGENT}`)).toBeNull();
    await close();
    const found = await pool.query(`SELECT 1 FROM "${schema}".agent_checkpoints WHERE analysis_id = $1`, [
      agent.analysisId,
    ]);
    expect(found.rows).toEqual([]);
    const left = await admin.keys(`*${agent.analysisId}*`);
    for (const key of left) expect(await admin.get(key), key).toBe("");
  });
});
