// Mastra's workflows: ten steps, with the snapshot stored after each.
import { Mastra } from "@mastra/core/mastra";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { z } from "zod";
import { database, fileBytes, folder, measure, now, payload, STEPS } from "./work.mjs";

let storage;
let counts;
if (process.argv[2] === "postgres") {
  const { PostgresStore } = await import("@mastra/pg");
  counts = await database("peers_mastra");
  storage = new PostgresStore({ id: "bench", connectionString: counts.url });
} else {
  const { LibSQLStore } = await import("@mastra/libsql");
  const file = `${folder("mastra")}/mastra.db`;
  storage = new LibSQLStore({ id: "bench", url: `file:${file}` });
  counts = { bytes: () => fileBytes(file) };
}
const shape = z.object({ id: z.string(), out: z.string().optional() });
const runs = new Map();
const execute = async ({ inputData: { id } }) => {
  const run = runs.get(id);
  const time = now();
  if (run.before !== undefined) run.into.push(time - run.before);
  run.before = time;
  return { id, out: payload() };
};
let flow = createWorkflow({ id: "flow", inputSchema: shape, outputSchema: shape });
for (let n = 0; n < STEPS; n++)
  flow = flow.then(createStep({ id: `s${n}`, inputSchema: shape, outputSchema: shape, execute }));
const mastra = new Mastra({ workflows: { flow: flow.commit() }, storage, logger: false });
await storage.init?.();
await measure(async (id, into) => {
  runs.set(id, { into });
  const run = await mastra.getWorkflow("flow").createRun({ runId: id });
  const { status } = await run.start({ inputData: { id } });
  if (status !== "success") throw new Error(status);
  runs.delete(id);
}, counts);
