// OpenWorkflow on SQLite or PostgreSQL. The end of a run is told in process, so that polling for results doesn't count.
import { OpenWorkflow } from "openworkflow";
import { database, fileBytes, folder, measure, now, payload, STEPS } from "./work.mjs";

let backend;
let counts;
if (process.argv[2] === "postgres") {
  const { BackendPostgres } = await import("openworkflow/postgres");
  counts = await database("peers_openworkflow");
  backend = await BackendPostgres.connect(counts.url);
} else {
  const { BackendSqlite } = await import("openworkflow/sqlite");
  const file = `${folder("openworkflow")}/runs.db`;
  backend = BackendSqlite.connect(file);
  counts = { bytes: () => fileBytes(file) };
}
const open = new OpenWorkflow({ backend });
const runs = new Map();
const flow = open.defineWorkflow({ name: "bench" }, async ({ input: { id }, step }) => {
  const run = runs.get(id);
  for (let n = 0; n < STEPS; n++) {
    const start = now();
    await step.run({ name: `s${n}` }, async () => payload());
    run.into.push(now() - start);
  }
  queueMicrotask(run.done);
});
await open.newWorker({ concurrency: 100 }).start();
await measure(async (id, into) => {
  const ended = new Promise((done) => runs.set(id, { into, done }));
  await flow.run({ id });
  await ended;
  runs.delete(id);
}, counts);
