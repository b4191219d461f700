import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { useFolders } from "../../test/support/folders.ts";
import { createStockAgent, StockAgent, stockAgent } from "../../test/support/stock-agent.ts";
import type { Store } from "../core/store/contract.ts";
import { createEngine } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { openSqliteStore } from "../stores/sqlite/index.ts";
import { AgentCheckpointer, type SavedCheckpoint } from "./index.ts";

const ANALYSIS = "550e8400-e29b-41d4-a716-446655440000";
const AGENT = "valuation_agent";
const DAY = 86_400_000;

const clock = { time: 1_800_000_000_000, now: () => clock.time };

const open = (store: Store, more: object = {}) =>
  new AgentCheckpointer<StockAgent>({ store, createAgent: createStockAgent, ...more });

/** An agent that has saved three of its five subtasks. */
async function saved(store: Store, more: object = {}) {
  const checkpointer = open(store, more);
  const agent = stockAgent(ANALYSIS);
  for (let i = 0; i < 3; i++) await checkpointer.saveCheckpoint(agent, agent.doNext());
  return { checkpointer, agent };
}

const rowsOf = async (store: Store): Promise<readonly unknown[]> => {
  const { runs } = await store.list({ limit: 100, workflow: "agent-checkpointer" });
  return (await Promise.all(runs.map(async ({ id }) => store.records?.(id)))).flat();
};

