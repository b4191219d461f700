import { checkFunction, checkKeys, checkText, checkWhole, isRecord, keysOf } from "../core/check-options.ts";
import { systemClock } from "../core/clock.ts";
import type { Workflow } from "../core/context.ts";
import type { Answer } from "../core/control/decisions.ts";
import type { Engine } from "../core/engine/engine.ts";
import { HoldfastError } from "../core/errors.ts";
import { digest } from "../core/hash.ts";
import type { StartOptions } from "../core/options.ts";
import type { Run } from "../core/types.ts";
import { readBody } from "./input.ts";
import { isInner, problemResponse } from "./problem.ts";
import { asJson } from "./routes/as-json.ts";
import { answerRead } from "./streams/read.ts";
import { runSource } from "./streams/source.ts";

/** What a request wants to do, and with which run. */
export interface RouteAct {
  readonly verb: "start" | "read" | "signal" | "answer";
  /** The run; a start has none yet. */
  readonly run?: Run;
  /** The name of the signal or of the gate. */
  readonly name?: string;
}

/** A run that a request starts: its input, and how it is started. */
export interface RouteStart<I> extends StartOptions {
  readonly input: I;
}

/** Options of {@link workflowRoutes}. */
export interface WorkflowRoutesOptions<I> {
  /** The address of the routes, such as `/api/orders`. */
  readonly path: string;
  /** Says whether the request may do this: your own sign-in. What isn't allowed is answered with 403. */
  readonly allow: (request: Request, act: RouteAct) => boolean | Promise<boolean>;
  /**
   * Makes the input of a run from what was sent, or returns the response that refuses it. What it returns besides the input is how
   * the run is started: labels, who it is for. Without an id, the request's `Idempotency-Key` makes one.
   */
  readonly start: (
    body: unknown,
    request: Request,
  ) => RouteStart<I> | Response | Promise<RouteStart<I> | Response>;
  /** Who answers and signals, for the record. */
  readonly actor?: (request: Request) => string | Promise<string>;
  /** The longest that a request with `wait` is kept open. Default 25 s. */
  readonly waitMs?: number;
}

type Handler = (request: Request) => Promise<Response>;

/** Handlers of the form that Next.js calls route handlers; `fetch` is all of them in one. */
export interface WorkflowRoutes {
  readonly GET: Handler;
  readonly HEAD: Handler;
  readonly POST: Handler;
  readonly fetch: Handler;
}

const WAIT_MS = 25_000;

/**
 * Routes with which an application's own clients start runs of one workflow, wait for them, follow their streams, signal
 * them and answer their gates. They need no server of their own: web-standard requests in, responses out. The runs are
 * advanced by whatever worker there is.
 *
 * @example
 * ```ts
 * import { createEngine, workflow } from "holdfast";
 * import { workflowRoutes } from "holdfast/server";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const order = workflow("order", async (ctx, { item }: { item: string }) => ctx.step("pack", () => item));
 * const engine = createEngine({ store: await openSqliteStore(), workflows: [order], execute: false });
 *
 * export const { GET, HEAD, POST } = workflowRoutes(engine, order, {
 *   path: "/api/orders",
 *   allow: (request) => request.headers.get("x-user") !== null,
 *   start: (body) => ({ input: { item: String(Object(body).item) } }),
 * });
 * ```
 */
export function workflowRoutes<I>(
  engine: Engine,
  workflow: Workflow<I, unknown>,
  options: WorkflowRoutesOptions<I>,
): WorkflowRoutes {
  checkOptions(options);
  const routes = new Routes(engine, workflow, options);
  const handler: Handler = (request) => routes.answer(request);
  return { GET: handler, HEAD: handler, POST: handler, fetch: handler };
}

function checkOptions<I>(options: WorkflowRoutesOptions<I>): void {
  checkKeys(
    options,
    keysOf<WorkflowRoutesOptions<I>>({ path: true, allow: true, start: true, actor: true, waitMs: true }),
  );
  checkText("path", options.path, 1);
  checkFunction("allow", options.allow);
  checkFunction("start", options.start);
  if (options.waitMs !== undefined) checkWhole("waitMs", options.waitMs, 0, 3_600_000);
}

/** The parts of an address below the path of the routes. */
interface Place {
  readonly run?: string;
  readonly what?: string;
  readonly name?: string;
}

class Routes<I> {
  readonly #engine: Engine;
  readonly #workflow: Workflow<I, unknown>;
  readonly #options: WorkflowRoutesOptions<I>;

  constructor(engine: Engine, workflow: Workflow<I, unknown>, options: WorkflowRoutesOptions<I>) {
    this.#engine = engine;
    this.#workflow = workflow;
    this.#options = options;
  }

  async answer(request: Request): Promise<Response> {
    try {
      return await this.#answer(request, this.#placeOf(new URL(request.url).pathname));
    } catch (error) {
      // What goes wrong inside is the host's to log and to answer.
      if (isInner(error)) throw error;
      return problemResponse(error as HoldfastError);
    }
  }

