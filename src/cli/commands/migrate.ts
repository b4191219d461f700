import { HoldfastError } from "../../core/errors.ts";
import type { MigrationReport, RunMigration } from "../../core/manage/migrations.ts";
import { everyRun } from "../../core/store/query.ts";
import { defineCommand } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { describe } from "../error-document.ts";
import { EXIT } from "../exit-codes.ts";
import { columns, count, oneLine, plural } from "../format.ts";
import type { Outcome } from "../outcome.ts";

const MOST_RUNS = 40;

/**
 * `holdfast migrate`: what new code means for stored runs, before a deploy or instead of waiting for the next worker.
 */
export const command = defineCommand({
  name: "migrate",
  summary: "Show what new code means for stored runs, and migrate them",
  args: ["[workflow]"],
  options: {
    plan: { flag: "--plan", summary: "Only print what would happen to each run" },
    dryRun: { flag: "--dry-run", summary: "The same" },
    run: { flag: "--run <run>", summary: "Only this run" },
  },
  examples: ["migrate flow.ts --plan", "migrate flow.ts#order", "migrate"],
  async run(context) {
    const { args, options } = context;
    const [named] = args;
    if (named === undefined) return versions(context);
    const isPlan = options.plan || options.dryRun;
    const act = isPlan ? {} : await context.act("migrate");
    const code = await (await context.workflows()).find(named);
    const { migrations } = await context.engine({ workflows: code.all });
    const which =
      options.run === undefined
        ? { workflow: code.workflow.name }
        : (await (await context.addresses()).run(options.run)).id;
    const checked = await migrations.check(which);
    const { migrates, parks } = checked.totals;
    if (isPlan || migrates === 0) return { ...told(checked, true), ...(parks > 0 ? waiting(checked) : {}) };
    context.out.say(textOf(checked, true));
    await context.confirm(
      "migrate",
      `${plural(migrates, "run")} of ${code.workflow.name} will become version ${code.workflow.version}`,
    );
    const done = await migrations.apply(which, act);
    await context.rememberCode(code);
    return { ...told(done, false), ...(done.totals.parks > 0 ? waiting(done) : {}) };
  },
});

const told = (report: MigrationReport, isPlan: boolean): Outcome => ({
  data: { plan: isPlan, ...report },
  text: textOf(report, isPlan),
});

function waiting({ totals, runs }: MigrationReport): Pick<Outcome, "error" | "exit"> {
  const why = runs.find(({ outcome }) => outcome === "parks")?.problem ?? "";
  const error = describe(new HoldfastError("HF-4361", { count: plural(totals.parks, "run"), why }));
  return { error, exit: EXIT.invalid };
}

function textOf({ runs, totals, more }: MigrationReport, isPlan: boolean): string {
  if (runs.length === 0) return "✓ no unfinished runs: nothing to migrate";
  const verb = isPlan ? "migrates" : "migrated";
  const done = isPlan ? totals.migrates : runs.filter(({ applied }) => applied).length;
  const left = totals.migrates - done;
  const head = [
    `${count(totals.current)} current`,
    `${count(done)} ${isPlan ? "would migrate" : verb}`,
    ...(left > 0 ? [`${count(left)} left to the worker that has them`] : []),
    `${count(totals.parks)} would wait`,
  ].join(" · ");
  const rows = runs
    .filter(({ outcome, missing = [] }) => outcome !== "current" || missing.length > 0)
    .slice(0, MOST_RUNS)
    .map(rowOf);
  return [head, ...columns(rows), ...(more ? ["  … more"] : [])].join("\n");
}

function rowOf({
  runId,
  from,
  to,
  outcome,
  changes,
  renamed,
  dropped,
  problem,
  applied,
  missing = [],
}: RunMigration): string[] {
  const facts = [
    changes.length > 0 ? plural(changes.length, "state change") : "",
    ...Object.entries(renamed).map(([was, is]) => `${was} → ${is}`),
    dropped.length > 0 ? `without ${dropped.join(", ")}` : "",
    problem === undefined ? "" : oneLine(problem),
    problem === undefined && missing.length > 0
      ? `waits before its next effect, unless the code asks for ${missing.join(", ")} first`
      : "",
  ].filter((fact) => fact !== "");
  const glyph = outcome === "parks" ? "✗" : applied ? "✓" : outcome === "current" ? "?" : "→";
  return [`  ${glyph} ${runId}`, `${from} → ${to}`, facts.join("; ")];
}

/** Without code: lists the stored versions. */
async function versions(context: CommandContext<unknown>): Promise<Outcome> {
  const store = await context.store();
  const found = new Map<string, { workflow: string; version: string; schema: number; runs: number }>();
  const status = ["queued", "running", "waiting", "paused", "failed"] as const;
  for await (const { workflow, version, schema } of everyRun(store, { status, pruned: false })) {
    const key = JSON.stringify([workflow, version, schema]);
    const one = found.get(key) ?? { workflow, version, schema, runs: 0 };
    one.runs++;
    found.set(key, one);
  }
  const stored = [...found.values()].sort(
    (a, b) => a.workflow.localeCompare(b.workflow) || a.version.localeCompare(b.version),
  );
  const rows = stored.map(({ workflow, version, schema, runs }) => [
    `  ${workflow}`,
    `version ${version}`,
    `schema ${schema}`,
    plural(runs, "run"),
  ]);
  const text = [
    `✓ ${context.where}: the tables are of this version (they are brought up to date when the store is opened)`,
    rows.length === 0 ? "There are no unfinished runs." : "Unfinished runs have these versions:",
    ...columns(rows),
    ...(rows.length === 0
      ? []
      : ["To see what new code would do with them: holdfast migrate <file.ts> --plan"]),
  ];
  return { data: { store: context.where, versions: stored }, text: text.join("\n") };
}
