import { loadPackage } from "../../adapters/load-package.ts";
import { systemClock } from "../../core/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import { silentLogger } from "../../core/logger.ts";
import {
  type Permission,
  type Principal,
  permissionsOf,
  ROLES,
  type Role,
} from "../../server/access/permission.ts";
import type { callerOf } from "../../server/mcp/serve.ts";
import type { CallOperation } from "../../server/mcp/server.ts";
import { defineCommand, type Values } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { usage } from "../globals.ts";

const ROLE_NAMES = Object.keys(ROLES) as Role[];

const options = {
  allow: { flag: "--allow <what>", summary: "Offer tools that change runs: write", choices: ["write"] },
  role: {
    flag: "--role <role>",
    summary: `What the assistant may do: ${ROLE_NAMES.join(", ")} (default viewer)`,
    choices: ROLE_NAMES,
    list: true,
  },
  consent: {
    flag: "--consent <who>",
    summary: "Who asks a person before an act: ask (this server, default) or client",
    choices: ["ask", "client"],
  },
  server: { flag: "--server <url>", summary: "Use a running server and HOLDFAST_TOKEN instead of the store" },
} as const;

type Given = CommandContext<Values<typeof options>>;

/** `holdfast mcp`: lets assistants look at runs, and act on them if they may. Standard output belongs to the protocol. */
export const command = defineCommand({
  name: "mcp",
  summary: "Let assistants look at runs over MCP, and act on them if you allow it",
  options,
  examples: [
    "mcp",
    "mcp --role auditor",
    "mcp --allow write --role operator",
    "mcp --server https://ops.example.com",
  ],
  async run(context) {
    const { allow, role, consent = "ask" } = context.options;
    if (allow === "write" && role === undefined && context.host.env["HOLDFAST_TOKEN"] === undefined)
      throw usage(
        "Tools that change runs need a role",
        "Say what the assistant may do, or give it a token.",
        "holdfast mcp --allow write --role operator",
      );
    const { serveMcp, callerOf: makeCaller } = await loadPackage(
      "@modelcontextprotocol/server",
      "holdfast mcp",
      () => import("../../server/mcp/serve.ts"),
    );
    const { call, permissions } = await callerFor(context, makeCaller);
    const { packageVersion } = await import("../../testing/package-files.ts");
    const isWriting = allow === "write";
    const shared = { call, permissions, isWriting, consent, clock: systemClock, version: packageVersion() };
    const serving = serveMcp(shared, (error) => context.out.warn(error.message));
    context.out.say(
      `● Holdfast serves MCP on standard input and output (${isWriting ? "reads and writes" : "reads only"})`,
    );
    await gone(context);
    await serving.close();
    return { data: {} };
  },
});

interface Caller {
  readonly call: CallOperation;
  readonly permissions: ReadonlySet<Permission>;
}

type CallerOf = typeof callerOf;

async function callerFor(context: Given, makeCaller: CallerOf): Promise<Caller> {
  const { server } = context.options;
  if (server !== undefined) return remote(context, server, makeCaller);
  const principal = await principalOf(context);
  const [store, engine, { createApp }] = await Promise.all([
    context.store(),
    context.engine(),
    import("../../server/app.ts"),
  ]);
  const app = createApp({ engine, store, identify: () => principal });
  context.atEnd(app.close);
  return {
    call: makeCaller({ url: "http://holdfast.invalid", fetch: app.fetch }),
    permissions: principal.permissions,
  };
}

/** A token decides who acts and what they may. Without one, the person who runs this does, within the role. */
async function principalOf(context: Given): Promise<Principal> {
  const token = context.host.env["HOLDFAST_TOKEN"];
  const refused = (why: string) =>
    new HoldfastError("HF-6065", { verb: "holdfast mcp", why, permission: "runs:read" });
  if (token === undefined) {
    if ((await context.settings()).values.access === "required")
      throw refused("The configuration says access: required, and HOLDFAST_TOKEN isn't set.");
    const roles = context.options.role ?? ["viewer"];
    return { actor: `${await context.actor()} (mcp)`, roles, permissions: permissionsOf(roles) };
  }
  if (context.options.role !== undefined)
    throw usage(
      "--role doesn't go with a token",
      "The token says what it may do.",
      "holdfast mcp --allow write",
    );
  const [{ Tokens }, { documents }] = await Promise.all([
    import("../../server/access/tokens.ts"),
    context.store(),
  ]);
  if (!documents) throw refused("This kind of store keeps no tokens.");
  const found = await new Tokens({ documents, clock: systemClock, logger: silentLogger }).check(token);
  if ("refused" in found) throw refused("The token isn't valid here: unknown, expired or revoked.");
  return found.principal;
}

/** The server says what the token may do, and checks every call. */
async function remote(context: Given, url: string, makeCaller: CallerOf): Promise<Caller> {
  const token = context.host.env["HOLDFAST_TOKEN"] ?? "";
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(new URL("/v1/session", url), { headers, redirect: "error" }).catch(() => null);
  if (!response?.ok)
    throw new HoldfastError("HF-6162", {
      url,
      problem: response ? `it answered with status ${response.status}` : "it can't be reached",
    });
  const { permissions } = (await response.json()) as { readonly permissions: readonly Permission[] };
  return { call: makeCaller({ url, token }), permissions: new Set(permissions) };
}

/** The client has closed its end, or somebody stops this process. */
function gone({ host }: Given): Promise<void> {
  return new Promise((resolve) => {
    const off = host.onSignal(() => end());
    const end = (): void => {
      off();
      resolve();
    };
    process.stdin.once("end", end).once("close", end);
  });
}
