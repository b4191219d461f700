import { defined } from "../../core/defined.ts";
import type { PriceView } from "../../core/flow/prices.ts";
import { type CommandGroup, defineCommand } from "../command.ts";
import { usd } from "../format.ts";
import { usage } from "../globals.ts";
import { readSince } from "../view/parsers.ts";
import { type Column, listText } from "../view/table.ts";

const COLUMNS: readonly Column[] = [
  { title: "MODEL", least: 16, isName: true },
  { title: "INPUT", align: "right" },
  { title: "OUTPUT", align: "right" },
  { title: "FROM" },
  { title: "SOURCE", least: 16 },
];

const rowOf = ({ model, input, output, from, source, set, isCurrent }: PriceView): string[] => [
  model,
  usd(input),
  usd(output),
  `${new Date(from).toISOString().slice(0, 10)}${isCurrent ? "" : " (not now)"}`,
  set?.by ? `${source} (${set.by})` : source,
];

const list = defineCommand({
  name: "list",
  summary: "List what models cost: per million tokens, with date and source",
  examples: ["prices list"],
  async run(context) {
    const prices = await (await context.engine()).prices.list();
    return { data: { prices }, text: listText(context, COLUMNS, prices.map(rowOf), "There are no prices.") };
  },
});

const set = defineCommand({
  name: "set",
  summary: "Set what a model costs, from now or a date on",
  args: ["<model>"],
  options: {
    input: { flag: "--input <amount>", summary: "US dollars per million tokens sent", parse: Number },
    output: { flag: "--output <amount>", summary: "US dollars per million tokens returned", parse: Number },
    source: { flag: "--source <text>", summary: "Where the price was read" },
    from: { flag: "--from <time>", summary: "From when it holds (default: now)", parse: readSince },
  },
  examples: [
    "prices set gpt-5 --input 1.25 --output 10 --from 2026-01-01 --source https://openai.com/pricing",
  ],
  async run(context) {
    const [model = ""] = context.args;
    const { input, output, source, from } = context.options;
    if (input === undefined || output === undefined || source === undefined)
      throw usage(
        "a price needs both amounts and its source",
        "Give --input, --output and --source.",
        "holdfast prices set llama --input 0 --output 0 --source 'our own machine'",
      );
    const store = await context.store({ create: true });
    const act = await context.act("prices set");
    const { prices } = await context.engine();
    const price = { input, output, source, ...defined({ from: from?.(await store.now()) }) };
    return {
      data: { model, prices: await prices.set(model, price, act) },
      text: `✓ ${model} costs ${usd(input)} and ${usd(output)} per million tokens`,
      next: ["prices list"],
    };
  },
});

const remove = defineCommand({
  name: "delete",
  summary: "Delete what was set for a model; its list price holds again",
  args: ["<model>"],
  examples: ["prices delete gpt-5"],
  async run(context) {
    const [model = ""] = context.args;
    const act = await context.act("prices delete");
    await (await context.engine()).prices.delete(model, act);
    return { data: { model, deleted: true }, text: `✓ the price of ${model} is deleted` };
  },
});

/** `holdfast prices …`: what models cost. */
export const command: CommandGroup = {
  name: "prices",
  summary: "Set what models cost, with date and source",
  commands: [list, set, remove],
  otherwise: "list",
};
