import { defined } from "../../core/defined.ts";
import { type CommandGroup, defineCommand } from "../command.ts";
import { tokens, usd } from "../format.ts";
import { usage } from "../globals.ts";
import { type Column, listText } from "../view/table.ts";

const COLUMNS: readonly Column[] = [
  { title: "BUDGET", least: 12, isName: true },
  { title: "RUNS", least: 12 },
  { title: "SPENT", align: "right" },
  { title: "OF", align: "right" },
  { title: "STATE" },
];

const list = defineCommand({
  name: "list",
  summary: "List budgets of this month, and what is spent of them",
  examples: ["budgets list"],
  async run(context) {
    const budgets = await (await context.engine()).alerts.budgets.list();
    const rows = budgets.map(({ name, label, workflow, spentUsd, unpriced, usd: most, share, state }) => [
      name,
      [label, workflow].filter((one) => one !== undefined).join(" ") || "all",
      `${spentUsd === null ? "unpriced" : usd(spentUsd)}${spentUsd !== null && unpriced > 0 ? ` + ${tokens(unpriced)} unpriced` : ""}`,
      usd(most),
      share === null ? "not known" : `${Math.floor(share * 100)} %${state === "within" ? "" : ` ${state}`}`,
    ]);
    return {
      data: { budgets },
      text: listText(context, COLUMNS, rows, "There are no budgets."),
    };
  },
});

const set = defineCommand({
  name: "set",
  summary: "Set what runs may cost in a month: people are told at 80 % and at 100 %",
  args: ["<budget>"],
  options: {
    usd: { flag: "--usd <amount>", summary: "US dollars a month", parse: Number },
    label: { flag: "--label <name=value>", summary: "Only runs with this label" },
    workflow: { flag: "--workflow <name>", summary: "Only runs of this workflow" },
  },
  examples: ["budgets set payments --usd 500 --label team=payments"],
  async run(context) {
    const [name = ""] = context.args;
    const { usd: amount, label, workflow } = context.options;
    if (amount === undefined)
      throw usage("a budget needs an amount", "In US dollars a month.", "holdfast budgets set all --usd 500");
    await context.store({ create: true });
    const act = await context.act("budgets set");
    const { budgets } = (await context.engine()).alerts;
    const budget = await budgets.set(name, { usd: amount, ...defined({ label, workflow }) }, act);
    return {
      data: { name, budget },
      text: `✓ ${name} may cost ${usd(amount)} a month`,
      next: ["budgets list"],
    };
  },
});

const remove = defineCommand({
  name: "delete",
  summary: "Delete a budget",
  args: ["<budget>"],
  examples: ["budgets delete payments"],
  async run(context) {
    const [name = ""] = context.args;
    await context.act("budgets delete");
    await (await context.engine()).alerts.budgets.delete(name);
    return { data: { budget: name, deleted: true }, text: `✓ ${name} is deleted` };
  },
});

/** `holdfast budgets …`: what runs may cost in a month. */
export const command: CommandGroup = {
  name: "budgets",
  summary: "Set what runs may cost in a month, and see what is spent",
  commands: [list, set, remove],
  otherwise: "list",
};
