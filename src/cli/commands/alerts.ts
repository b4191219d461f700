import { type CommandGroup, defineCommand } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { plural, when } from "../format.ts";
import { type Column, listText } from "../view/table.ts";

const COLUMNS: readonly Column[] = [
  { title: "" },
  { title: "ALERT", least: 16, isName: true },
  { title: "WHAT", least: 24 },
  { title: "SINCE" },
  { title: "STATE" },
];

const list = defineCommand({
  name: "list",
  summary: "List open alerts, the most urgent first",
  options: { all: { flag: "--all", summary: "Also those that were cleared within a week" } },
  examples: ["alerts list", "alerts list --all --json"],
  async run(context) {
    const { alerts: all, open } = await (await context.engine()).alerts.list({ all: context.options.all });
    const now = await (await context.store()).now();
    const rows = all.map((one) => [
      one.severity,
      one.key,
      one.summary,
      when(one.openedAt, now, context.host.stdout.isTTY),
      one.state === "cleared" ? "cleared" : one.acked ? `with ${one.acked.by ?? "somebody"}` : "open",
    ]);
    return {
      data: { alerts: all, open },
      text: listText(context, COLUMNS, rows, "✓ No open alerts."),
      ...(open.P1 + open.P2 > 0 ? { next: ["alerts ack <alert> --reason <text>"] } : {}),
    };
  },
});

const ack = defineCommand({
  name: "ack",
  summary: "Say that you look after an alert: no reminders until it is cleared",
  args: ["<alert>"],
  examples: ['alerts ack run-failed:pay-17 --reason "the bank is down, waiting for it"'],
  async run(context) {
    const [key = ""] = context.args;
    const act = await context.act("alerts ack");
    const alert = await (await context.engine()).alerts.ack(key, act);
    return { data: { alert }, text: `✓ ${key} is yours until it clears` };
  },
});

const test = defineCommand({
  name: "test",
  summary: "Send a test message to every channel of the configuration",
  examples: ["alerts test"],
  async run(context) {
    const results = await (await context.engine({ alerts: await context.alertOptions() })).alerts.test();
    const failed = results.filter(({ ok }) => !ok).length;
    const lines = results.map(({ channel, ok, error }) => (ok ? `✓ ${channel}` : `✗ ${channel}: ${error}`));
    const sum = failed === 0 ? [] : [`${plural(failed, "channel")} did not take it`];
    return {
      data: { results },
      text: [...lines, ...sum].join("\n"),
      exit: failed > 0 ? EXIT.failed : EXIT.done,
    };
  },
});

/** `holdfast alerts …`: what is wrong, who looks after it, and whether people would be told. */
export const command: CommandGroup = {
  name: "alerts",
  summary: "List alerts, take them over, and test who is told",
  commands: [list, ack, test],
  otherwise: "list",
};
