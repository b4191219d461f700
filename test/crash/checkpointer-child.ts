import { appendFileSync, writeSync } from "node:fs";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { AgentCheckpointer } from "../../src/team/index.ts";
import { createStockAgent, type StockAgent, stockAgent } from "../support/stock-agent.ts";

/**
 * Does the subtasks of one agent and saves after each. Each subtask is written to a witness before it is done. Kills
 * itself at the given moment: the number of a subtask in this process, and `before` or `after` its save.
 */
const [file = "", witness = "", analysis = "", at = "", side = ""] = process.argv.slice(2);

const store = await openSqliteStore({ file });
const checkpointer = new AgentCheckpointer<StockAgent>({ store, createAgent: createStockAgent });
const agent = (await checkpointer.restoreCheckpoint(analysis, "valuation_agent")) ?? stockAgent(analysis);
for (let count = 1; agent.nextSubtask() !== null; count++) {
  const isLast = count === Number(at);
  appendFileSync(witness, `${agent.nextSubtask()}\n`);
  const done = agent.doNext();
  if (isLast && side === "before") process.kill(process.pid, "SIGKILL");
  const saving = checkpointer.saveCheckpoint(agent, done);
  if (isLast && side === "during") process.kill(process.pid, "SIGKILL");
  await saving;
  if (isLast && side === "after") process.kill(process.pid, "SIGKILL");
}
writeSync(1, JSON.stringify(agent.completedSubtasks));
await checkpointer.close();
await store.close();
