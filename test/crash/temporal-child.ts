import { job, ownerOf } from "../../lab/temporal/jobs.ts";
import { temporalWorker } from "../../src/adapters/temporal/index.ts";

/** A worker to be killed. */
const env = (name: string): string => process.env[name] ?? "";
const worker = await temporalWorker({
  address: env("HOLDFAST_ADDRESS"),
  taskQueue: env("HOLDFAST_QUEUE"),
  bundle: env("HOLDFAST_BUNDLE"),
  workflows: [job],
  owner: ownerOf(process.pid),
  recovery: { maxAttempts: 1_000 },
  ...(env("HOLDFAST_DEBUG") ? { logger: console } : {}),
});
process.stdout.write("ready\n");
process.once("SIGTERM", () => void worker.close());
await worker.stopped;
