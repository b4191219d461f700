import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createTemporalEngine, temporalWorker } from "../../src/adapters/temporal/index.ts";
import { Link } from "../../src/adapters/temporal/link.ts";
import { loadWorker } from "../../src/adapters/temporal/sdk.ts";
import { workflow } from "../../src/index.ts";
import { bundled } from "../../test/support/services/temporal.ts";
import { startTemporal } from "../services/temporal.ts";
import { buildTemporal, installTemporalSdk } from "../services/temporal-cache.ts";

/**
 * `npm run temporal:pace -- --runs 100 --steps 10`: how fast runs on Temporal get on beside the same workflow written by
 * hand, with an activity for each step, on one server and with one worker each, in turn.
 */
const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "100" },
    steps: { type: "string", default: "10" },
    rounds: { type: "string", default: "1" },
    seconds: { type: "string", default: "240" },
    heartbeat: { type: "string", default: "1000" },
  },
});
const [runs, steps, rounds] = [values.runs, values.steps, values.rounds].map(Number) as [
  number,
  number,
  number,
];
const say = (text: string): void => console.error(text);

interface Side {
  readonly name: string;
  /** Starts a run and resolves when it has ended. */
  run(id: string): Promise<unknown>;
  close(): Promise<void>;
}

interface Place {
  readonly address: string;
  readonly taskQueue: string;
}

const counted = workflow("counted", async (ctx, most: number) => {
  let sum = 0;
  for (let n = 0; n < most; n++) sum += await ctx.step(`s${n}`, async () => n);
  return sum;
});

async function holdfast(place: Place): Promise<Side> {
  const workflows = [counted];
  const how = { ...place, workflows, heartbeatMs: Number(values.heartbeat) };
  const worker = await temporalWorker({ ...how, bundle: await bundled() });
  const engine = createTemporalEngine(how);
  return {
    name: "holdfast",
    run: async (id) => (await engine.start(counted, steps, { id })).result(),
    async close() {
      await engine.close();
      await worker.close();
    },
  };
}

async function byHand(place: Place): Promise<Side> {
  const { Worker, NativeConnection, bundleWorkflowCode } = await loadWorker();
  const { address, taskQueue } = place;
  const connection = await NativeConnection.connect({ address });
  const workflowsPath = fileURLToPath(new URL("by-hand.ts", import.meta.url));
  const workflowBundle = await bundleWorkflowCode({ workflowsPath });
  const activities = { work: async (n: number) => n };
  const worker = await Worker.create({ connection, taskQueue, workflowBundle, activities });
  const stopped = worker.run();
  const link = new Link(place);
  const { client } = await link.raw();
  return {
    name: "by hand",
    async run(workflowId) {
      const how = { workflowIdReusePolicy: "REJECT_DUPLICATE", workflowIdConflictPolicy: "FAIL" } as const;
      await client.workflow.start("byHand", { workflowId, taskQueue, args: [steps], ...how });
      await client.workflow.getHandle(workflowId).result();
    },
    async close() {
      worker.shutdown();
      await stopped;
      await connection.close();
      await link.close();
    },
  };
}

interface Figures {
  readonly ended: number;
  readonly seconds: number;
  readonly stepsPerSecond: number;
}

/** Starts so many runs at once and waits for them, but not for ever. */
async function pace(side: Side, count: number, name: string): Promise<Figures> {
  const begun = performance.now();
  let ended = 0;
  const problems: unknown[] = [];
  const ending = Array.from({ length: count }, (_, n) =>
    side.run(`${name}-${n}`).then(
      () => ended++,
      (error: unknown) => problems.push(error),
    ),
  );
  await Promise.race([Promise.all(ending), delay(Number(values.seconds) * 1_000, undefined, { ref: false })]);
  for (const problem of problems.slice(0, 3)) say(String(problem));
  const seconds = (performance.now() - begun) / 1_000;
  return {
    ended,
    seconds: Number(seconds.toFixed(2)),
    stepsPerSecond: Math.round((ended * steps) / seconds),
  };
}

/** The events in the history of a run's newest execution. */
async function events(place: Place, runId: string): Promise<number> {
  const link = new Link(place);
  const { client } = await link.raw();
  const handle = client.workflow.getHandle(runId) as unknown as {
    fetchHistory(): Promise<{ events: unknown[] }>;
  };
  const { events: all } = await handle.fetchHistory();
  await link.close();
  return all.length;
}

const problem = (await installTemporalSdk(say)) ?? (await buildTemporal(say));
if (problem !== undefined) throw new Error(problem);
const server = await startTemporal();
const { address } = server;
const places = { holdfast: { address, taskQueue: "pace" }, byHand: { address, taskQueue: "by-hand" } };
const sides = [await byHand(places.byHand), await holdfast(places.holdfast)];
try {
  for (const side of sides) await pace(side, 3, `warm-${side.name}`);
  for (let round = 1; round <= rounds; round++)
    for (const count of [1, runs])
      for (const side of sides) {
        const figures = await pace(side, count, `${side.name}-${round}-${count}`);
        console.log(JSON.stringify({ side: side.name, runs: count, steps, ...figures }));
      }
  for (const side of sides) {
    const count = await events(places.holdfast, `${side.name}-1-1-0`);
    console.log(JSON.stringify({ side: side.name, eventsPerStep: count / steps }));
  }
} finally {
  for (const side of sides) await Promise.race([side.close(), delay(15_000, undefined, { ref: false })]);
  await server.remove();
  process.exit();
}
