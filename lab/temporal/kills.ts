import { parseArgs } from "node:util";
import { buildLab } from "../../scripts/build.mjs";
import { bundled } from "../../test/support/services/temporal.ts";
import { startTemporal } from "../services/temporal.ts";
import { buildTemporal, installTemporalSdk } from "../services/temporal-cache.ts";
import { killWorkers } from "./killing.ts";

/** `npm run temporal:kills -- --kills 300 --servers 20`: kills workers and servers, and judges by a witness outside. */
const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "300" },
    servers: { type: "string", default: "20" },
    runs: { type: "string", default: "6" },
    workers: { type: "string", default: "2" },
    minutes: { type: "string", default: "600" },
  },
});

function spread(times: readonly number[]): object {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number): number | undefined => sorted[Math.floor((sorted.length - 1) * share)];
  return { count: sorted.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

const say = (text: string): void => console.error(text);
const problem = (await installTemporalSdk(say)) ?? (await buildTemporal(say));
if (problem !== undefined) throw new Error(problem);
await buildLab();
const server = await startTemporal();
try {
  const report = await killWorkers({
    server,
    bundle: await bundled(),
    kills: Number(values.kills),
    serverKills: Number(values.servers),
    runs: Number(values.runs),
    workers: Number(values.workers),
    until: Date.now() + Number(values.minutes) * 60_000,
    say,
  });
  const claims = spread(report.recoveries.map(({ ms }) => ms));
  const calls = spread(report.recoveries.flatMap(({ callMs }) => callMs ?? []));
  console.log(JSON.stringify({ ...report, recoveries: { claims, calls } }, null, 2));
  process.exitCode = report.repeatedSteps.length + report.doubled.length + report.wrong.length > 0 ? 1 : 0;
} finally {
  await server.remove();
}
