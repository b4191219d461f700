import { type OperationId, PATHS } from "../server/contract/paths.ts";

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

export type Args = Readonly<Record<string, unknown>>;

/** A request can be sent once only, so each try builds its own. */
export function requestOf(
  options: ClientOptions,
  id: OperationId,
  args: Args,
  given: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): () => Request {
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
  for (const [name, value] of Object.entries(given)) headers.set(name, value);
  if (!isRead) headers.set("content-type", "application/json");
  const body = isRead ? null : JSON.stringify(Object.fromEntries(rest));
  return () => new Request(url, { method, headers, body, ...(signal ? { signal } : {}) });
}

const listOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [String(value)]);
