import { parseArgs } from "node:util";
import { contention } from "./crash/contention.ts";
import type { Problem } from "./crash/site.ts";
import { soak } from "./crash/soak.ts";
import { zombieRounds } from "./crash/zombies.ts";
import { simulateMany } from "./simulator.ts";

const USAGE = `npm run soak -- --kills 500 --seed 7 [--zombies 200] [--contention 60] [--simulate 1000] [--json]

  --store sqlite     the store to torment; only sqlite has processes to kill so far
  --kills N          SIGKILLs, at places the seed decides, while runs are paused and resumed, forked, pruned and
                     carried from one version of their code to another and back
  --seed N           default 1
  --zombies N        rounds in which a frozen worker wakes up after it was replaced
  --contention S     seconds in which 8 processes share one file
  --simulate N       simulated histories, from the seed on
  --json             no progress on standard error

The last line on standard output is a JSON summary. Exit code 1: a promise was broken. 2: wrong arguments.`;

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
      kills: text,
      seed: text,
      zombies: text,
      contention: text,
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

async function main(): Promise<void> {
  const args = readArgs();
  if (args.help === true || (args.store ?? "sqlite") !== "sqlite") {
    console.error(USAGE);
    process.exit(args.help === true ? 0 : 2);
  }
  const started = performance.now();
  const seed = count(args.seed, 1);
  const say = args.json === true ? () => undefined : (line: string) => void process.stderr.write(`${line}\n`);
  const totals: Totals = { summary: { store: "sqlite", seed }, problems: [] };
  await soaked(totals, count(args.kills, 100), seed, say);
  await frozen(totals, count(args.zombies, 0), say);
  await contended(totals, count(args.contention, 0), say);
  await simulated(totals, count(args.simulate, 0), seed, say);
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

async function soaked(
  { summary, problems }: Totals,
  kills: number,
  seed: number,
  say: (line: string) => void,
): Promise<void> {
  if (kills === 0) return;
  const report = await soak({
    kills,
    seed,
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
  rounds: number,
  say: (line: string) => void,
): Promise<void> {
  if (rounds === 0) return;
  const report = await zombieRounds({
    rounds,
    onRound: (at, found) => say(`${at}: ${found.length} violations`),
  });
  problems.push(...report.problems);
  Object.assign(summary, { zombies: report.rounds, lateWritesRefused: report.refused });
}

async function contended(
  { summary, problems }: Totals,
  seconds: number,
  say: (line: string) => void,
): Promise<void> {
  if (seconds === 0) return;
  const report = await contention({ seconds });
  say(
    `${report.processes} processes shared one file: ${report.runs} runs, ${report.problems.length} violations`,
  );
  problems.push(...report.problems);
  Object.assign(summary, {
    contentionSeconds: seconds,
    contentionRuns: report.runs,
    walBytes: report.walBytes,
  });
}

async function simulated(
  { summary, problems }: Totals,
  histories: number,
  seed: number,
  say: (line: string) => void,
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