describe("an agent of one's own (S0-22)", () => {
  it("is the same after save and restore, in another process's hands too (S0-28, S0-29, S0-30, S0-31, S0-43)", async () => {
    const store = createMemoryStore();
    const { agent } = await saved(store);
    agent.retryCount = 2;
    const restored = await open(store).restoreCheckpoint(ANALYSIS, AGENT);
    expect(restored).toBeInstanceOf(StockAgent);
    expect(restored?.state()).toEqual({ ...(agent.state() as object), retryCount: 0 });
    expect(restored?.nextSubtask()).toBe("terminal_value");
    expect(restored?.calculateProgress()).toBe(60);
  });

  it("goes on where it was, and its saves follow the restored one", async () => {
    const store = createMemoryStore();
    await saved(store);
    const next = open(store);
    const agent = (await next.restoreCheckpoint(ANALYSIS, AGENT)) as StockAgent;
    for (let i = 0; i < 2; i++) await next.saveCheckpoint(agent, agent.doNext());
    const row = await next.readCheckpoint(ANALYSIS, AGENT);
    expect(row).toMatchObject({ progress_pct: 100, current_subtask: null, pending_subtasks: [] });
    expect(await rowsOf(store)).toHaveLength(5);
  });

  it("isn't there before it was saved", async () => {
    expect(await open(createMemoryStore()).restoreCheckpoint(ANALYSIS, AGENT)).toBeNull();
  });

  it("is saved in one append each time, and shows how far it is", async () => {
    const inner = createMemoryStore();
    let appends = 0;
    const append: Store["append"] = (batch) => ((appends += batch.length), inner.append(batch));
    const store = { ...inner, append };
    await saved(store);
    expect(appends).toBe(3);
    const engine = createEngine({ store, execute: false });
    const report = await engine.status(`${ANALYSIS}-${AGENT}`);
    expect(report.headline).toContain("3 of 5 subtasks, 60 %");
    expect(report.run).toMatchObject({ status: "waiting", wakeAt: null, stepsDone: 3 });
    await engine.close();
  });

  it("has its progress with two decimals in every store, as the column of the table (S0-06)", async () => {
    const store = createMemoryStore();
    const checkpointer = open(store);
    const agent = stockAgent(ANALYSIS);
    agent.pendingSubtasks = agent.pendingSubtasks.slice(0, 3);
    await checkpointer.saveCheckpoint(agent, agent.doNext());
    expect(await checkpointer.readCheckpoint(ANALYSIS, AGENT)).toMatchObject({ progress_pct: 33.33 });
    const engine = createEngine({ store, execute: false });
    const { headline } = await engine.status(`${ANALYSIS}-${AGENT}`);
    expect(headline).toContain("1 of 3 subtasks, 33.33 %");
    await Promise.all([engine.close(), checkpointer.close()]);
  });

  it("of an earlier version is migrated, step by step, and restored (S0-35, S0-36, S0-44)", async () => {
    const store = createMemoryStore();
    await saved(store);
    const seen: SavedCheckpoint[] = [];
    const createAgent = (type: string, config: unknown, checkpoint: SavedCheckpoint) => {
      seen.push(checkpoint);
      return new StockAgent(type, config, "1.2");
    };
    const migrations = [
      {
        from: "1.0",
        to: "1.1",
        migrate: (checkpoint: SavedCheckpoint) => ({
          ...checkpoint,
          subtask_progress: Object.fromEntries(
            (checkpoint.completed_subtasks ?? []).map((task) => [task, 1]),
          ),
        }),
      },
      {
        from: "1.1",
        to: "1.2",
        migrate: (checkpoint: SavedCheckpoint) => ({ ...checkpoint, retry_count: 7 }),
      },
    ];
    const checkpointer = new AgentCheckpointer<StockAgent>({ store, createAgent, migrations });
    const agent = await checkpointer.restoreCheckpoint(ANALYSIS, AGENT);
    expect(agent).toMatchObject({ version: "1.2", retryCount: 7 });
    expect(seen.at(-1)).toMatchObject({
      agent_version: "1.2",
      subtask_progress: { dcf_assumptions: 1, cash_flow_projection: 1, wacc_calculation: 1 },
    });
    await checkpointer.saveCheckpoint(agent as StockAgent, (agent as StockAgent).doNext());
    expect(await checkpointer.readCheckpoint(ANALYSIS, AGENT)).toMatchObject({ agent_version: "1.2" });
  });

  it("of a version that no migration leads from stays as it is (S0-35)", async () => {
    const store = createMemoryStore();
    await saved(store);
    const createAgent = (type: string, config: unknown) => new StockAgent(type, config, "2.0");
    const newer = new AgentCheckpointer({ store, createAgent });
    await expect(newer.restoreCheckpoint(ANALYSIS, AGENT)).rejects.toMatchObject({ code: "HF-4503" });
    const none = new AgentCheckpointer({ store, createAgent: (() => undefined) as never });
    await expect(none.restoreCheckpoint(ANALYSIS, AGENT)).rejects.toMatchObject({ code: "HF-4506" });
    expect(await open(store).restoreCheckpoint(ANALYSIS, AGENT)).not.toBeNull();
  });

  it("that has failed is saved with the error's status and fields, and can be restored (S0-10, S0-42)", async () => {
    const store = createMemoryStore();
    const { checkpointer, agent } = await saved(store);
    agent.retryCount = 3;
    const error = Object.assign(new Error("rate limit of Koyfin"), { status: 429, retryAfter: 60 });
    await checkpointer.saveFailure(agent, error);
    expect(await checkpointer.readCheckpoint(ANALYSIS, AGENT)).toMatchObject({
      failure_reason: "Error: rate limit of Koyfin",
      error_details: { name: "Error", message: "rate limit of Koyfin", status: 429, retryAfter: 60 },
      retry_count: 3,
      current_subtask: "terminal_value",
    });
    const engine = createEngine({ store, execute: false });
    expect((await engine.status(`${ANALYSIS}-${AGENT}`)).run).toMatchObject({ status: "failed" });
    const next = open(store);
    const again = (await next.restoreCheckpoint(ANALYSIS, AGENT)) as StockAgent;
    await next.saveCheckpoint(again, again.doNext());
    expect((await engine.status(`${ANALYSIS}-${AGENT}`)).run).toMatchObject({
      status: "waiting",
      finishedAt: null,
    });
    await engine.close();
  });
});

