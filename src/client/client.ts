import { type OperationId, PATHS } from "../server/contract/paths.ts";
import type { AnswerOf, ArgsOf } from "../server/contract/types.ts";
import { type ApiError, errorOf } from "./problem.ts";

/** Options of the client. */
export interface ClientOptions {
  /** Where the API is, such as `http://127.0.0.1:4111`; with the path it is mounted under, if any. */
  readonly url: string;
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string;
  /** Sends requests. Default: the global `fetch`. Give `app.fetch` to call an app of the same process. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** Headers for every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Options of one call. */
export interface CallOptions {
  /** Names the act: sent again under the same key, it counts once. Default: a new key for each call. */
  readonly idempotencyKey?: string;
  /** The position (`seq`) at which you have seen the run; if it has moved on since, the call is refused (412). */
  readonly seen?: number;
  readonly signal?: AbortSignal;
}

type Method<Id extends OperationId> =
  Record<never, never> extends ArgsOf<Id>
    ? (args?: ArgsOf<Id>, options?: CallOptions) => Promise<AnswerOf<Id>>
    : (args: ArgsOf<Id>, options?: CallOptions) => Promise<AnswerOf<Id>>;

/** A method for every operation of the API, under its name. */
export type Client = { readonly [Id in OperationId]: Method<Id> };

/**
 * A typed client of the management API. Acts get an Idempotency-Key of their own, so a call that is repeated because its
 * answer was lost counts once.
 *
 * @example
 * ```ts
 * import { createClient } from "holdfast/client";
 *
 * const client = createClient({ url: "http://127.0.0.1:4111", token: "hf_…" });
 *
 * export async function pauseAll(workflow: string): Promise<void> {
 *   const { runs } = await client.listRuns({ workflow, status: ["running"] });
 *   for (const { id, seq } of runs) await client.pauseRun({ run: id, reason: "deploy" }, { seen: seq });
 * }
 * ```
 */
export function createClient(options: ClientOptions): Client {
  const methods = Object.keys(PATHS).map((id) => {
    const method = (args: Args = {}, call: CallOptions = {}) => send(options, id as OperationId, args, call);
    return [id, method] as const;
  });
  return Object.fromEntries(methods) as unknown as Client;
}

type Args = Readonly<Record<string, unknown>>;

/** How often a call is repeated whose answer was lost on the way. */
const REPEATS = 2;

async function send(
  options: ClientOptions,
  id: OperationId,
  args: Args,
  call: CallOptions,
): Promise<unknown> {
  const build = requestOf(options, id, args, call);
  const fetch = options.fetch ?? globalThis.fetch;
  for (let left = REPEATS; ; left--) {
    try {
      return await answerOf(await fetch(build()));
    } catch (error) {
      if (left === 0 || call.signal?.aborted || !isLost(error)) throw error;
    }
  }
}

/** No answer came, so whether the call was carried out is unknown. Its key makes it safe to ask again. */
const isLost = (error: unknown): boolean => error instanceof TypeError;

async function answerOf(response: Response): Promise<unknown> {
  if (!response.ok) throw (await errorOf(response)) satisfies ApiError;
  const type = response.headers.get("content-type") ?? "";
  return type.startsWith("application/json") ? response.json() : response.text();
}

/** A request can be sent once only, so each try builds its own. */
function requestOf(options: ClientOptions, id: OperationId, args: Args, call: CallOptions): () => Request {
  const [method = "", path = ""] = PATHS[id].split(" ");
  const rest = new Map(Object.entries(args).filter(([, value]) => value !== undefined));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    return encodeURIComponent(String(value));
  });
  const url = new URL(`${options.url.replace(/\/+$/, "")}${filled}`);
  const isRead = method === "GET" || method === "DELETE";
  if (isRead)
    for (const [name, value] of rest) for (const one of listOf(value)) url.searchParams.append(name, one);
  const headers = new Headers(options.headers);
  if (options.token !== undefined) headers.set("authorization", `Bearer ${options.token}`);
  if (method !== "GET") headers.set("idempotency-key", call.idempotencyKey ?? crypto.randomUUID());
  if (call.seen !== undefined) headers.set("if-match", `"${call.seen}"`);
  if (!isRead) headers.set("content-type", "application/json");
  const body = isRead ? null : JSON.stringify(Object.fromEntries(rest));
  return () => new Request(url, { method, headers, body, ...(call.signal ? { signal: call.signal } : {}) });
}

const listOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [String(value)]);