  #placeOf(pathname: string): Place {
    const path = this.#options.path.replace(/\/+$/, "");
    const rest =
      pathname === path || pathname.startsWith(`${path}/`) ? pathname.slice(path.length) : undefined;
    const [run, what, name, ...more] = (rest ?? "/")
      .split("/")
      .slice(1)
      .filter((part) => part !== "")
      .map(decoded);
    if (rest === undefined || more.length > 0) throw new HoldfastError("HF-6220");
    return {
      ...(run === undefined ? {} : { run }),
      ...(what === undefined ? {} : { what }),
      ...(name === undefined ? {} : { name }),
    };
  }

  async #answer(request: Request, { run: id, what, name }: Place): Promise<Response> {
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead && request.method !== "POST") throw new HoldfastError("HF-6220");
    if (id === undefined && !isRead) return this.#start(request);
    if (id === undefined) throw new HoldfastError("HF-6220");
    const run = await this.#engine.get(id);
    // A run of other work is as unknown here as one that doesn't exist.
    if (run?.workflow !== this.#workflow.name) throw new HoldfastError("HF-1001", { run: id });
    if (isRead && what === undefined) return this.#show(request, run);
    if (name === undefined) throw new HoldfastError("HF-6220");
    if (isRead && what === "streams") return this.#stream(request, run, name);
    if (!isRead && what === "signals") return this.#signal(request, run, name);
    if (!isRead && what === "gates") return this.#gate(request, run, name);
    throw new HoldfastError("HF-6220");
  }

  async #start(request: Request): Promise<Response> {
    await this.#check(request, { verb: "start" });
    const { value } = await readBody({}, request);
    const started = await this.#options.start(value, request);
    if (started instanceof Response) return started;
    const { input, ...how } = started;
    const key = request.headers.get("idempotency-key");
    const id =
      how.id ?? (key === null ? undefined : `${ID}${digest(JSON.stringify([this.#workflow.name, key]))}`);
    const run = await this.#engine.start(this.#workflow, input, {
      ...how,
      ...(id === undefined ? {} : { id }),
    });
    const location = `${this.#options.path.replace(/\/+$/, "")}/${run.id}`;
    return json({ id: run.id }, 202, { location });
  }

  async #show(request: Request, run: Run): Promise<Response> {
    await this.#check(request, { verb: "read", run });
    const given = new URL(request.url).searchParams.get("wait");
    if (given !== null && !/^\d{1,4}$/.test(given))
      throw new HoldfastError("HF-6222", { problem: "wait is a whole number of seconds" });
    const { waitMs = WAIT_MS } = this.#options;
    const settled = await this.#settled(run, Math.min(Number(given) * 1_000, waitMs), request.signal);
    const isDone = settled.status === "completed";
    return json({
      id: settled.id,
      status: settled.status,
      waiting: settled.waiting.map(({ kind, step, names }) => ({ kind, step, names })),
      ...(isDone ? { result: asJson(await this.#engine.result(settled.id)) ?? null } : {}),
    });
  }

  /** The run, once nothing is in progress; or as it is when the time is up or the caller has left. */
  async #settled(first: Run, ms: number, caller: AbortSignal): Promise<Run> {
    const over = new AbortController();
    const leave = (): void => over.abort();
    const cancel = systemClock.setTimer(leave, ms, { background: true });
    caller.addEventListener("abort", leave, { once: true });
    if (caller.aborted) leave();
    let run = first;
    try {
      while (ms > 0 && !over.signal.aborted && (run.status === "queued" || run.status === "running")) {
        await this.#engine.streams.moved(run.id, run.seq, over.signal);
        run = (await this.#engine.get(run.id)) ?? run;
      }
    } finally {
      cancel();
      caller.removeEventListener("abort", leave);
    }
    return run;
  }

  async #stream(request: Request, run: Run, name: string): Promise<Response> {
    await this.#check(request, { verb: "read", run, name });
    return answerRead(runSource(this.#engine, run.id, name), request, { clock: systemClock });
  }

  async #signal(request: Request, run: Run, name: string): Promise<Response> {
    await this.#check(request, { verb: "signal", run, name });
    const { text, value } = await readBody({}, request);
    await this.#engine.signal(run.id, name, text === "" ? undefined : value, await this.#act(request));
    return json({ id: run.id }, 202);
  }

  async #gate(request: Request, run: Run, name: string): Promise<Response> {
    await this.#check(request, { verb: "answer", run, name });
    const { value } = await readBody({}, request);
    const { choice, text, data } = Object(value) as Partial<Answer>;
    if (!isRecord(value) || typeof choice !== "string" || (text !== undefined && typeof text !== "string"))
      throw new HoldfastError("HF-6222", { problem: "choice is a text, and so is text" });
    const said = { choice, ...(text === undefined ? {} : { text }), ...(data === undefined ? {} : { data }) };
    const answer = await this.#engine.answer(run.id, name, { ...said, ...(await this.#act(request)) });
    return json({ id: run.id, choice: answer.choice });
  }

  /** How an act is recorded. One with a key counts once, however often it is sent. */
  async #act(request: Request): Promise<{ readonly actor?: string; readonly id?: string }> {
    const [actor, key] = [await this.#options.actor?.(request), request.headers.get("idempotency-key")];
    return { ...(actor === undefined ? {} : { actor }), ...(key === null ? {} : { id: key }) };
  }

  async #check(request: Request, act: RouteAct): Promise<void> {
    if (!(await this.#options.allow(request, act))) throw new HoldfastError("HF-6221", { verb: act.verb });
  }
}

const ID = "key-";

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new HoldfastError("HF-6220");
  }
}

const json = (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
