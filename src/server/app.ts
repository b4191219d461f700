import { Hono } from "hono";
import { defined } from "../core/defined.ts";
import type { Engine } from "../core/engine.ts";
import { HoldfastError } from "../core/errors.ts";
import { type Logger, silentLogger } from "../core/logger.ts";
import type { Store } from "../core/store/contract.ts";
import { decide, type Principal, type Subject } from "./access/permission.ts";
import type { Call, Handler, Tools } from "./call.ts";
import type { Declared } from "./contract/declare.ts";
import { allOperations } from "./contract/operations.ts";
import type { OperationId } from "./contract/paths.ts";
import { checked, readBody, readQuery } from "./input.ts";
import { innerError, isInner, problemResponse } from "./problem.ts";
import { handlers } from "./routes/handlers.ts";

export interface AppOptions {
  readonly engine: Engine;
  /** The store of the engine: requests, views and the like are kept there. */
  readonly store: Store;
  /** Tells who calls; `null` when nobody may be meant by the request. */
  readonly identify: (request: Request) => Principal | null | Promise<Principal | null>;
  /** The path under which the API is mounted, such as `/holdfast`. Default: none. */
  readonly path?: string;
  readonly logger?: Logger;
}

/** The API as a function of requests: mountable in whatever takes a fetch handler. */
export interface App {
  readonly fetch: (request: Request) => Promise<Response>;
}

/**
 * The management API on an engine.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { createApp } from "holdfast/server";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const store = await openSqliteStore();
 * const engine = createEngine({ store, execute: false });
 * export const app = createApp({ engine, store, identify: () => null });
 * ```
 */
export function createApp(options: AppOptions): App {
  const { engine, store, identify, path = "", logger = silentLogger } = options;
  const tools: Tools = { engine, store, logger };
  const hono = new Hono().basePath(path === "" ? "/" : path);
  const allowed = new Map<string, string[]>();
  for (const operation of allOperations) {
    const route = operation.path.replace(/\{(\w+)\}/g, ":$1");
    allowed.set(route, [...(allowed.get(route) ?? []), operation.method]);
    hono.on(operation.method, route, (context) =>
      answered(tools, async () => {
        const principal = await identify(context.req.raw);
        return carriedOut(tools, operation, {
          principal,
          request: context.req.raw,
          params: context.req.param(),
        });
      }),
    );
  }
  for (const [route, methods] of allowed) {
    const allow = methods.join(", ");
    hono.all(route, () => problemResponse(new HoldfastError("HF-6002", { allow }), { allow }));
  }
  hono.notFound(() => problemResponse(new HoldfastError("HF-6001")));
  return { fetch: async (request) => hono.fetch(request) };
}

/** Turns whatever goes wrong into an answer. */
async function answered({ logger }: Tools, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (!isInner(error)) return problemResponse(error as HoldfastError);
    const id = crypto.randomUUID();
    logger.error("a request failed", { id, error: String(error) });
    return problemResponse(innerError(error, id));
  }
}

interface Asked {
  readonly principal: Principal | null;
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
}

async function carriedOut(tools: Tools, operation: Declared, asked: Asked): Promise<Response> {
  const { principal, request, params } = asked;
  if (!principal) throw new HoldfastError("HF-6050");
  await checkMay(tools, operation, principal, params);
  const query = operation.query && readQuery(operation.query, new URL(request.url).searchParams);
  const body = operation.body && checked(operation.body, await readBody(operation, request));
  const headers = new Headers({ "cache-control": "no-store" });
  const { reason } = (body ?? {}) as { readonly reason?: string };
  const act = { actor: principal.actor, ...defined({ reason }) };
  const call = { ...tools, params, query, body, principal, request, headers, act };
  const handler = handlers[operation.id] as Handler<OperationId>;
  const answer = await handler(call as unknown as Call<OperationId>);
  return answer instanceof Response ? answer : json(operation, answer, headers);
}

async function checkMay(
  { engine }: Tools,
  { permission, about }: Declared,
  principal: Principal,
  { run = "" }: Readonly<Record<string, string>>,
): Promise<void> {
  let subject: Subject = about === "store" ? "store" : "list";
  if (about === "run" && principal.scope) {
    const row = await engine.get(run);
    if (!row) throw new HoldfastError("HF-1001", { run });
    subject = { run: row };
  }
  const verdict = decide(principal, permission, subject);
  if (verdict === "unknown") throw new HoldfastError("HF-1001", { run });
  if (verdict === "forbidden") throw new HoldfastError("HF-6051", { actor: principal.actor, permission });
}

/** What the operation's shape doesn't name doesn't leave the server. */
function json(operation: Declared, answer: unknown, headers: Headers): Response {
  headers.set("content-type", "application/json");
  return new Response(JSON.stringify(operation.answer.parse(answer)), { headers });
}
