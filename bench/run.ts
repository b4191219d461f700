import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { agentRestore } from "./cases/agent-restore.ts";
import { audit } from "./cases/audit.ts";
import { cli } from "./cases/cli.ts";
import { concurrent } from "./cases/concurrent.ts";
import { cost } from "./cases/cost.ts";
import { dag } from "./cases/dag.ts";
import { growth } from "./cases/growth.ts";
import { hostile } from "./cases/hostile.ts";
import { langgraph } from "./cases/langgraph.ts";
import { limits } from "./cases/limits.ts";
import { postgres } from "./cases/postgres.ts";
import { resume } from "./cases/resume.ts";
import { save } from "./cases/save.ts";
import { sealed } from "./cases/sealed.ts";
import { sequential } from "./cases/sequential.ts";
import { takeover } from "./cases/takeover.ts";
import { writesPerStore } from "./cases/writes.ts";
import { comparePeers } from "./peers/run.ts";
import { sqliteVersion } from "./workbench.ts";

/** What one case measured: figures by name, and goals as met or missed. Only ratios within one run mean anything. */
export interface CaseReport {
  readonly figures: Readonly<Record<string, number>>;
  readonly goals: readonly Goal[];
}

export interface Goal {
  readonly goal: string;
  readonly measured: number;
  readonly met: boolean;
}

type Case = (options: { readonly quick: boolean }) => Promise<CaseReport>;
const cases: Readonly<Record<string, Case>> = {
  limits,
  sequential,
  concurrent,
  growth,
  resume,
  save,
  sealed,
  postgres,
  cli,
  hostile,
  takeover,
  dag,
  "agent-restore": agentRestore,
  langgraph,
  audit,
  cost,
  writes: writesPerStore,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    /** Beside other engines: only that, in so many rounds; positionals choose among them. */
    peers: { type: "boolean", default: false },
    rounds: { type: "string", default: "3" },
    cache: { type: "string" },
    "absurd-sql": { type: "string" },
  },
});

if (values.peers) {
  const { cache, "absurd-sql": absurd } = values;
  process.stdout.write(
    await comparePeers({ rounds: Number(values.rounds), cache, absurd, only: positionals }),
  );
  process.exit(0);
}

const results: Record<string, CaseReport> = {};
for (const [name, run] of Object.entries(cases)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  process.stderr.write(`${name} …\n`);
  const report = await run({ quick: values.quick });
  results[name] = report;
  if (!values.json) print(name, report);
}
const machine = {
  node: process.version,
  sqlite: await sqliteVersion(),
  cpu: cpus()[0]?.model ?? "unknown",
  cores: cpus().length,
};
const date = new Date().toISOString().slice(0, 10);
process.stdout.write(
  values.json ? `${JSON.stringify({ date, machine, results })}\n` : `\n${date}  ${JSON.stringify(machine)}\n`,
);

function print(name: string, { figures, goals }: CaseReport): void {
  process.stdout.write(`\n${name}\n`);
  for (const [figure, value] of Object.entries(figures))
    process.stdout.write(`  ${figure.padEnd(52)} ${format(value)}\n`);
  for (const { goal, measured, met } of goals)
    process.stdout.write(`  ${met ? "met   " : "MISSED"}  ${goal.padEnd(60)} ${format(measured)}\n`);
}

function format(value: number): string {
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(3);
}
