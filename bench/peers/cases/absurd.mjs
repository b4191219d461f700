// Absurd: tasks are enqueued first, and a worker of the given width drains them.
import { readFileSync } from "node:fs";
import { Absurd } from "absurd-sdk";
import pg from "pg";
import { database, drained, figures, now, payload, STEPS, settings } from "./work.mjs";

const counts = await database("peers_absurd");
await counts.ask(readFileSync(settings.absurd, "utf8"));
const quiet = { log() {}, info() {}, debug() {}, warn: console.warn, error: console.error };
const db = new pg.Pool({ connectionString: counts.url, max: 32 });
const app = new Absurd({ db, queueName: "bench", log: quiet });
let latencies = [];
let ended = () => undefined;
app.registerTask({ name: "flow", queue: "bench" }, async (_, ctx) => {
  for (let n = 0; n < STEPS; n++) {
    const start = now();
    await ctx.step(`s${n}`, async () => payload());
    latencies.push(now() - start);
  }
  ended();
});
await app.createQueue("bench");
await drained(async (count, width) => {
  for (let n = 0; n < count; n++) await app.spawn("flow", {});
  latencies = [];
  let left = count;
  const all = new Promise((resolve) => {
    ended = () => --left === 0 && resolve();
  });
  const start = now();
  const worker = await app.startWorker({ concurrency: width, claimTimeout: 60, pollInterval: 0.01 });
  await all;
  const ms = now() - start;
  await worker.close();
  return figures(count * STEPS, ms, latencies);
}, counts);
