import { defined } from "../../core/defined.ts";
import {
  COST_GROUPS,
  type CostGroup,
  type CostReport,
  costReport,
  ledgerOf,
} from "../../core/manage/reports/cost-report.ts";
import { type Account, accountOf, type Ledger, newBooks } from "../../core/manage/reports/costs.ts";
import type { RunRow } from "../../core/types.ts";
import { defineCommand } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { count, duration, plural, tokens, wrap } from "../format.ts";
import type { Outcome } from "../outcome.ts";
import { readOrigin, withTags } from "../run-origin.ts";
import { readSince, type Since } from "../view/parsers.ts";
import { money } from "../view/spending.ts";
import { type Column, roomOf, table } from "../view/table.ts";

const WAYS = COST_GROUPS;
type Way = CostGroup;

/** `holdfast cost`: what was spent, how much of it on failed attempts, and what recovery has saved. */
export const command = defineCommand({
  name: "cost",
  summary: "Show tokens and money: spent, wasted on retries, saved by resuming",
  args: ["[run]"],
  options: {
    by: {
      flag: "--by <what>",
      summary: "Group by this (default: workflow, or step for one run)",
      choices: WAYS,
    },
    since: {
      flag: "--since <time>",
      summary: "Only runs started since then, such as 7d or a date",
      parse: readSince,
    },
    compare: { flag: "--compare <run>", summary: "Compare with this run" },
  },
  examples: ["cost --since 7d", "cost recon-88 --by model", "cost recon-88 --compare recon-87"],
  async run(context) {
    const { args, options } = context;
    const addresses = await context.addresses();
    const rows = args[0] === undefined ? undefined : [await addresses.run(args[0])];
    if (options.compare !== undefined) {
      const other = await addresses.run(options.compare);
      return compare(context, [...(rows ?? [await addresses.run("@last")]), other]);
    }
    return report(context, rows, options.by ?? (rows ? "step" : "workflow"), options.since);
  },
});

async function report(
  context: CommandContext<unknown>,
  rows: readonly RunRow[] | undefined,
  by: Way,
  since: Since | undefined,
): Promise<Outcome> {
  const store = await context.store();
  const run = rows?.[0]?.id;
  const oldest = since?.(await store.now());
  const labels = async (row: RunRow) => withTags(row, await readOrigin(store, row.id)).labels ?? {};
  const query = { by, ...defined({ run, since: oldest }) };
  const { total, groups, children, recovery } = await costReport(store, query, labels);
  const sorted = groups.map(({ name, ...account }) => [name, account] as const);
  return {
    data: { by, total, recovery, ...(rows ? { run, children } : {}), groups },
    text: textOf(context, by, total, sorted, { recovery, ...defined({ children }) }),
  };
}

const savedText = ({ saved }: Pick<Account, "saved">): string =>
  [saved.ms >= 50 ? duration(saved.ms) : "", saved.tokens > 0 ? money(saved) : ""]
    .filter((part) => part !== "")
    .join(" · ");

const columnsFor = (by: Way, isMany: boolean): readonly Column[] => [
  { title: by.toUpperCase(), least: 16 },
  { title: isMany ? "RUNS" : "DONE", align: "right" },
  { title: "TOKENS", align: "right" },
  { title: "COST", align: "right" },
  { title: "WASTED", align: "right" },
  { title: "SAVED", align: "right" },
];

function textOf(
  { host, out }: CommandContext<unknown>,
  by: Way,
  total: Account,
  groups: readonly (readonly [string, Account])[],
  { children, recovery }: Pick<CostReport, "children" | "recovery">,
): string {
  if (total.runs === 0) return "No runs, no cost.";
  const { paint } = out;
  const isMany = by === "workflow" || by === "label";
  const row = (name: string, account: Account): string[] => [
    name,
    by === "model" ? "" : count(isMany ? account.runs : account.steps),
    count(account.tokens),
    money(account) || "–",
    money(account.wasted) || "–",
    savedText(account) || "–",
  ];
  const room = roomOf(host);
  const lines = table(
    columnsFor(by, isMany),
    [...groups.map(([name, one]) => row(name, one)), row("total", total)],
    { room },
  );
  const [head = "", ...rest] = lines;
  const below =
    children && children.tokens > 0
      ? [paint.dim(`runs it started: ${tokens(children.tokens)}, ${money(children)} more`)]
      : [];
  const { interrupted, withoutRecovery } = recovery;
  const words = [
    ...(interrupted && withoutRecovery
      ? [
          `${count(total.interrupted)} of ${plural(total.runs, "run")} interrupted; from the beginning each time, they would have cost ${withoutRecovery.toFixed(2)} times as much`,
        ]
      : []),
    "wasted: on attempts that failed · saved: by resuming instead of starting over",
    ...(total.unpriced > 0 ? ["unpriced: reported without costUsd, so what it cost is not known"] : []),
  ];
  const note = words.flatMap((line) => wrap(line, room)).map((line) => paint.dim(line));
  return [paint.dim(head), ...rest.slice(0, -1), paint.bold(rest.at(-1) ?? ""), ...below, ...note].join("\n");
}

async function compare(context: CommandContext<unknown>, rows: readonly RunRow[]): Promise<Outcome> {
  const store = await context.store();
  const sides: { row: RunRow; ledger: Ledger }[] = [];
  for (const row of rows) sides.push({ row, ledger: await ledgerOf(store, row) });
  const names = [...new Set(sides.flatMap(({ ledger }) => [...ledger.bySteps.keys()]))];
  const facts: readonly (readonly [string, (side: (typeof sides)[number]) => string])[] = [
    ["status", ({ row }) => row.status],
    ["version", ({ row }) => row.version],
    ["steps done", ({ ledger }) => count(ledger.total.steps)],
    ["time at work", ({ row }) => duration(row.activeMs)],
    ["tokens", ({ ledger }) => count(ledger.total.tokens)],
    ["cost", ({ ledger }) => money(ledger.total) || "–"],
    ["wasted", ({ ledger }) => money(ledger.total.wasted) || "–"],
    ["saved", ({ ledger }) => savedText(ledger.total) || "–"],
    ...names.map(
      (name) =>
        [
          `  ${name}`,
          ({ ledger }: (typeof sides)[number]) => money(ledger.bySteps.get(name) ?? newBooks()) || "–",
        ] as const,
    ),
  ];
  const { host, out } = context;
  const columns: Column[] = [
    { title: "", least: 14 },
    ...rows.map(({ id }): Column => ({ title: id, align: "right", least: 12 })),
  ];
  const room = roomOf(host);
  const [head = "", ...lines] = table(
    columns,
    facts.map(([name, of]) => [name, ...sides.map(of)]),
    { room },
  );
  return {
    data: {
      runs: sides.map(({ row, ledger }) => ({
        run: row.id,
        workflow: row.workflow,
        version: row.version,
        status: row.status,
        activeMs: row.activeMs,
        ...accountOf(ledger.total),
        steps: Object.fromEntries([...ledger.bySteps].map(([step, books]) => [step, accountOf(books)])),
      })),
    },
    text: [out.paint.dim(head), ...lines].join("\n"),
  };
}
