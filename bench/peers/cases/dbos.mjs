// DBOS Transact on PostgreSQL.
import { DBOS } from "@dbos-inc/dbos-sdk";
import { database, measure, now, payload, STEPS } from "./work.mjs";

const counts = await database("peers_dbos");
const latencies = new Map();
const flow = DBOS.registerWorkflow(
  async (id) => {
    for (let n = 0; n < STEPS; n++) {
      const start = now();
      await DBOS.runStep(async () => payload(), { name: "step" });
      latencies.get(id)?.push(now() - start);
    }
  },
  { name: "flow" },
);
DBOS.setConfig({ name: "bench", systemDatabaseUrl: counts.url, logLevel: "error", applicationVersion: "1" });
await DBOS.launch();
await measure(async (id, into) => {
  latencies.set(id, into);
  await (await DBOS.startWorkflow(flow, { workflowID: id })(id)).getResult();
  latencies.delete(id);
}, counts);
