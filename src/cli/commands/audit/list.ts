import { defined } from "../../../core/defined.ts";
import { defineCommand } from "../../command.ts";
import { plural } from "../../format.ts";
import { readCount, readSince } from "../../view/parsers.ts";
import { iso } from "../../view/run-rows.ts";
import type { Column } from "../../view/table.ts";
import { tabled } from "../report/period.ts";

const COLUMNS: readonly Column[] = [
  { title: "AT" },
  { title: "ACTOR", least: 10, isName: true },
  { title: "ACT" },
  { title: "WHAT", least: 12, isName: true },
  { title: "REASON", least: 16 },
];

export const list = defineCommand({
  name: "list",
  summary: "What people did to runs and to the store, when and why",
  options: {
    since: { flag: "--since <time>", summary: "From this time on (default 30d)", parse: readSince },
    until: { flag: "--until <time>", summary: "Up to this time", parse: readSince },
    actor: { flag: "--actor <name>", summary: "Only what this person or program did" },
    act: { flag: "--act <kind>", summary: "Only one kind of act, such as token_created" },
    run: { flag: "--run <run>", summary: "Only acts on this run" },
    limit: { flag: "--limit <n>", summary: "At most this many (default 200)", parse: readCount },
  },
  examples: ["audit list --since 24h", "audit list --actor maria --act token_created"],
  async run(context) {
    const { since, until, actor, act, run, limit } = context.options;
    const now = await (await context.store()).now();
    const page = await (await context.engine()).audit.list(
      defined({ since: since?.(now), until: until?.(now), actor, act, run, limit }),
    );
    const rows = page.entries.map((one) => [
      iso(one.at).slice(0, 19),
      one.actor ?? "",
      one.act,
      [one.run, one.what].filter(Boolean).join(" "),
      one.reason ?? "",
    ]);
    const seen = `${plural(page.entries.length, "act")}${page.more ? ", and there are more" : ""}`;
    return {
      data: { ...page, entries: page.entries.map((one) => ({ ...one, at: iso(one.at) })) },
      text: [seen, ...tabled(context, COLUMNS, rows)].join("\n"),
    };
  },
});
