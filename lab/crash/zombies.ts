import { type StoreKind, sharedByMany, sqliteKind } from "../../src/testing/store-kinds.ts";
import type { RunPlan, Strike } from "./config.ts";
import { FROZEN } from "./fault-injector.ts";
import { expectations, uninterrupted } from "./matrix.ts";
import type { SpawnOptions, WorkerProcess } from "./processes.ts";
import type { ScenarioName } from "./scenarios.ts";
import { type Expectations, Lab, type Problem, resultProblems, type Site } from "./site.ts";

export interface ZombieOptions {
  readonly rounds: number;
  /** A different worker to freeze: a broken one that proves the harness. */
  readonly spawn?: SpawnOptions;
  readonly onRound?: (at: string, problems: readonly Problem[]) => void;
  /** Default SQLite. Must allow several processes. */
  readonly store?: StoreKind;
  /** Where the workers freeze, in turn. Default: everywhere that matters. */
  readonly freezes?: readonly Freeze[];
}

export interface ZombieReport {
  readonly rounds: number;
  /** Writes that thawed workers attempted and the store refused. */
  readonly refused: number;
  readonly problems: readonly Problem[];
  readonly seconds: number;
}

/** Where a worker freezes: during a call, just before a write, or at a point of the protocol. */
export type Freeze =
  | { readonly call: string; readonly scenario: ScenarioName }
  | { readonly strike: Strike; readonly scenario: ScenarioName };

const FREEZES: readonly Freeze[] = [
  { scenario: "sequence", call: "mail" },
  { scenario: "sequence", strike: { write: 2, side: "before", claimed: true } },
  { scenario: "sequence", call: "charge" },
  { scenario: "sequence", strike: { point: "C07:after-call", nth: 3 } },
  { scenario: "loop", strike: { write: 7, side: "before", claimed: true } },
  { scenario: "sequence", strike: { point: "C05:before-call", nth: 5 } },
  { scenario: "retries", strike: { point: "C11:backoff", nth: 2 } },
  { scenario: "gates", call: "finish" },
  { scenario: "ledger", strike: { write: 3, side: "before", claimed: true } },
  { scenario: "sequence", strike: { write: 1, side: "after", claimed: true } },
];

const nameOf = (freeze: Freeze): string =>
  `${freeze.scenario}: frozen ${"call" in freeze ? `while calling ${freeze.call}` : `at ${JSON.stringify(freeze.strike)}`}`;

/** Within the patience of whoever waits for the frozen one, the server takes its transaction away. */
const FROZEN_MS = 5_000;

const losesFrozen = (kind: StoreKind): StoreKind => ({
  ...kind,
  place(folder) {
    const place = kind.place(folder);
    return { ...place, address: { ...place.address, timeoutMs: FROZEN_MS } };
  },
});

/**
 * Freezes a worker for longer than its claim lasts, lets another one finish its runs, and wakes it up: everything it
 * still tries to write must be refused.
 */
export async function zombieRounds(options: ZombieOptions): Promise<ZombieReport> {
  const { rounds, spawn, onRound, store = sqliteKind } = options;
  const started = performance.now();
  const lab = await Lab.open({ store: losesFrozen(sharedByMany(store)) });
  const able = await lab.scenarios();
  const freezes = (options.freezes ?? FREEZES).filter(({ scenario }) => able.includes(scenario));
  const problems: Problem[] = [];
  const known = new Map<ScenarioName, Expectations>();
  let refused = 0;
  try {
    for (let round = 0; round < rounds; round++) {
      const freeze = freezes[round % freezes.length] as Freeze;
      const { scenario } = freeze;
      const runs: RunPlan[] = [1, 2].map((n) => ({ id: `${scenario}-${n}`, scenario }));
      const expected = known.get(scenario) ?? expectations(await uninterrupted(lab, runs), runs);
      known.set(scenario, expected);
      const result = await zombieRound(await lab.site(), { freeze, runs, expected, spawn });
      refused += result.refused;
      problems.push(...result.problems);
      onRound?.(nameOf(freeze), result.problems);
    }
    return { rounds, refused, problems, seconds: (performance.now() - started) / 1000 };
  } finally {
    await lab.close();
  }
}

interface Round {
  readonly freeze: Freeze;
  readonly runs: readonly RunPlan[];
  readonly expected: Expectations;
  readonly spawn: SpawnOptions | undefined;
}

async function zombieRound(site: Site, round: Round): Promise<{ refused: number; problems: Problem[] }> {
  const { freeze, runs, expected } = round;
  const at = nameOf(freeze);
  const zombie = await startFrozen(site, round);
  const other = await site.run({ runs });
  const problems = resultProblems(at, runs, other, expected);
  await site.witness.release();
  zombie.signal("SIGCONT");
  const end = await zombie.ended;
  problems.push(
    ...resultProblems(`${at}, woken`, runs, end, expected),
    ...(await site.check(at, { zombies: true })),
  );
  const refused = end.reports[0]?.refused["fenced"] ?? 0;
  await site.remove();
  return { refused, problems };
}

async function startFrozen(site: Site, { freeze, runs, spawn }: Round): Promise<WorkerProcess> {
  // Requests sent to a server before the freeze may be abandoned after it.
  const plan = { runs, patient: true };
  if ("strike" in freeze) {
    const zombie = site.start({ ...plan, freeze: freeze.strike }, spawn);
    await zombie.printed(FROZEN);
    return zombie;
  }
  await site.witness.hold({ step: freeze.call }, runs.length);
  const zombie = site.start(plan, spawn);
  await site.witness.waitFor(({ step }) => step === freeze.call);
  zombie.signal("SIGUSR2");
  await zombie.printed(FROZEN);
  // The next worker is answered at once; the frozen one's answer stays unread in its socket.
  await site.witness.release();
  return zombie;
}
