import { defined } from "../../../core/defined.ts";
import { defineCommand } from "../../command.ts";
import type { CommandContext } from "../../context.ts";
import { word } from "../../format.ts";
import type { Outcome } from "../../outcome.ts";
import { readCount, readSpan } from "../../view/parsers.ts";
import { limitsText } from "./look.ts";

export const set = defineCommand({
  name: "set",
  summary: "Define a queue, or replace its limits",
  args: ["<queue>"],
  options: {
    concurrency: { flag: "--concurrency <n>", summary: "Runs advanced at once", parse: readCount },
    perKey: { flag: "--per-key <n>", summary: "The same for runs with the same key", parse: readCount },
    calls: { flag: "--rate <n>", summary: "Runs taken up within a period", parse: readCount },
    periodMs: { flag: "--period <span>", summary: "The period of --rate (default 1m)", parse: readSpan },
  },
  examples: ["queues set orders --concurrency 5 --per-key 1", "queues set mail --rate 100 --period 1m"],
  async run(context) {
    const [name = ""] = context.args;
    const { concurrency, perKey, calls, periodMs } = context.options;
    const rate = calls === undefined ? undefined : { calls, ...defined({ periodMs }) };
    await context.store({ create: true });
    const { queues } = await context.engine();
    const act = await context.act("queues set");
    const queue = await queues.set(name, defined({ concurrency, perKey, rate }), act);
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
  run: (context) => change(context, "pause", "is paused"),
});

export const resume = defineCommand({
  name: "resume",
  summary: "Take up runs of a queue again",
  args: ["<queue>"],
  examples: ["queues resume orders"],
  run: (context) => change(context, "resume", "takes up runs again"),
});

async function change(
  context: CommandContext<unknown>,
  verb: "pause" | "resume",
  done: string,
): Promise<Outcome> {
  const [name = ""] = context.args;
  const { queues } = await context.engine();
  const queue = await queues[verb](name, await context.act(`queues ${verb}`));
  return { data: { queue }, text: `✓ ${name} ${done}` };
}

export const remove = defineCommand({
  name: "delete",
  summary: "Delete a queue's limits; its runs stay",
  args: ["<queue>"],
  examples: ["queues delete orders"],
  async run(context) {
    const [name = ""] = context.args;
    const act = await context.act("queues delete");
    const { queues } = await context.engine();
    await queues.delete(name, act);
    return { data: { queue: name, deleted: true }, text: `✓ ${name} is deleted` };
  },
});