describe("two processes with one agent", () => {
  it("are told apart: the second save is refused, and nothing is lost", async () => {
    const store = createMemoryStore();
    await saved(store);
    const [one, two] = [open(store), open(store)];
    const first = (await one.restoreCheckpoint(ANALYSIS, AGENT)) as StockAgent;
    const second = (await two.restoreCheckpoint(ANALYSIS, AGENT)) as StockAgent;
    await one.saveCheckpoint(first, first.doNext());
    second.doNext();
    await expect(two.saveCheckpoint(second, "terminal_value")).rejects.toMatchObject({ code: "HF-4501" });
    expect(await rowsOf(store)).toHaveLength(4);
    const again = (await two.restoreCheckpoint(ANALYSIS, AGENT)) as StockAgent;
    await two.saveCheckpoint(again, again.doNext());
    expect(await rowsOf(store)).toHaveLength(5);
  });

  it("don't begin on top of checkpoints that they haven't read", async () => {
    const store = createMemoryStore();
    await saved(store);
    await expect(open(store).saveCheckpoint(stockAgent(ANALYSIS), "x")).rejects.toMatchObject({
      code: "HF-4502",
    });
  });

  it("that save at once for the first time: one is first", async () => {
    const store = createMemoryStore();
    const saves = [open(store), open(store)].map((one) => one.saveCheckpoint(stockAgent(ANALYSIS), "x"));
    const results = await Promise.allSettled(saves);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await rowsOf(store)).toHaveLength(1);
  });

  it("leave a pause to the person who asked for it, and refuse what was cancelled", async () => {
    const store = createMemoryStore();
    const { checkpointer, agent } = await saved(store);
    const engine = createEngine({ store, execute: false });
    const runId = `${ANALYSIS}-${AGENT}`;
    await engine.pause(runId, { actor: "Ada" });
    await checkpointer.saveCheckpoint(agent, agent.doNext());
    expect((await engine.status(runId)).run.status).toBe("paused");
    expect((await open(store).restoreCheckpoint(ANALYSIS, AGENT))?.completedSubtasks).toHaveLength(4);
    await engine.cancel(runId);
    await expect(checkpointer.saveCheckpoint(agent, "x")).rejects.toMatchObject({ code: "HF-4507" });
    await engine.close();
  });

  it("don't disturb each other by pins", async () => {
    const store = createMemoryStore();
    const { checkpointer, agent } = await saved(store);
    await open(store).preserve(ANALYSIS, AGENT);
    await checkpointer.saveCheckpoint(agent, agent.doNext());
    expect(await rowsOf(store)).toHaveLength(4);
  });
});

