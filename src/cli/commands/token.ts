import { systemClock } from "../../core/clock.ts";
import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import { silentLogger } from "../../core/logger.ts";
import { ROLES, type Role, type Scope } from "../../server/access/permission.ts";
import {
  stateOf,
  TOKEN_LIFE_MS,
  TOKEN_OVERLAP_MS,
  type TokenInfo,
} from "../../server/access/token-record.ts";
import type { MadeToken, Tokens } from "../../server/access/tokens.ts";
import { type CommandGroup, defineCommand } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { when } from "../format.ts";
import { splitPair } from "../inputs.ts";
import type { Outcome } from "../outcome.ts";
import { readSpan } from "../view/parsers.ts";
import { type Column, roomOf, table } from "../view/table.ts";

const ROLE_NAMES = Object.keys(ROLES) as Role[];

const create = defineCommand({
  name: "create",
  summary: "Create a token, which is shown only once",
  args: ["<name>"],
  options: {
    role: {
      flag: "--role <role>",
      summary: `One or more of ${ROLE_NAMES.join(", ")}`,
      list: true,
      choices: ROLE_NAMES,
    },
    for: { flag: "--for <actor>", summary: "Who acts with it, for the record (default: its name)" },
    expires: {
      flag: "--expires <time>",
      summary: "How long it is valid, such as 90d or 12h (default 90d)",
      parse: readSpan,
    },
    neverExpires: { flag: "--never-expires", summary: "Keep it valid until it is revoked" },
    workflow: { flag: "--workflow <name>", summary: "Only for runs of this workflow", list: true },
    label: { flag: "--label <k=v>", summary: "Only for runs with this label", list: true },
    queue: { flag: "--queue <name>", summary: "Only for runs of this queue", list: true },
  },
  examples: [
    "token create ci --role operator --expires 30d",
    "token create board --role viewer --workflow pay",
  ],
  async run(context) {
    const { options, args } = context;
    const [name = ""] = args;
    const now = systemClock.now();
    const expiresAt = options.neverExpires ? null : now + (options.expires ?? TOKEN_LIFE_MS);
    const tokens = await tokensOf(context, true);
    const createdBy = await context.actor();
    const wanted = {
      name,
      actor: options.for ?? name,
      roles: options.role ?? ["viewer"],
      scope: scopeOf(options),
      expiresAt,
      createdBy,
    };
    return shown(context, await recorded(context, "create_token", name, () => tokens.create(wanted)));
  },
});

const rotate = defineCommand({
  name: "rotate",
  summary: "Replace a token; the old one works a little longer",
  args: ["<token>"],
  options: {
    overlap: {
      flag: "--overlap <time>",
      summary: "How long the old one works (default 1h)",
      parse: readSpan,
    },
    expires: {
      flag: "--expires <time>",
      summary: "How long the new one is valid (default: as long as the old one was)",
      parse: readSpan,
    },
  },
  examples: ["token rotate ci --overlap 1d"],
  async run(context) {
    const { overlap = TOKEN_OVERLAP_MS, expires } = context.options;
    const now = systemClock.now();
    const tokens = await tokensOf(context);
    const [token = ""] = context.args;
    const actor = await context.actor();
    const work = () => tokens.rotate(token, actor, now + overlap, expires && now + expires);
    return shown(context, await recorded(context, "rotate_token", token, work));
  },
});

const list = defineCommand({
  name: "list",
  summary: "List the tokens: whose they are, what they may do, when they were used",
  async run(context) {
    const now = systemClock.now();
    const tokens = await (await tokensOf(context)).list();
    const data = { tokens: tokens.map((token) => ({ ...token, state: stateOf(token, now) })) };
    if (tokens.length === 0) {
      const text =
        "No tokens yet. The first start of holdfast serve makes one, or: holdfast token create <name>";
      return { data, text };
    }
    const time = (at: number | null): string =>
      at === null ? "never" : when(at, now, context.host.stdout.isTTY);
    const rows = tokens.map((token) => [
      token.id,
      token.name,
      token.actor,
      token.roles.join(", "),
      scopeText(token.scope),
      stateOf(token, now),
      time(token.expiresAt),
      time(token.lastUsedAt),
    ]);
    return { data, text: table(COLUMNS, rows, { room: roomOf(context.host) }).join("\n") };
  },
});

const COLUMNS: readonly Column[] = [
  { title: "ID" },
  { title: "NAME", least: 8, isName: true },
  { title: "ACTOR", least: 8, isName: true },
  { title: "ROLES", least: 8 },
  { title: "SCOPE", least: 8, spare: true },
  { title: "STATE" },
  { title: "EXPIRES" },
  { title: "USED", spare: true },
];

const revoke = defineCommand({
  name: "revoke",
  summary: "Revoke a token for good",
  args: ["<token>"],
  examples: ["token revoke ci", "token revoke 8f1c0a5e9b27d364"],
  async run(context) {
    const tokens = await tokensOf(context);
    const [named = ""] = context.args;
    const actor = await context.actor();
    const token = await recorded(context, "revoke_token", named, () => tokens.revoke(named, actor));
    const text = `✓ revoked ${token.name} (${token.id}); servers that are running refuse it within a second`;
    return { data: { token }, text };
  },
});

/** `holdfast token create|list|rotate|revoke`: who may use the server. */
export const command: CommandGroup = {
  name: "token",
  summary: "Create, list, rotate and revoke access tokens for the server",
  commands: [create, list, rotate, revoke],
  otherwise: "list",
};

/** Credentials belong to no run, so the audit log has what happens to them. */
async function recorded<T>(
  context: CommandContext<unknown>,
  act: string,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  const { audit } = await context.engine();
  return audit.carry({ act, what: what.slice(0, 200), ...(await context.who()) }, work);
}

async function tokensOf(context: CommandContext<unknown>, isNew = false): Promise<Tokens> {
  const { Tokens } = await import("../../server/access/tokens.ts");
  const { documents } = await context.store({ create: isNew });
  if (!documents) {
    const why = "Tokens are documents of the store, and this kind of store keeps none.";
    throw new HoldfastError("HF-6060", { why, fix: "Use SQLite or PostgreSQL." });
  }
  return new Tokens({ documents, clock: systemClock, logger: silentLogger });
}

function scopeOf(options: {
  readonly workflow?: readonly string[] | undefined;
  readonly label?: readonly string[] | undefined;
  readonly queue?: readonly string[] | undefined;
}): Scope | null {
  const labels = options.label && Object.fromEntries(options.label.map((text) => splitPair(text, "--label")));
  const scope = defined({ workflows: options.workflow, labels, queues: options.queue });
  return Object.keys(scope).length === 0 ? null : scope;
}

const scopeText = (scope: Scope | null): string =>
  scope === null
    ? ""
    : [
        ...(scope.workflows ?? []),
        ...Object.entries(scope.labels ?? {}).map(([name, value]) => `${name}=${value}`),
        ...(scope.queues ?? []).map((queue) => `queue ${queue}`),
      ].join(", ");

/** The token itself is the only line on standard output, so that it can be piped into a secret store. */
function shown(context: CommandContext<unknown>, { token, info }: MadeToken): Outcome {
  const until = info.expiresAt === null ? "" : `, until ${new Date(info.expiresAt).toISOString()}`;
  context.out.say(`Token ${info.name} (${info.id}) for ${info.actor}: ${info.roles.join(", ")}${until}.`);
  context.out.say("It is shown only now. Keep it like a password.");
  return { data: { token, info: info satisfies TokenInfo }, text: token, isValue: true };
}
