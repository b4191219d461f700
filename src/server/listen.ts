import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, BlockList, isIP } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { HoldfastError } from "../core/errors.ts";
import type { Guarded } from "./hardening/protect.ts";

export interface ListenOptions {
  readonly answer: Guarded;
  /** Default `127.0.0.1`. Another address needs TLS, or a proxy that has it. */
  readonly host?: string;
  /** 0 chooses a free one. */
  readonly port: number;
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly isBehindProxy?: boolean;
  readonly limits?: Partial<ConnectionLimits>;
}

/** What one connection may take. Slow ones are cut, so that they can't keep others out. */
export interface ConnectionLimits {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly idleMs: number;
  readonly headerBytes: number;
  readonly connections: number;
}

const LIMITS: ConnectionLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  idleMs: 5_000,
  headerBytes: 16_384,
  connections: 5_000,
};

export interface Listening {
  /** Where it can be reached, such as `http://127.0.0.1:4100`. */
  readonly url: string;
  readonly port: number;
  /** Takes no new requests, lets those under way finish for up to `graceMs`, then cuts what is left. */
  stop(graceMs: number): Promise<void>;
}

const IDLE_CHECK_MS = 20;

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** True for an address that only this machine can reach. */
export function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host.toLowerCase() === "localhost";
  return LOOPBACK.check(host, family === 6 ? "ipv6" : "ipv4");
}

/** Listens, with limits on what each connection may take. Refuses to send tokens in the clear over a network (HF-6059). */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { host = "127.0.0.1", port, tls, isBehindProxy = false } = options;
  if (!isLoopback(host) && !tls && !isBehindProxy) throw new HoldfastError("HF-6059", { host });
  const server = serverOf(options);
  const at = await bind(server, host, port);
  return {
    url: `${tls ? "https" : "http"}://${at.name}`,
    port: at.port,
    stop: (graceMs) => stop(server, graceMs),
  };
}

/** Lets a server listen, and returns where it does; an address that can't be used is refused (HF-6066). */
export async function bind(
  server: Server,
  host: string,
  port: number,
): Promise<{ readonly port: number; readonly name: string }> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(unusable(host, port, error)));
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return { port: bound, name: `${isIP(host) === 6 ? `[${host}]` : host}:${bound}` };
}

function serverOf({ answer, tls, limits }: ListenOptions): Server {
  const { headersMs, requestMs, idleMs, headerBytes, connections } = { ...LIMITS, ...limits };
  const listener = getRequestListener(
    (request, { incoming }) => answer(request, incoming.socket?.remoteAddress),
    { overrideGlobalObjects: false },
  );
  const settings = {
    maxHeaderSize: headerBytes,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(1_000, headersMs),
    requireHostHeader: true,
  };
  const handle = (...[incoming, outgoing]: Parameters<typeof listener>): void =>
    void listener(incoming, outgoing).catch(() => outgoing.destroy());
  const server = tls
    ? createTlsServer({ ...settings, ...certificate(tls), minVersion: "TLSv1.2" }, handle)
    : createServer(settings, handle);
  server.maxConnections = connections;
  server.maxRequestsPerSocket = 10_000;
  return server;
}

function certificate({ cert, key }: { cert: string; key: string }) {
  try {
    return { cert: readFileSync(cert), key: readFileSync(key) };
  } catch (error) {
    const problem = `the certificate can't be read (${String(error)})`;
    const fix = "Check --tls-cert and --tls-key.";
    throw new HoldfastError("HF-6066", { address: "TLS", problem, why: "Both files are needed.", fix });
  }
}

function unusable(host: string, port: number, error: Error): HoldfastError {
  const isTaken = "code" in error && error.code === "EADDRINUSE";
  const address = `${host}:${port}`;
  const problem = isTaken ? "it is in use" : error.message;
  const why = isTaken ? "Another program listens there." : "The operating system refused it.";
  const fix = isTaken ? "Choose another port; 0 takes a free one." : "Choose another address or port.";
  return new HoldfastError("HF-6066", { address, problem, why, fix }, { cause: error });
}

async function stop(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection whose answer is finished would be kept for the next request, which it is too late for.
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const end = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(idle);
  clearTimeout(end);
}
