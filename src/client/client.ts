import { type OperationId, PATHS } from "../server/contract/paths.ts";
import type { AnswerOf, ArgsOf } from "../server/contract/types.ts";
import { type ApiError, errorOf } from "./problem.ts";
import { type Args, type ClientOptions, requestOf } from "./request.ts";
import { type StreamEvent, type StreamOptions, streamOf } from "./stream.ts";

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

type Follow = (args?: ArgsOf<"streamEvents">, options?: StreamOptions) => AsyncGenerator<StreamEvent, void>;

/** A method for every operation of the API, under its name. */
export type Client = { readonly [Id in OperationId]: Id extends "streamEvents" ? Follow : Method<Id> };

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
  const streamEvents: Follow = (args = {}, stream = {}) => streamOf(options, args, stream);
  return { ...Object.fromEntries(methods), streamEvents } as unknown as Client;
}

/** How often a call is repeated whose answer was lost on the way. */
const REPEATS = 2;

async function send(
  options: ClientOptions,
  id: OperationId,
  args: Args,
  call: CallOptions,
): Promise<unknown> {
  const build = requestOf(options, id, args, headersOf(id, call), call.signal);
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

function headersOf(id: OperationId, { idempotencyKey, seen }: CallOptions): Record<string, string> {
  const key = PATHS[id].startsWith("GET ") ? undefined : (idempotencyKey ?? crypto.randomUUID());
  return {
    ...(key === undefined ? {} : { "idempotency-key": key }),
    ...(seen === undefined ? {} : { "if-match": `"${seen}"` }),
  };
}