describe("checkpoints of an analysis", () => {
  it("are deleted at once when it has succeeded: rows, journal and run (S0-37, S0-47)", async () => {
    const store = createMemoryStore();
    const { checkpointer } = await saved(store);
    const other = stockAgent(ANALYSIS, "strategy analyst / with an odd name");
    await checkpointer.saveCheckpoint(other, other.doNext());
    const foreign = stockAgent("11111111-1111-4111-8111-111111111111");
    await checkpointer.saveCheckpoint(foreign, foreign.doNext());
    expect([...(await checkpointer.cleanup(ANALYSIS))].sort()).toEqual([other.agentType, AGENT]);
    expect(await store.read(`${ANALYSIS}-${AGENT}`)).toBeNull();
    expect(await rowsOf(store)).toHaveLength(1);
    expect(await checkpointer.restoreCheckpoint(ANALYSIS, AGENT)).toBeNull();
    const anew = stockAgent(ANALYSIS);
    await checkpointer.saveCheckpoint(anew, anew.doNext());
  });

  it("of failed agents stay for 30 days, then the scheduled job deletes them (S0-39, S0-47)", async () => {
    const store = createMemoryStore({ clock });
    const { checkpointer, agent } = await saved(store);
    await checkpointer.saveFailure(agent, new Error("no"));
    clock.time += 30 * DAY - 60_000;
    expect(await checkpointer.deleteExpired()).toBe(0);
    clock.time += 120_000;
    expect(await checkpointer.deleteExpired()).toBe(1);
    expect(await rowsOf(store)).toEqual([]);
  });

  it("of failed agents go after 30 days without a job, once a program saves again (S0-39)", async () => {
    const store = createMemoryStore({ clock });
    const { checkpointer, agent } = await saved(store);
    await checkpointer.saveFailure(agent, new Error("no"));
    await checkpointer.close();
    for (const [days, left] of [
      [29, true],
      [2, false],
    ] as const) {
      clock.time += days * DAY;
      const later = open(store);
      const other = stockAgent(randomUUID());
      await later.saveCheckpoint(other, other.doNext());
      await later.close();
      expect((await store.read(`${ANALYSIS}-${AGENT}`)) !== null, `${days} days later`).toBe(left);
    }
  });

  it("are preserved where a person asks for it (S0-40)", async () => {
    const store = createMemoryStore({ clock });
    const { checkpointer, agent } = await saved(store);
    await checkpointer.saveFailure(agent, new Error("no"));
    await checkpointer.preserve(ANALYSIS, AGENT);
    clock.time += 90 * DAY;
    expect(await checkpointer.deleteExpired()).toBe(0);
    expect(await checkpointer.cleanup(ANALYSIS)).toEqual([]);
    expect(await open(store, { preserve: true }).cleanup(ANALYSIS)).toEqual([]);
    await checkpointer.preserve(ANALYSIS, AGENT, false);
    expect(await checkpointer.cleanup(ANALYSIS)).toEqual([AGENT]);
  });

  const newFolder = useFolders("checkpointer");
  it("move to the archive table in SQLite, and need a store that has one (S0-38)", async () => {
    const store = await openSqliteStore({ file: `${newFolder()}/runs.db` });
    const { checkpointer } = await saved(store, { archive: true });
    expect(await checkpointer.cleanup(ANALYSIS)).toEqual([AGENT]);
    const work = store.transaction?.bind(store);
    const seen: unknown[] = [];
    await work?.(
      (sql) => {
        seen.push(sql.all("SELECT progress_pct FROM agent_checkpoints_archive ORDER BY checkpoint_time"));
        seen.push(sql.all("SELECT * FROM agent_checkpoints"));
        throw new Error("only reads");
      },
      () => {
        throw new Error("never");
      },
    ).catch(() => undefined);
    expect(seen).toEqual([[{ progress_pct: 20 }, { progress_pct: 40 }, { progress_pct: 60 }], []]);
    await checkpointer.close();
    await store.close();
    const bare = createMemoryStore();
    const without = { ...bare, capabilities: { durability: "none", transactions: false } as const };
    await expect(open(without, { archive: true }).cleanup(ANALYSIS)).rejects.toMatchObject({
      code: "HF-4505",
    });
  });

  it("need at most 25 MB for a batch of 200 stocks, journal and table together (S0-21)", async () => {
    const file = `${newFolder()}/runs.db`;
    const store = await openSqliteStore({ file });
    const checkpointer = open(store);
    const bytes = async (): Promise<number> => (await store.size?.()) ?? Number.NaN;
    const analyse = async (analysis: string): Promise<void> => {
      for (const type of ["financial_analyst", "strategy_analyst", AGENT, "news_analyst", "risk_analyst"]) {
        const agent = stockAgent(analysis, type);
        for (let n = 0; n < 5; n++) {
          const subtask = agent.doNext();
          agent.results[subtask] = { findings: [`${subtask}: ${"Margins are stable. ".repeat(15)}`] };
          await checkpointer.saveCheckpoint(agent, subtask);
        }
      }
    };
    await analyse(ANALYSIS);
    const row = JSON.stringify(await checkpointer.readCheckpoint(ANALYSIS, AGENT));
    expect(row.length).toBeGreaterThan(2_500);
    const before = await bytes();
    for (let stock = 0; stock < 8; stock++) await analyse(randomUUID());
    expect(before + ((await bytes()) - before) * (199 / 8)).toBeLessThanOrEqual(25_000_000);
    await checkpointer.close();
    await store.close();
  });

  it("aren't saved or restored while the switch is off, and nothing is lost (S0-48)", async () => {
    const store = createMemoryStore();
    const { checkpointer, agent } = await saved(store);
    checkpointer.enabled = false;
    expect(await checkpointer.saveCheckpoint(agent, agent.doNext())).toBeNull();
    expect(await checkpointer.saveFailure(agent, new Error("no"))).toBeNull();
    expect(await checkpointer.restoreCheckpoint(ANALYSIS, AGENT)).toBeNull();
    checkpointer.enabled = true;
    expect((await checkpointer.restoreCheckpoint(ANALYSIS, AGENT))?.completedSubtasks).toHaveLength(3);
  });
});

describe("an agent that lacks a part of the contract", () => {
  it("is refused by the part's name, and nothing is written (S0-31)", async () => {
    const store = createMemoryStore();
    const checkpointer = open(store);
    for (const member of [
      "calculateProgress",
      "nextSubtask",
      "getInterimResults",
      "config",
      "l1Cache",
      "version",
    ]) {
      const agent = stockAgent(ANALYSIS);
      Object.defineProperty(agent, member, { value: undefined });
      const saving = checkpointer.saveCheckpoint(agent, "x");
      await expect(saving, member).rejects.toMatchObject({ code: "HF-4500" });
      await expect(saving, member).rejects.toThrow(member);
    }
    const long = stockAgent(ANALYSIS, "x".repeat(51));
    await expect(checkpointer.saveCheckpoint(long, "x")).rejects.toMatchObject({ code: "HF-3070" });
    const odd = stockAgent("analysis-1");
    await expect(checkpointer.saveCheckpoint(odd, "x")).rejects.toMatchObject({ code: "HF-3070" });
    expect(await rowsOf(store)).toEqual([]);
  });
});
