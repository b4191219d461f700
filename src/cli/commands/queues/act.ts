import { defined } from "../../../core/defined.ts";
import { defineCommand } from "../../command.ts";
import { word } from "../../format.ts";
import { readCount, readFairBy, readSpan } from "../../view/parsers.ts";
import { changeNamed, deleteNamed } from "../flow-acts.ts";
import { limitsText } from "./look.ts";

export const set = defineCommand({
  name: "set",
  summary: "Define a queue, or replace its limits",
  args: ["<queue>"],
  options: {
    concurrency: { flag: "--concurrency <n>", summary: "Runs advanced at once", parse: readCount },
    perKey: { flag: "--per-key <n>", summary: "The same for runs with the same key", parse: readCount },
    fairBy: {
      flag: "--fair-by <what>",
      summary: "Who gets places in turn: key, or labels.<name>",
      parse: readFairBy,
    },
    calls: { flag: "--rate <n>", summary: "Runs taken up within a period", parse: readCount },
    periodMs: { flag: "--period <span>", summary: "The period of --rate (default 1m)", parse: readSpan },
  },
  examples: [
    "queues set orders --concurrency 5 --per-key 1",
    "queues set mail --rate 100 --period 1m",
    "queues set shared --concurrency 10 --fair-by labels.team",
  ],
  async run(context) {
    const [name = ""] = context.args;
    const { concurrency, perKey, fairBy, calls, periodMs } = context.options;
    const rate = calls === undefined ? undefined : { calls, ...defined({ periodMs }) };
    await context.store({ create: true });
    const { queues } = await context.engine();
    const act = await context.act("queues set");
    const queue = await queues.set(name, defined({ concurrency, perKey, fairBy, rate }), act);
    return {
      data: { queue },
      text: `✓ ${name} has ${limitsText(queue)}`,
      next: [`queues show ${word(name)}`],
    };
  },
});

export const pause = defineCommand({
  name: "pause",
  summary: "Take up no more runs of a queue; those being advanced continue",
  args: ["<queue>"],
  examples: ['queues pause orders --reason "maintenance"'],
  run: (context) => changeNamed(context, "queue", "pause", "is paused"),
});

export const resume = defineCommand({
  name: "resume",
  summary: "Take up runs of a queue again",
  args: ["<queue>"],
  examples: ["queues resume orders"],
  run: (context) => changeNamed(context, "queue", "resume", "takes up runs again"),
});

export const remove = defineCommand({
  name: "delete",
  summary: "Delete a queue's limits; its runs stay",
  args: ["<queue>"],
  examples: ["queues delete orders"],
  run: (context) => deleteNamed(context, "queue"),
});
