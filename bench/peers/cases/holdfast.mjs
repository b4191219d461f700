// Holdfast on SQLite or PostgreSQL.
import { database, fileBytes, folder, measure, now, payload, STEPS, settings } from "./work.mjs";

const { createEngine, workflow } = await import(`${settings.dist}/index.js`);
let store;
let counts;
if (process.argv[2] === "postgres") {
  const { openPostgresStore } = await import(`${settings.dist}/stores/postgres/index.js`);
  counts = await database("peers_holdfast");
  store = await openPostgresStore({ connectionString: counts.url });
} else {
  const { openSqliteStore } = await import(`${settings.dist}/stores/sqlite/index.js`);
  const file = `${folder("holdfast")}/runs.db`;
  counts = { bytes: () => fileBytes(file) };
  store = await openSqliteStore({ file });
}
const latencies = new Map();
const flow = workflow("bench", async (ctx, id) => {
  for (let n = 0; n < STEPS; n++) {
    const start = now();
    await ctx.step("step", () => payload());
    latencies.get(id).push(now() - start);
  }
});
const engine = createEngine({ store, workflows: [flow], concurrency: 200 });
await measure(async (id, into) => {
  latencies.set(id, into);
  await engine.start(flow, id, { id });
  await engine.result(id);
  latencies.delete(id);
}, counts);
