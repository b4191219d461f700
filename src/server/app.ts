import { Hono } from "hono";
import { type Clock, systemClock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import type { Engine } from "../core/engine/engine.ts";
import { HoldfastError } from "../core/errors.ts";
import { checkSeen } from "../core/journal/seen-position.ts";
import { type Logger, silentLogger } from "../core/logger.ts";
import type { Store } from "../core/store/contract.ts";
import { createMetrics, type Metrics } from "../observe/metrics/metrics.ts";
import { admit } from "./access/admit.ts";
import { isStoreAct, storeAct } from "./access/audited.ts";
import type { Principal } from "./access/permission.ts";
import { described, SESSION_PATH } from "./access/session-routes.ts";
import type { Call, Handler, Tools } from "./call.ts";
import type { Declared } from "./contract/declare.ts";
import { allOperations } from "./contract/operations.ts";
import type { OperationId } from "./contract/paths.ts";
import { createPages } from "./dashboard.ts";
import { Hub } from "./events/hub.ts";
import { checked, readBody, readQuery } from "./input.ts";
import { innerError, isInner, problemResponse } from "./problem.ts";
import { recentTime } from "./recent-time.ts";
import { nameOf, once } from "./requests.ts";
import { handlers } from "./routes/handlers.ts";
import { streamRoutes } from "./streams/routes.ts";

export interface AppOptions {
  readonly engine: Engine;
  /** The store of the engine: requests, views and the like are kept there. */
  readonly store: Store;
  /** Tells who calls; `null` when nobody may be meant by the request. */
  readonly identify: (request: Request) => Principal | null | Promise<Principal | null>;
  /** The path under which the API is mounted, such as `/holdfast`. Default: none. */
  readonly path?: string;
  /** Serves the dashboard too, at every address below `path` that isn't the API's. Default: no. */
  readonly dashboard?: boolean;
  /** Signs evidence for auditors, as `signText` of `holdfast/security` does. Without it, evidence isn't signed. */
  readonly sign?: (text: string) => Promise<string>;
  readonly logger?: Logger;
  readonly clock?: Clock;
  /** What `GET /v1/metrics` answers with. Give the same one to the engine. Default: only what the store knows. */
  readonly metrics?: Metrics;
  /** How often streams ask the store what is new. Default 250 ms. */
  readonly pollMs?: number;
  /** How long a reader that polls a durable stream waits for something new. Default 20 s. */
  readonly longPollMs?: number;
}

/** The API as a function of requests: mountable in whatever takes a fetch handler. */
export interface App {
  readonly fetch: (request: Request) => Promise<Response>;
  /** Stops watching for streams. The engine and the store stay open. */
  readonly close: () => Promise<void>;
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
  const { engine, store, identify, path = "", logger = silentLogger, clock = systemClock } = options;
  const hub = new Hub({ engine, store, clock, logger, ...defined({ pollMs: options.pollMs }) });
  const now = recentTime(store, clock);
  const metrics = options.metrics ?? createMetrics({ clock });
  const { sign, longPollMs } = options;
  const tools: Tools = { engine, store, logger, clock, base: path, hub, now, metrics, sign, longPollMs };
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
  streamRoutes(hono, tools, (request, work) =>
    answered(tools, async () => {
      const principal = await identify(request);
      if (!principal) throw new HoldfastError("HF-6050");
      return work(principal);
    }),
  );
  for (const [route, methods] of allowed) {
    const allow = methods.join(", ");
    hono.all(route, () => problemResponse(new HoldfastError("HF-6002", { allow }), { allow }));
  }
  // A host with sessions of its own answers this itself; here the dashboard learns who looks at it.
  hono.get(SESSION_PATH, (context) =>
    answered(tools, async () => {
      const principal = await identify(context.req.raw);
      if (!principal) throw new HoldfastError("HF-6050");
      return Response.json({ ...described(principal), csrf: null });
    }),
  );
  const pages = options.dashboard === true ? createPages(path) : () => null;
  hono.notFound(({ req }) => {
    const page = req.path.startsWith(`${path}/v1/`) ? null : pages(req.raw, req.path);
    return page ?? problemResponse(new HoldfastError("HF-6001"));
  });
  hono.onError((error) => answered(tools, () => Promise.reject(error)));
  return { fetch: async (request) => hono.fetch(request), close: async () => hub.close() };
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
  await admit(tools.engine, operation, principal, params);
  const { pathname, search, searchParams } = new URL(request.url);
  const query = operation.query ? readQuery(operation.query, searchParams) : noQuery(searchParams);
  const { text, value } = operation.body
    ? await readBody(operation, request)
    : { text: "", value: undefined };
  const body = operation.body && checked(operation.body, value);
  const key = isAct(operation) ? request.headers.get("idempotency-key") : null;
  const named = nameOf(key, principal.actor, [operation.method, pathname, search, text]);
  const { reason } = { ...query, ...(body as object | undefined) } as { readonly reason?: string };
  const seen = seenBy(request, operation);
  const act = { actor: principal.actor, ...defined({ reason, seen, id: named?.id }) };
  const headers = new Headers({ "cache-control": "no-store" });
  const call = { ...tools, params, query, body, principal, request, headers, act };
  const work = async (): Promise<Response> => {
    if (seen !== undefined && !ATOMIC.has(operation.id))
      await checkPosition(tools, params["run"] ?? "", seen);
    const carried = () =>
      (handlers[operation.id] as Handler<OperationId>)(call as unknown as Call<OperationId>);
    const answer = isStoreAct(operation, isAct(operation))
      ? await tools.engine.audit.carry(storeAct(operation, principal, params, reason), carried)
      : await carried();
    return answer instanceof Response ? answer : json(operation, answer, headers);
  };
  return named ? once(tools.store, named, work, keptOf(operation)) : work();
}

/** What a repeated request is told, if not the first answer: a secret isn't kept. */
const keptOf = ({ isShownOnce }: Declared): Response | undefined =>
  isShownOnce ? problemResponse(new HoldfastError("HF-6086")) : undefined;

/** Operations that change something. The others may be repeated as often as one likes. */
const isAct = ({ method, permission }: Declared): boolean =>
  method !== "GET" && !["runs:read", "state:read", "audit:read"].includes(permission);

/** Acts whose own append is conditional on the position that the caller has seen. */
const ATOMIC: ReadonlySet<OperationId> = new Set([
  "pauseRun",
  "resumeRun",
  "cancelRun",
  "retryStep",
  "injectContext",
  "sendSignal",
  "answerGate",
  "resolveStep",
  "pinCheckpoint",
  "unpinCheckpoint",
  "labelCheckpoint",
] as const);

function noQuery(given: URLSearchParams): undefined {
  if ([...given.keys()].length > 0)
    throw new HoldfastError("HF-6004", { problems: "this operation takes no query" });
  return undefined;
}

/** The position in an If-Match header. */
function seenBy(request: Request, { about }: Declared): number | undefined {
  const header = request.headers.get("if-match");
  if (header === null || header === "*") return undefined;
  const [, seq] = /^"(\d{1,15})"$/.exec(header) ?? [];
  if (seq !== undefined && about === "run") return Number(seq);
  throw new HoldfastError("HF-6010", {
    header: "If-Match",
    problem: 'It is the ETag of one run, such as "14".',
    fix: "Send the ETag that GET /v1/runs/{run} answered with.",
  });
}

async function checkPosition({ engine, store }: Tools, id: string, seen: number): Promise<void> {
  const run = await engine.get(id);
  if (run) await checkSeen(store, { ...run, head: "" }, { seen });
}

/** What the operation's shape doesn't name doesn't leave the server. */
function json(operation: Declared, answer: unknown, headers: Headers): Response {
  headers.set("content-type", "application/json");
  return new Response(JSON.stringify(operation.answer.parse(answer)), { headers });
}
