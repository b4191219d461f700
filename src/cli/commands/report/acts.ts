import { defined } from "../../../core/defined.ts";
import { defineCommand } from "../../command.ts";
import { plural } from "../../format.ts";
import { iso } from "../../view/run-rows.ts";
import type { Column } from "../../view/table.ts";
import { periodOptions, readQuery, tabled } from "./period.ts";

const COLUMNS: readonly Column[] = [
  { title: "AT" },
  { title: "ACTOR", least: 10, isName: true },
  { title: "ACT" },
  { title: "RUN", least: 12, isName: true },
  { title: "REASON", least: 16 },
];

export const acts = defineCommand({
  name: "acts",
  summary: "What people did to runs, when and why",
  options: {
    ...periodOptions,
    actor: { flag: "--actor <name>", summary: "Only what this person or program did" },
    act: { flag: "--act <kind>", summary: "Only one kind of act, such as pause_requested" },
  },
  examples: ["report acts --since 24h", "report acts --actor maria --act values_read"],
  async run(context) {
    const { actor, act: kind } = context.options;
    const query = { ...(await readQuery(context)), ...defined({ actor, kind }) };
    const page = await (await context.engine()).reports.acts(query);
    const rows = page.acts.map((one) => [
      iso(one.at).slice(0, 19),
      one.actor,
      one.kind,
      one.run,
      one.reason ?? "",
    ]);
    const seen = `${plural(page.acts.length, "act")} in ${plural(page.runs, "run")}${page.more ? ", and there are more" : ""}`;
    return {
      data: { ...page, acts: page.acts.map((one) => ({ ...one, at: iso(one.at) })) },
      text: [seen, ...tabled(context, COLUMNS, rows)].join("\n"),
    };
  },
});
