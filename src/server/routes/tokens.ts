import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import { permissionsOf, type Role } from "../access/permission.ts";
import { stateOf, TOKEN_LIFE_MS, TOKEN_OVERLAP_MS, type TokenInfo } from "../access/token-record.ts";
import { type MadeToken, Tokens } from "../access/tokens.ts";
import type { Call, Handlers } from "../call.ts";
import type { OperationId } from "../contract/paths.ts";
import type { tokenOperations } from "../contract/tokens.ts";

type Caller = Pick<Call<OperationId>, "store" | "clock" | "logger" | "principal" | "act">;

/** Who may use the server. Every change is logged with who made it and why. */
export const tokenRoutes: Handlers<keyof typeof tokenOperations> = {
  async listTokens(call) {
    const tokens = await tokensOf(call).list();
    return { tokens: tokens.map((token) => shown(call, token)) };
  },

  async createToken(call) {
    const { name, actor = name, roles, scope, expiresAt } = call.body;
    checkGrant(call, roles);
    const made = await tokensOf(call).create({
      name,
      actor,
      roles,
      expiresAt: expiresAt === undefined ? call.clock.now() + TOKEN_LIFE_MS : expiresAt,
      createdBy: call.act.actor,
      ...defined({ scope }),
    });
    return told(call, "token created", made);
  },

  async rotateToken(call) {
    const { overlapMs = TOKEN_OVERLAP_MS, expiresAt } = call.body;
    const tokens = tokensOf(call);
    const old = await tokens.get(call.params.token);
    checkGrant(call, old.roles);
    const until = call.clock.now() + overlapMs;
    const made = await tokens.rotate(old.id, call.act.actor, until, expiresAt);
    return told(call, "token rotated", made, { replaces: old.id });
  },

  async revokeToken(call) {
    const token = await tokensOf(call).revoke(call.params.token, call.act.actor);
    log(call, "token revoked", token);
    return shown(call, token);
  },
};

function tokensOf({ store: { documents, name }, clock, logger }: Caller): Tokens {
  if (!documents) throw new HoldfastError("HF-6011", { what: "tokens", store: name });
  return new Tokens({ documents, clock, logger });
}

/** Nobody hands out more than they have. A caller who may see some runs only never gets here. */
function checkGrant({ principal }: Caller, roles: readonly Role[]): void {
  const beyond = [...permissionsOf(roles)].filter((permission) => !principal.permissions.has(permission));
  if (beyond.length > 0)
    throw new HoldfastError("HF-6085", { actor: principal.actor, permissions: beyond.join(", ") });
}

const shown = ({ clock }: Caller, token: TokenInfo) => ({ ...token, state: stateOf(token, clock.now()) });

function told(call: Caller, what: string, { token, info }: MadeToken, more: Record<string, string> = {}) {
  log(call, what, info, more);
  return { token, info: shown(call, info) };
}

function log({ logger, act }: Caller, what: string, token: TokenInfo, more: Record<string, string> = {}) {
  const { id, name, actor, roles } = token;
  const about = { token: id, name, actor, roles: roles.join(", "), ...more };
  logger.info(what, { ...about, by: act.actor, reason: act.reason ?? "" });
}
