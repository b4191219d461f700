import { randomUUID } from "node:crypto";
import { openPostgresStore } from "holdfast/stores/postgres";
import { openRedisCache } from "holdfast/stores/redis";
import { openSqliteStore } from "holdfast/stores/sqlite";
import { createTieredStore } from "holdfast/stores/tiered";
import { AgentCheckpointer } from "holdfast/team";
import pg from "pg";
import { startPostgres } from "../../lab/services/postgres.ts";
import { startRedis } from "../../lab/services/redis.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { createStockAgent, type StockAgent, stockAgent } from "../../test/support/stock-agent.ts";
import type { CaseReport } from "../run.ts";
import { inFolder, median, quantile } from "../workbench.ts";

const SUBTASKS = 5;
const AGENTS = ["financial_analyst", "strategy_analyst", "valuation_agent", "news_analyst", "risk_analyst"];

/** What a stock agent knows after a subtask: some notes, a table of ratios, findings with their sources. */
function realistic(agent: StockAgent, subtask: string): void {
  agent.memory.set(subtask, {
    notes: [
      `${subtask}: margins stable, leverage falling, guidance kept`,
      "compare with the peers' 10-K, item 7",
    ],
    window: [2021, 2022, 2023, 2024, 2025],
  });
  agent.results[subtask] = {
    ratios: { pe: 31.2, pb: 47.1, roe: 1.56, fcf_yield: 0.034, net_debt_ebitda: 0.4 },
    findings: [
      { text: "Buybacks exceed free cash flow in 2023.", confidence: 0.82, source: "10-K 2023, p. 48" },
    ],
  };
}

/** Saves every subtask of an agent. */
async function saveAll(checkpointer: AgentCheckpointer<StockAgent>, agent: StockAgent): Promise<void> {
  for (let n = 0; n < SUBTASKS; n++) {
    const subtask = agent.doNext();
    realistic(agent, subtask);
    await checkpointer.saveCheckpoint(agent, subtask);
  }
}

const withCheckpointer = async <T>(
  open: () => Promise<Store>,
  work: (checkpointer: AgentCheckpointer<StockAgent>) => Promise<T>,
): Promise<T> => {
  const store = await open();
  const checkpointer = new AgentCheckpointer<StockAgent>({ store, createAgent: createStockAgent });
  try {
    return await work(checkpointer);
  } finally {
    await checkpointer.close();
    await store.close();
  }
};

/** Restores of an agent by new processes: the connection is open, and nothing about the agent is known. */
async function restores(open: () => Promise<Store>, analyses: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  for (const [index, analysis] of analyses.entries())
    await withCheckpointer(open, async (checkpointer) => {
      // Another agent first: connecting to the servers isn't part of a restore.
      const other = analyses[(index + 1) % analyses.length] ?? analysis;
      await checkpointer.readCheckpoint(other, "valuation_agent");
      const start = performance.now();
      const agent = await checkpointer.restoreCheckpoint(analysis, "valuation_agent");
      times.push(performance.now() - start);
      if (agent?.completedSubtasks.length !== SUBTASKS) throw new Error("The agent was not restored.");
    });
  return times;
}

/** What a batch of stocks needs on disk, in SQLite and in PostgreSQL. */
async function batchBytes(
  open: () => Promise<Store>,
  stocks: number,
  size: () => Promise<number>,
): Promise<number> {
  const before = await size();
  await withCheckpointer(open, async (checkpointer) => {
    for (let stock = 0; stock < stocks; stock++) {
      const analysis = randomUUID();
      await Promise.all(AGENTS.map((type) => saveAll(checkpointer, stockAgent(analysis, type))));
    }
  });
  return (await size()) - before;
}

/** An agent restored from Redis and from PostgreSQL, and the size of checkpoints (S0-17, S0-21, S0-45, S0-46). */
export async function agentRestore({ quick }: { quick: boolean }): Promise<CaseReport> {
  const [server, redis] = [await startPostgres(), await startRedis()];
  if (!server || !redis) throw new Error("PostgreSQL and redis-server must be on this machine.");
  const open = (): Promise<Store> => openPostgresStore({ connectionString: server.url });
  const tiered = async (): Promise<Store> =>
    createTieredStore({ primary: await open(), cache: openRedisCache({ url: redis.url }) });
  const pool = new pg.Pool({ connectionString: server.url });
  try {
    const analyses = Array.from({ length: quick ? 20 : 60 }, () => randomUUID());
    await withCheckpointer(tiered, async (checkpointer) => {
      for (const analysis of analyses) await saveAll(checkpointer, stockAgent(analysis));
    });
    const [cached, stored] = [await restores(tiered, analyses), await restores(open, analyses)];
    const [fromRedis, fromPostgres] = [median(cached), median(stored)];
    const row = await rowBytes(pool);
    const stocks = quick ? 20 : 200;
    const onPostgres = await batchBytes(open, stocks, () => tableBytes(pool, ["agent_checkpoints"]));
    const journal = await inFolder((folder) => sqliteBytes(`${folder}/batch.db`, stocks));
    const mb = (bytes: number): number => (bytes * 200) / stocks / 1_000_000;
    return {
      figures: {
        "ms to restore from Redis": fromRedis,
        "ms to restore from Redis, p95": quantile(cached, 0.95),
        "ms to restore from PostgreSQL": fromPostgres,
        "ms to restore from PostgreSQL, p95": quantile(stored, 0.95),
        "bytes of a checkpoint (a row of agent_checkpoints), largest": row,
        "MB of agent_checkpoints for 200 stocks × 5 agents × 5 checkpoints": mb(onPostgres),
        "MB of the whole SQLite file for the same batch, journal and table": mb(journal),
      },
      goals: [
        { goal: "restore from Redis < 50 ms (S0: 5 s)", measured: fromRedis, met: fromRedis < 50 },
        {
          goal: "restore from PostgreSQL < 300 ms (S0: 30 s)",
          measured: fromPostgres,
          met: fromPostgres < 300,
        },
        { goal: "a checkpoint ≤ 5 KB", measured: row, met: row <= 5_120 },
        { goal: "a batch of 200 stocks ≤ 25 MB", measured: mb(onPostgres), met: mb(onPostgres) <= 25 },
      ],
    };
  } finally {
    await pool.end();
    await server.remove();
    await redis.remove();
  }
}

async function rowBytes(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query(
    "SELECT max(octet_length(row_to_json(one)::text)) AS bytes FROM holdfast.agent_checkpoints AS one",
  );
  return Number(rows[0]?.bytes);
}

async function tableBytes(pool: pg.Pool, tables: readonly string[]): Promise<number> {
  const { rows } = await pool.query(
    "SELECT sum(pg_total_relation_size(('holdfast.' || name)::regclass)) AS bytes FROM unnest($1::text[]) AS name",
    [tables],
  );
  return Number(rows[0]?.bytes);
}

async function sqliteBytes(file: string, stocks: number): Promise<number> {
  const { statSync } = await import("node:fs");
  await batchBytes(
    () => openSqliteStore({ file }),
    stocks,
    async () => 0,
  );
  return statSync(file).size;
}
