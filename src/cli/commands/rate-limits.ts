import { defined } from "../../core/defined.ts";
import type { RateLimitView } from "../../core/flow/rate-limits.ts";
import { type CommandGroup, defineCommand } from "../command.ts";
import { coarse, count } from "../format.ts";
import { readCount, readSpan } from "../view/parsers.ts";
import { type Column, listText } from "../view/table.ts";

const COLUMNS: readonly Column[] = [
  { title: "LIMIT", least: 12, isName: true },
  { title: "ALLOWED", least: 12 },
  { title: "USED" },
  { title: "WAITING" },
  { title: "HELD" },
];

const list = defineCommand({
  name: "list",
  summary: "List all rate limits, and what is used of them now",
  examples: ["rate-limits list"],
  async run(context) {
    const limits = await (await context.engine()).rateLimits.list();
    const now = await (await context.store()).now();
    const rows = limits.map((limit) => [
      limit.name,
      allowed(limit),
      usedOf(limit),
      String(limit.waiting),
      limit.heldUntil === null ? "" : `for ${coarse(limit.heldUntil - now)}`,
    ]);
    return {
      data: { limits },
      text: listText(context, COLUMNS, rows, "There are no rate limits."),
    };
  },
});

const set = defineCommand({
  name: "set",
  summary: "Define a rate limit, or change it; what was used still counts",
  args: ["<limit>"],
  options: {
    calls: { flag: "--calls <n>", summary: "Calls within any period", parse: readCount },
    tokens: { flag: "--tokens <n>", summary: "Tokens within any period", parse: readCount },
    periodMs: { flag: "--period <span>", summary: "The period (default 1m)", parse: readSpan },
  },
  examples: ["rate-limits set openai --calls 100 --tokens 200000 --period 1m"],
  async run(context) {
    const [name = ""] = context.args;
    const { calls, tokens, periodMs } = context.options;
    await context.store({ create: true });
    const { rateLimits } = await context.engine();
    const act = await context.act("rate-limits set");
    const limit = await rateLimits.set(name, defined({ calls, tokens, periodMs }), act);
    return { data: { limit }, text: `✓ ${name} allows ${allowed(limit)}`, next: ["rate-limits list"] };
  },
});

const hold = defineCommand({
  name: "hold",
  summary: "Grant nothing for a while, to any run in any process; 0s ends that",
  args: ["<limit>", "<span>"],
  examples: ['rate-limits hold openai 5m --reason "the provider is down"', "rate-limits hold openai 0s"],
  async run(context) {
    const [name = "", span = ""] = context.args;
    const ms = readSpan(span);
    const { rateLimits } = await context.engine();
    const act = await context.act("rate-limits hold");
    const limit = await rateLimits.hold(name, ms, act);
    const text = limit.heldUntil === null ? `✓ ${name} isn't held` : `✓ ${name} is held for ${coarse(ms)}`;
    return { data: { limit }, text };
  },
});

const remove = defineCommand({
  name: "delete",
  summary: "Delete a rate limit; steps that name it are refused from then on",
  args: ["<limit>"],
  examples: ["rate-limits delete openai"],
  async run(context) {
    const [name = ""] = context.args;
    const act = await context.act("rate-limits delete");
    await (await context.engine()).rateLimits.delete(name, act);
    return { data: { limit: name, deleted: true }, text: `✓ ${name} is deleted` };
  },
});

/** `holdfast rate-limits …`: how often something is called, in all runs together. */
export const command: CommandGroup = {
  name: "rate-limits",
  summary: "Limit how often something is called, in all runs and processes together",
  commands: [list, set, hold, remove],
  otherwise: "list",
};

function allowed({ calls, tokens, periodMs }: RateLimitView): string {
  const amounts = [...amount(calls, "calls"), ...amount(tokens, "tokens")];
  return `${amounts.join(", ")} in ${coarse(periodMs)}`;
}

const usedOf = ({ used, calls, tokens }: RateLimitView): string =>
  [
    ...amount(calls === undefined ? undefined : used.calls, "calls"),
    ...amount(tokens === undefined ? undefined : used.tokens, "tokens"),
  ].join(", ");

const amount = (n: number | undefined, what: string): readonly string[] =>
  n === undefined ? [] : [`${count(n)} ${what}`];
