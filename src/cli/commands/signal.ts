import { resolve } from "node:path";
import { defined } from "../../core/defined.ts";
import { defineCommand, type Values } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { usage } from "../globals.ts";
import { readText } from "../inputs.ts";

const options = {
  data: { flag: "--data <json>", summary: "The message, as JSON" },
  file: { flag: "--file <file>", summary: "The same, from a file" },
  id: { flag: "--id <id>", summary: "Sent twice under the same id, it counts once" },
} as const;

/** `holdfast signal <run> <name>`: puts a message into a run's mailbox, which it takes with `ctx.signal`. */
export const command = defineCommand({
  name: "signal",
  summary: "Send a run the message that it waits for",
  args: ["<run>", "<name>"],
  options,
  examples: ["signal order-17 paid --data '{\"amount\": 40}'", "signal order-17 cancelled --id hook-4711"],
  async run(context) {
    const [named = "", name = ""] = context.args;
    const payload = payloadOf(context);
    const act = await context.act("signal");
    const { id } = await (await context.addresses()).run(named);
    const engine = await context.engine();
    await engine.signal(id, name, payload, { ...act, ...defined({ id: context.options.id }) });
    const { headline } = await engine.status(id);
    return {
      data: { run: id, signal: name, headline },
      text: `✓ ${name} is in the mailbox of ${id}; it is ${headline}`,
      next: [`show ${id}`],
    };
  },
});

function payloadOf({ options: { data, file }, host }: CommandContext<Values<typeof options>>): unknown {
  if (data !== undefined && file !== undefined)
    throw usage("--data and --file are both given", "A signal has one message.", "Use only one of the two.");
  const text = file === undefined ? data : readText(resolve(host.cwd, file));
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw usage("the message isn't JSON", "Texts need quotes in JSON.", `--data '"approved"'`);
  }
}
