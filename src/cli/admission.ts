import { systemClock } from "../core/clock.ts";
import { HoldfastError } from "../core/errors.ts";
import { silentLogger } from "../core/logger.ts";
import type { Permission, Principal } from "../server/access/permission.ts";
import { splitAddress } from "./addresses.ts";
import { CommandContext } from "./context.ts";

/** What a command needs where the configuration says `access: required`; `null`: it touches no stored run. */
const NEEDS: Readonly<Record<string, Permission | null>> = {
  init: null,
  demo: null,
  config: null,
  explain: null,
  completion: null,
  "crash-test": null,
  "report verify": null,
  // It asks for a token itself and keeps to its scope.
  mcp: null,
  list: "runs:read",
  show: "runs:read",
  logs: "runs:read",
  cost: "runs:read",
  diff: "runs:read",
  replay: "runs:read",
  validate: "runs:read",
  doctor: "runs:read",
  "gate list": "runs:read",
  "gate show": "runs:read",
  "checkpoints list": "runs:read",
  "checkpoints show": "runs:read",
  "checkpoints diff": "runs:read",
  "checkpoints validate": "runs:read",
  "list-checkpoints": "runs:read",
  "validate-checkpoint": "runs:read",
  "diff-checkpoints": "runs:read",
  run: "runs:act",
  resume: "runs:act",
  pause: "runs:act",
  cancel: "runs:act",
  retry: "runs:act",
  inject: "runs:act",
  signal: "runs:act",
  fork: "runs:act",
  migrate: "runs:act",
  worker: "runs:act",
  gate: "gates:answer",
  "schedules list": "runs:read",
  "schedules show": "runs:read",
  "schedules next": "runs:read",
  schedules: "flow:manage",
  "queues list": "runs:read",
  "queues show": "runs:read",
  queues: "flow:manage",
  "rate-limits list": "runs:read",
  "rate-limits": "flow:manage",
  report: "audit:read",
  verify: "audit:read",
  "audit list": "audit:read",
  "audit verify": "audit:read",
  "audit export": "audit:read",
  "audit key": null,
  "audit verifier": null,
};

/** A command that nobody has thought about needs the most. */
export function neededBy(path: string): Permission | null {
  const [group = ""] = path.split(" ");
  const own = NEEDS[path];
  if (own !== undefined) return own;
  return NEEDS[group] === undefined ? "admin" : (NEEDS[group] ?? null);
}

/**
 * Where access is required, finds out who gives the command and refuses what they may not do (HF-6065). From then on
 * they are the actor. It keeps honest people within their roles; somebody who has the store's password needs no command.
 */
export async function admit(context: CommandContext<{ readonly reveal?: boolean }>): Promise<void> {
  const { path } = context;
  const needed = neededBy(path);
  if (needed === null || (await context.settings()).values.access !== "required") return;
  const isRevealed = context.options.reveal === true;
  const permission = isRevealed ? "state:read" : needed;
  const { args, globals, host, out: output } = context;
  // Its own view of the store: the command may want to open or create another one.
  const own = new CommandContext({ args, options: {}, globals, host, output, path });
  try {
    const principal = await principalOf(own, permission);
    if (isRevealed) await recordReading(own, principal);
    context.actAs(principal.actor);
  } finally {
    await own.close();
  }
}

async function principalOf(context: CommandContext, permission: Permission): Promise<Principal> {
  const verb = `holdfast ${context.path}`;
  const refused = (why: string) => new HoldfastError("HF-6065", { verb, why, permission });
  const token = context.host.env["HOLDFAST_TOKEN"];
  if (!token) throw refused("The configuration says access: required, and HOLDFAST_TOKEN isn't set.");
  const [{ Tokens }, { decide }, { documents }] = await Promise.all([
    import("../server/access/tokens.ts"),
    import("../server/access/permission.ts"),
    context.store(),
  ]);
  if (!documents) throw refused("This kind of store keeps no tokens.");
  const found = await new Tokens({ documents, clock: systemClock, logger: silentLogger }).check(token);
  if ("refused" in found) throw refused("The token isn't valid here: unknown, expired or revoked.");
  const { principal } = found;
  // Commands don't look at scopes, so a token with one isn't accepted at all.
  if (principal.scope)
    throw refused("This token is for some runs only, which the command line can't keep to.");
  if (decide(principal, permission) === "allowed") return principal;
  throw refused(`The token of ${principal.actor} doesn't have ${permission}.`);
}

/** Whoever looks at values is in the trail of every run that the command names. */
async function recordReading(context: CommandContext, { actor }: Principal): Promise<void> {
  const { reason = "" } = context.globals;
  if (reason === "") throw new HoldfastError("HF-4312", { verb: `${context.path} --reveal`, actor });
  const [addresses, engine] = await Promise.all([context.addresses(), context.engine()]);
  for (const address of context.args) {
    const { id } = await addresses.run(splitAddress(address).run);
    await engine.reports.recordReading(id, { actor, reason, what: `holdfast ${context.path} --reveal` });
  }
}
