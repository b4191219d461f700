/** A typed client of the management API. It imports nothing of Node and runs in browsers too. */

export type { AnswerOf, ArgsOf } from "../server/contract/types.ts";
export {
  type CallOptions,
  type Client,
  createClient,
} from "./client.ts";
export { ApiError } from "./problem.ts";
export type { ClientOptions } from "./request.ts";
export type { StreamEvent, StreamOptions, StreamState } from "./stream.ts";
