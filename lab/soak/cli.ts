import { parseArgs } from "node:util";
import { contention } from "../crash/contention.ts";
import { outages } from "../crash/outages.ts";
import type { Problem } from "../crash/site.ts";
import { zombieRounds } from "../crash/zombies.ts";
import { simulateMany } from "../simulator/simulator.ts";
import { soak } from "./soak.ts";
import { openGround, type SoakGround, type SoakStore, soakStores } from "./stores.ts";
import { cutsOf, strikesOf } from "./strikes.ts";

const USAGE = `npm run soak -- --kills 500 --seed 7 [--store postgres] [--json]

  --store NAME       the store to torment: sqlite (default), postgres, redis, file, pglite or tiered
  --url URL          a server that is there, instead of one that is started; of PostgreSQL for tiered
  --cache-url URL    the same for the Redis of tiered
  --kills N          SIGKILLs, at places the seed decides, while runs are paused and resumed, forked, pruned and
                     carried from one version of their code to another and back
  --seed N           default 1
  --zombies N        rounds in which a frozen worker wakes up after it was replaced
  --contention S     seconds in which 8 processes share one store
  --cuts N           connections to PostgreSQL cut right before or after a commit while a worker goes on
  --outages N        times the server is killed (Redis under tiered: also emptied) while a worker goes on
  --simulate N       simulated histories, from the seed on
  --json             no progress on standard error

The last line on standard output is a JSON summary. Exit code 1: a promise was broken. 2: wrong arguments, or a
server that cannot be had.`;

interface Totals {
  readonly summary: Record<string, unknown>;
  readonly problems: Problem[];
}

const count = (text: string | undefined, fallback: number): number => {
  const value = text === undefined ? fallback : Number(text);
  if (Number.isInteger(value) && value >= 0) return value;
  console.error(USAGE);
  process.exit(2);
};

function readArgs() {
  try {
    const text = { type: "string" } as const;
    const flag = { type: "boolean" } as const;
    const options = {
      store: text,
      url: text,
      "cache-url": text,
      kills: text,
      seed: text,
      zombies: text,
      contention: text,
      cuts: text,
      outages: text,
      simulate: text,
      json: flag,
      help: flag,
    };
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exit(2);
  }
}

const round = (value: number): number => Math.round(value * 10) / 10;

type Say = (line: string) => void;

async function main(): Promise<void> {
  const args = readArgs();
  const store = soakStores.find((name) => name === (args.store ?? "sqlite"));
  if (args.help === true || store === undefined) {
    console.error(USAGE);
    process.exit(args.help === true ? 0 : 2);
  }
  const started = performance.now();
  const seed = count(args.seed, 1);
  const say = args.json === true ? () => undefined : (line: string) => void process.stderr.write(`${line}\n`);
  const totals: Totals = { summary: { store, seed }, problems: [] };
  const ground = await openGround(store, serversOf(store, args)).catch((error: Error) => {
    console.error(error.message);
    process.exit(2);
  });
  try {
    await soaked(totals, ground, { kills: count(args.kills, 100), seed, say });
    await frozen(totals, ground, count(args.zombies, 0), say);
    await contended(totals, ground, count(args.contention, 0), say);
    await struck(totals, ground, { cuts: count(args.cuts, 0), outages: count(args.outages, 0), say });
    await simulated(totals, count(args.simulate, 0), seed, say);
  } finally {
    await ground.close();
  }
  const { problems, summary } = totals;
  for (const { at, rule, runId, message } of problems.slice(0, 50))
    console.error(`${rule} ${runId}: ${message}\n   ${at}`);
  console.log(
    JSON.stringify({
      ...summary,
      violations: problems.length,
      seconds: round((performance.now() - started) / 1000),
    }),
  );
  process.exit(problems.length === 0 ? 0 : 1);
}

const serversOf = (store: SoakStore, args: ReturnType<typeof readArgs>) =>
  store === "redis" ? { redis: args.url } : { postgres: args.url, redis: args["cache-url"] };

async function soaked(
  { summary, problems }: Totals,
  { kind }: SoakGround,
  { kills, seed, say }: { readonly kills: number; readonly seed: number; readonly say: Say },
): Promise<void> {
  if (kills === 0) return;
  const report = await soak({
    kills,
    seed,
    store: kind,
    onStore: (now) =>
      say(
        `${now.kills}/${kills} kills, ${now.runs} runs, ${now.acts.forks} forks, ${now.effects} effects, ${now.problems.length} violations`,
      ),
  });
  problems.push(...report.problems);
  const { rounds, runs, acts, effects, recognised, duplicates, stores, killsPerMinute } = report;
  Object.assign(summary, {
    kills: report.kills,
    rounds,
    runs,
    ...acts,
    effects,
    recognised,
    duplicates,
    stores,
    killsPerMinute,
  });
}

async function frozen(
  { summary, problems }: Totals,
  { kind }: SoakGround,
  rounds: number,
  say: Say,
): Promise<void> {
  if (rounds === 0) return;
  const report = await zombieRounds({
    rounds,
    store: kind,
    onRound: (at, found) => say(`${at}: ${found.length} violations`),
  });
  problems.push(...report.problems);
  Object.assign(summary, { zombies: report.rounds, lateWritesRefused: report.refused });
}

async function contended(
  { summary, problems }: Totals,
  { kind }: SoakGround,
  seconds: number,
  say: Say,
): Promise<void> {
  if (seconds === 0) return;
  const report = await contention({ seconds, store: kind });
  say(
    `${report.processes} processes shared one store: ${report.runs} runs, ${report.problems.length} violations`,
  );
  problems.push(...report.problems);
  Object.assign(summary, {
    contentionSeconds: seconds,
    contentionRuns: report.runs,
    walBytes: report.walBytes,
  });
}

/** Disturbs servers and connections under a worker that has to survive it. */
async function struck(
  { summary, problems }: Totals,
  ground: SoakGround,
  { cuts, outages: times, say }: { readonly cuts: number; readonly outages: number; readonly say: Say },
): Promise<void> {
  if (cuts > 0) {
    const { way, close } = await cutsOf(ground);
    const report = await outages({ store: ground.kind, times: cuts, every: 3, ...way });
    await close();
    say(`${cuts} cuts: ${report.runs} runs, ${report.problems.length} violations`);
    problems.push(...report.problems);
    Object.assign(summary, { cuts, cutRuns: report.runs, cutCalls: report.calls });
  }
  if (times === 0) return;
  const report = await outages({ store: ground.kind, times, ...strikesOf(ground) });
  say(`${times} outages: ${report.runs} runs, ${report.problems.length} violations`);
  problems.push(...report.problems);
  Object.assign(summary, { outages: times, outageRuns: report.runs, outageCalls: report.calls });
}

async function simulated(
  { summary, problems }: Totals,
  histories: number,
  seed: number,
  say: Say,
): Promise<void> {
  if (histories === 0) return;
  const { runs, events, failed } = await simulateMany(seed, histories, {
    onReport: (one) => {
      if ((one.seed - seed + 1) % 1_000 === 0) say(`${one.seed - seed + 1}/${histories} simulated histories`);
    },
  });
  for (const { seed: at, findings } of failed) {
    const first = findings.slice(0, 3).map(({ invariant, message }) => `${invariant} ${message}`);
    problems.push({
      at: `simulated seed ${at}`,
      rule: "result",
      runId: findings[0]?.runId ?? "",
      message: first.join(" "),
    });
  }
  Object.assign(summary, { simulated: histories, simulatedRuns: runs, simulatedEvents: events });
}

await main();
