/**
 * Holds a queue to its limits while its workers are killed and replaced. Prints what the witness saw, and fails if a
 * limit was broken.
 *
 *   npm run soak:queues -- [--store postgres|redis] [--runs 200] [--processes 4] [--kills 20] [--seed 1] [--rate calls|runs]
 */
import { parseArgs } from "node:util";
import { startPostgres } from "../services/postgres.ts";
import { startRedis } from "../services/redis.ts";
import { queuesUnderKills } from "./queues.ts";

const text = (fallback: string) => ({ type: "string", default: fallback }) as const;
const { values } = parseArgs({
  options: {
    store: text("sqlite"),
    runs: text("200"),
    processes: text("4"),
    kills: text("20"),
    keys: text("40"),
    "work-ms": text("150"),
    calls: text("50"),
    "period-ms": text("10000"),
    rate: text("calls"),
    seed: text("1"),
  },
});
const { store } = values;
const server = await (store === "postgres" ? startPostgres() : store === "redis" ? startRedis() : undefined);
if (server === null) throw new Error(`${store} isn't installed here`);
try {
  const report = await queuesUnderKills({
    processes: Number(values.processes),
    runs: Number(values.runs),
    keys: Number(values.keys),
    kills: Number(values.kills),
    workMs: Number(values["work-ms"]),
    seed: Number(values.seed),
    promised: {
      concurrency: 5,
      perKey: 1,
      calls: Number(values.calls),
      periodMs: Number(values["period-ms"]),
    },
    rate: values.rate === "runs" ? "runs" : "calls",
    ...(server ? { url: server.url } : {}),
  });
  console.log(JSON.stringify({ store, ...report }));
  process.exitCode = report.problems.length === 0 ? 0 : 1;
} finally {
  await server?.remove();
}
