import { parseArgs } from "node:util";
import { firstOf, output } from "../services/service.ts";
import { type PowerReport, powerCuts, powerStores } from "./power.ts";

const USAGE = `npm run soak:power -- [--store sqlite] [--cuts 10] [--seed 7]

  --store NAME   sqlite, file, postgres or redis; default: all of them, one after the other
  --cuts N       power cuts for each; default 10
  --seed N       decides when they come; default 1
  --control N    power cuts for each with a library (libeatmydata) that ignores syncs: writes must be lost then, or
                 the cuts prove nothing; default 3

Needs Linux, root and the right to mount a disk. The last line on standard output is a JSON summary. Exit code 1: a promise
was broken, or nothing was lost without syncs. 2: wrong arguments, or it cannot be done here.`;

const text = { type: "string" } as const;
const options = { store: text, cuts: text, seed: text, control: text, help: { type: "boolean" } } as const;

function stop(message: string): never {
  console.error(message);
  process.exit(2);
}

function readArgs() {
  try {
    const { values } = parseArgs({ options });
    const count = (value: string | undefined, otherwise: number): number => {
      const read = value === undefined ? otherwise : Number(value);
      return Number.isInteger(read) && read >= 0 ? read : stop(USAGE);
    };
    const stores = powerStores.filter((name) => values.store === undefined || values.store === name);
    if (values.help === true || stores.length === 0) return stop(USAGE);
    const cuts = count(values.cuts, 10);
    return { stores, cuts, seed: count(values.seed, 1), control: count(values.control, 3) };
  } catch (error) {
    return stop(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
}

/** Builds the library that ignores syncs. */
async function careless(): Promise<string> {
  const triple = (await output("gcc", ["-print-multiarch"])) ?? `${MACHINE}-linux-gnu`;
  const folders = [`/usr/lib/${triple}`, "/usr/lib64", "/usr/lib", "/usr/lib/libeatmydata"];
  const found = firstOf(folders.map((folder) => `${folder}/libeatmydata.so`));
  return (
    found ??
    stop("libeatmydata cannot be had: it is not installed (Debian: libeatmydata1). --control 0 goes without.")
  );
}

const MACHINE = process.arch === "arm64" ? "aarch64" : "x86_64";

const told = ({ problems, seconds, ...figures }: PowerReport) => ({
  ...figures,
  violations: problems.length,
  seconds: Math.round(seconds),
});

const { stores, cuts, seed, control } = readArgs();
const env = control > 0 ? { LD_PRELOAD: await careless() } : {};
const summary: Record<string, unknown>[] = [];
let isBroken = false;
for (const store of stores) {
  try {
    const report = await powerCuts({ store, cuts, seed });
    for (const { at, rule, runId, message } of report.problems.slice(0, 20))
      console.error(`${store} ${rule} ${runId}: ${message}\n   ${at}`);
    const without = await powerCuts({ store, cuts: control, seed, env });
    const isProven = control === 0 || without.lost + without.unopened > 0;
    if (!isProven) console.error(`${store}: nothing was lost without syncs, so its cuts prove nothing.`);
    isBroken ||= report.problems.length > 0 || !isProven;
    summary.push({ ...told(report), withoutSyncs: told(without) });
    console.error(JSON.stringify(summary.at(-1)));
  } catch (error) {
    stop(`${store}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
console.log(JSON.stringify({ seed, stores: summary }));
process.exit(isBroken ? 1 : 0);
