import type { Permission } from "../access/permission.ts";
import type { About } from "../contract/declare.ts";

/** One method of the Durable Streams protocol: where it is, and who may use it. */
export interface StreamMethod {
  readonly id: string;
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** `{name}` of a stream that clients keep may have slashes in it. */
  readonly path: string;
  readonly permission: Permission;
  readonly about: About;
}

const KEPT = { path: "/v1/stream/{name}", about: "store" } as const;
const OF_RUN = { path: "/v1/runs/{run}/streams/{name}", permission: "streams:read", about: "run" } as const;

/**
 * The methods of the protocol. They aren't operations of the API: their bodies are whatever somebody streams, and the
 * protocol says what their headers are.
 */
export const streamMethods = {
  createStream: { id: "createStream", method: "PUT", permission: "streams:write", ...KEPT },
  appendStream: { id: "appendStream", method: "POST", permission: "streams:write", ...KEPT },
  readStream: { id: "readStream", method: "GET", permission: "streams:read", ...KEPT },
  headStream: { id: "headStream", method: "HEAD", permission: "streams:read", ...KEPT },
  deleteStream: { id: "deleteStream", method: "DELETE", permission: "streams:write", ...KEPT },
  readRunStream: { id: "readRunStream", method: "GET", ...OF_RUN },
  headRunStream: { id: "headRunStream", method: "HEAD", ...OF_RUN },
} as const satisfies Readonly<Record<string, StreamMethod>>;

export const allStreamMethods: readonly StreamMethod[] = Object.values(streamMethods);
