import { statSync } from "node:fs";
import { HoldfastError } from "../../core/errors.ts";
import type { Store } from "../../core/store/contract.ts";
import { defineCommand } from "../command.ts";
import { isAbsent, storeUrl, withoutPassword } from "../config/store-url.ts";
import type { CommandContext } from "../context.ts";
import { describe } from "../error-document.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { plural } from "../format.ts";
import type { Outcome } from "../outcome.ts";
import { bad, type Check, ok } from "./doctor/checks.ts";
import { checkDisk, checkIgnored, checkKeys, checkNode, checkRights, checkSqlite } from "./doctor/machine.ts";
import { checkClock, checkDamage, checkReads, checkRuns, checkWrites, sizeOf } from "./doctor/store.ts";

/** `holdfast doctor`: checks whether everything is in order, and says how to fix it. Uses only the store. */
export const command = defineCommand({
  name: "doctor",
  summary: "Check the store, its latency, clock, versions, keys, disk and interrupted runs",
  options: {
    fix: { flag: "--fix", summary: "Fix what can be fixed without changing a run or calling code" },
  },
  examples: ["doctor", "doctor --fix"],
  async run(context) {
    const checks = [checkNode(), ...(await checkStore(context))];
    const repaired: string[] = [];
    if (context.options.fix)
      for (const { repair } of checks)
        if (repair) {
          repair.run();
          repaired.push(repair.text);
        }
    const left = context.options.fix ? checks.filter(({ repair }) => !repair) : checks;
    return outcome(context, left, repaired);
  },
});

async function checkStore(context: CommandContext<unknown>): Promise<Check[]> {
  const settings = await context.settings();
  const { host } = context;
  const url = storeUrl(settings, host.cwd);
  const shown = withoutPassword(url);
  const place = /^(?:(sqlite|file|pglite):(?!\/\/))?(\/.*|[A-Z]:\\.*)$/i.exec(url)?.[2];
  const isSqlite = /^sqlite:|\.db$/i.test(url);
  const checks = [checkKeys(settings, host), ...(isSqlite ? [await checkSqlite()] : [])];
  if (place !== undefined) checks.push(checkDisk(place));
  if (isAbsent(url)) return [ok("store", `${shown} is made with the first run`), ...checks];
  const store = await open(context);
  if ("name" in store && "text" in store) {
    const keys = bad("encryption", "off, and the store is encrypted", {
      advice: "Set encryption in holdfast.config.",
    });
    return [store, ...checks.map((check) => (store.isSealed && check.name === "encryption" ? keys : check))];
  }
  const local = place !== undefined && statSync(place).isFile() ? place : undefined;
  const ignored = local === undefined ? undefined : checkIgnored(local, settings.root);
  return [
    ok("store", `${shown}${local === undefined ? "" : ` ${sizeOf(local)}`} (survives ${survives(store)})`),
    await checkReads(store),
    ...(local === undefined ? [] : [checkWrites(local), checkRights(local)]),
    ...(ignored ? [ignored] : []),
    await checkClock(store),
    await checkDamage(await context.engine()),
    ...checks,
    ...(await checkRuns(store)),
  ];
}

async function open(
  context: CommandContext<unknown>,
): Promise<Store | (Check & { readonly isSealed: boolean })> {
  try {
    const store = await context.store();
    await store.identity();
    return store;
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    const isSealed = error.code === "HF-3062";
    return { ...bad("store", `${context.where}: ${error.message}`, { advice: error.fix }), isSealed };
  }
}

const survives = ({ capabilities }: Store): string =>
  ({ "power-loss": "power loss", process: "a crash of the process", none: "nothing" })[
    capabilities.durability
  ];

const EXITS: Readonly<Record<string, ExitCode>> = { store: EXIT.store, integrity: EXIT.integrity };

const GLYPHS = { ok: "✓", warn: "!", bad: "✗" } as const;

function outcome(
  context: CommandContext<unknown>,
  checks: readonly Check[],
  repaired: readonly string[],
): Outcome {
  const { paint } = context.out;
  const colours = { ok: paint.green, warn: paint.yellow, bad: paint.red };
  const advice = ({ fix }: Check): string =>
    fix === undefined ? "" : "command" in fix ? context.cli(fix.command) : fix.advice;
  const lines = checks.map((check) => {
    const then = advice(check);
    return `${colours[check.state](GLYPHS[check.state])} ${check.name.padEnd(12)} ${check.text}${then === "" ? "" : `  → ${then}`}`;
  });
  const broken = checks.filter(({ state }) => state === "bad");
  const [worst] = broken;
  const told = checks.map((check) => ({
    name: check.name,
    state: check.state,
    text: check.text,
    ...(check.fix ? { fix: advice(check) } : {}),
  }));
  const commands = checks.flatMap(({ fix }) => (fix && "command" in fix ? [fix.command] : []));
  return {
    data: { checks: told, repaired },
    text: [...lines, ...repaired.map((text) => `${paint.green("✓")} fixed        ${text}`)].join("\n"),
    next: [...new Set(commands)],
    ...(worst
      ? {
          exit: EXITS[worst.name] ?? EXIT.invalid,
          error: describe(
            new HoldfastError("HF-4360", {
              count: plural(broken.length, "thing"),
              why: worst.text,
              fix: advice(worst),
            }),
          ),
        }
      : {}),
  };
}
