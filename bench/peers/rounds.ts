import { spawn } from "node:child_process";
import { join } from "node:path";
import { firstLine, modernNode } from "./cache.ts";
import { PEERS, type Peer } from "./packages.ts";

/** Runs at once, and how many of them: runs of ten steps. */
type Levels = readonly (readonly [width: number, runs: number])[];
const LEVELS: Levels = [
  [1, 150],
  [16, 480],
  [100, 1_000],
];

/** Runs before anything is counted, so that every engine's code is compiled as it is in a process that has worked for a while. */
const WARM = 300;

export interface Figures {
  readonly perSec: number;
  readonly p50: number;
  readonly p95: number;
}

interface Measured {
  readonly levels: Readonly<Record<string, Figures>>;
  readonly bytes?: number;
}

type Result = Measured | { readonly limits: Readonly<Record<string, Measured>> };

/** All that was measured of one line of the table, round by round; or why there is nothing. */
export interface Line {
  readonly name: string;
  readonly store: string;
  readonly rounds: Measured[];
  missing?: string;
}

export interface Setup {
  readonly cache: string;
  readonly server: string;
  readonly dist: string;
  readonly absurd: string | undefined;
  readonly missing: ReadonlyMap<string, string>;
  readonly rounds: number;
  readonly only: readonly string[];
}

const LIMITS: Peer = { name: "limits", store: "", group: "main", script: "limits.mjs" };

/** Every case once a round, and each round begins with another one: only what was measured minutes apart compares. */
export async function measureAll(setup: Setup): Promise<readonly Line[]> {
  const lines = new Map<string, Line>();
  const line = (name: string, store: string): Line => {
    const known = lines.get(name + store) ?? { name, store, rounds: [] };
    lines.set(name + store, known);
    return known;
  };
  const isWanted = ({ name }: Peer): boolean =>
    setup.only.length === 0 || setup.only.some((one) => name.toLowerCase().includes(one));
  const cases = [LIMITS, ...PEERS].filter(isWanted);
  for (let round = 0; round < setup.rounds; round++) {
    for (const one of [...cases.slice(round % cases.length), ...cases.slice(0, round % cases.length)]) {
      const why = problemOf(one, setup);
      const known = one === LIMITS ? undefined : line(one.name, one.store);
      if (known?.missing !== undefined) continue;
      process.stderr.write(`round ${round + 1}: ${one.name} ${one.store} …\n`);
      const result = why ?? (await measured(one, setup, round === 0));
      if (typeof result === "string") line(one.name, one.store).missing = result;
      else if ("limits" in result)
        for (const [name, found] of Object.entries(result.limits)) line(name, "").rounds.push(found);
      else known?.rounds.push(result);
    }
  }
  return [...lines.values()];
}

function problemOf({ group, script }: Peer, { missing, absurd }: Setup): string | undefined {
  if (script === "absurd.mjs" && absurd === undefined)
    return "its SQL schema isn't in its package and could not be downloaded (`--absurd-sql <file>`)";
  return missing.get(group);
}

const MOST_MS = 180_000;

async function measured(one: Peer, setup: Setup, counts: boolean): Promise<Result | string> {
  const { cache, server, dist, absurd } = setup;
  const levels = LEVELS.map(([width, runs]) => [width, Math.max(width, Math.ceil(runs / (one.slow ?? 1)))]);
  const settings = {
    levels,
    warm: Math.ceil(WARM / (one.slow ?? 1)),
    folder: join(cache, "run"),
    server,
    dist,
    absurd,
    counts,
  };
  const cwd = join(cache, one.group);
  const env = {
    ...process.env,
    PEERS_SETTINGS: JSON.stringify(settings),
    NODE_NO_WARNINGS: "1",
    DO_NOT_TRACK: "1",
    MASTRA_TELEMETRY_DISABLED: "1",
    RESTATE_LOGGING: "ERROR",
  };
  const node = one.isModern ? modernNode(cache) : process.execPath;
  const child = spawn(node, [one.script, ...(one.argument ? [one.argument] : [])], { cwd, env });
  let [out, errors] = ["", ""];
  child.stdout.on("data", (text) => (out += text));
  child.stderr.on("data", (text) => (errors += text));
  const timer = setTimeout(() => child.kill("SIGKILL"), MOST_MS);
  const code = await new Promise((resolve) => {
    child.on("error", (error) => resolve(`${error}`));
    child.on("close", (status, signal) => resolve(status ?? signal));
  });
  clearTimeout(timer);
  const found = /^RESULT (.*)$/m.exec(out)?.[1];
  if (found !== undefined) return JSON.parse(found) as Result;
  return `did not run (${String(code)}): ${firstLine({ stderr: errors })}`;
}
