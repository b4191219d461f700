import {
  createServer,
  type IncomingMessage,
  type RequestOptions,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import {
  connect as connect2,
  createServer as createServer2,
  type Http2Server,
  type ServerHttp2Stream,
} from "node:http2";
import { type AddressInfo, connect as connectTcp } from "node:net";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";

/**
 * A receiver of payments that does what it is asked, counts it, and then loses its answer in the way that the caller
 * names.
 */
export interface Receiver {
  readonly url: string;
  readonly url2: string;
  readonly port: number;
  /** The number of calls for a run, and of distinct keys. */
  seen(run: string): { readonly calls: number; readonly keys: number };
  close(): Promise<void>;
}

export interface LostShape {
  readonly name: string;
  /** Pays, and throws what its client throws when the answer is lost. */
  lose(receiver: Receiver, run: string, key: string): Promise<unknown>;
}

type Way = "silence" | "cut" | "cut body" | "502" | "504" | "reset" | "cut session";

export async function openReceiver(): Promise<Receiver> {
  const seen = new Map<string, string[]>();
  const note = (headers: Record<string, unknown>) => {
    const run = String(headers["x-run"]);
    seen.set(run, [...(seen.get(run) ?? []), String(headers["idempotency-key"])]);
    return String(headers["x-way"]) as Way;
  };
  const plain = createServer((incoming, response) => {
    incoming.resume();
    incoming.on("end", () => loseOver1(note(incoming.headers), incoming, response));
    incoming.on("error", () => undefined);
  });
  const second = createServer2();
  second.on("stream", (stream, headers) => loseOver2(note(headers), stream));
  second.on("sessionError", () => undefined);
  const [port, port2] = [await listen(plain), await listen(second)];
  return {
    url: `http://127.0.0.1:${port}/pay`,
    url2: `http://127.0.0.1:${port2}`,
    port,
    seen: (run) => ({ calls: seen.get(run)?.length ?? 0, keys: new Set(seen.get(run)).size }),
    async close() {
      plain.closeAllConnections();
      plain.close();
      second.close();
    },
  };
}

async function listen(server: Server | Http2Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

function loseOver1(way: Way, { socket }: IncomingMessage, response: ServerResponse): void {
  if (way === "502" || way === "504") response.writeHead(Number(way)).end("bad gateway");
  else if (way === "cut") socket.destroy();
  else if (way === "cut body") {
    response.writeHead(200, { "content-length": "100" });
    response.write("half of", () => socket.destroy());
  } else response.flushHeaders();
}

function loseOver2(way: Way, stream: ServerHttp2Stream): void {
  stream.on("error", () => undefined);
  if (way === "reset") stream.close(2);
  else if (way === "cut session") stream.session?.destroy();
}

const headersOf = (way: Way, run: string, key: string) => ({
  "x-way": way,
  "x-run": run,
  "idempotency-key": key,
});

/** Waits until the receiver has the request: a call abandoned before that isn't a lost answer. */
async function arrived(receiver: Receiver, run: string, before: number): Promise<void> {
  while (receiver.seen(run).calls <= before) await new Promise((resolve) => setImmediate(resolve));
}

const fetched = (way: Way, isBodyRead = true) =>
  async function lose({ url }: Receiver, run: string, key: string): Promise<unknown> {
    const response = await fetch(url, { method: "POST", headers: headersOf(way, run, key), body: "500" });
    if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
    return isBodyRead ? response.text() : response.status;
  };

/** Aborts a fetch once its request has arrived. */
const givenUp = (reason: (controller: AbortController) => void) =>
  async function lose(receiver: Receiver, run: string, key: string): Promise<unknown> {
    const controller = new AbortController();
    const before = receiver.seen(run).calls;
    const headers = headersOf("silence", run, key);
    const sent = fetch(receiver.url, {
      method: "POST",
      headers,
      body: "500",
      signal: controller.signal,
    }).then((response) => response.text());
    sent.catch(() => undefined);
    await arrived(receiver, run, before);
    reason(controller);
    return sent;
  };

/** A request with `node:http`, and its whole answer. */
const requested = (way: Way, options: RequestOptions, stop?: (sent: ReturnType<typeof request>) => void) =>
  async function lose(receiver: Receiver, run: string, key: string): Promise<unknown> {
    const before = receiver.seen(run).calls;
    const sent = request(receiver.url, { method: "POST", headers: headersOf(way, run, key), ...options });
    const answer = new Promise<IncomingMessage>((resolve, reject) =>
      sent.on("response", resolve).on("error", reject),
    );
    answer.catch(() => undefined);
    sent.end("500");
    if (stop) {
      await arrived(receiver, run, before);
      stop(sent);
    }
    const into = new Writable({ write: (_chunk, _encoding, done) => done() });
    await pipeline(await answer, into);
    // A complete answer is none of these failures.
    throw new Error("the answer came");
  };

const over2 = (way: Way) =>
  async function lose({ url2 }: Receiver, run: string, key: string): Promise<unknown> {
    const session = connect2(url2);
    session.on("error", () => undefined);
    try {
      const stream = session.request({ ":method": "POST", ":path": "/pay", ...headersOf(way, run, key) });
      stream.end("500");
      return await new Promise((resolve, reject) => {
        stream.on("error", reject).on("close", () => reject(new Error("the stream was closed")));
        stream.on("response", resolve);
      });
    } finally {
      session.destroy();
    }
  };

/** Makes the payment and builds the error as the client would. */
const handMade = (error: () => unknown) =>
  async function lose(receiver: Receiver, run: string, key: string): Promise<unknown> {
    await fetched("cut")(receiver, run, key).catch(() => undefined);
    throw error();
  };

const withFields = (message: string, fields: object): Error => Object.assign(new Error(message), fields);
const within = (depth: number, cause: unknown): unknown =>
  depth === 0 ? cause : new Error(`layer ${depth}`, { cause: within(depth - 1, cause) });

/** Writes a raw request to a socket that closes without an answer. */
async function overTcp({ port }: Receiver, run: string, key: string): Promise<unknown> {
  const socket = connectTcp(port, "127.0.0.1");
  const head = Object.entries(headersOf("cut", run, key)).map(([name, value]) => `${name}: ${value}`);
  socket.write(["POST /pay HTTP/1.1", "host: a", "content-length: 3", ...head, "", "500"].join("\r\n"));
  let answer = "";
  for await (const chunk of socket) answer += String(chunk);
  if (answer === "") throw new Error("Premature close");
  return answer;
}

export const lostShapes: readonly LostShape[] = [
  { name: "fetch, socket cut", lose: fetched("cut") },
  { name: "fetch, body cut", lose: fetched("cut body") },
  { name: "fetch, aborted", lose: givenUp((controller) => controller.abort()) },
  { name: "fetch, aborted with a reason", lose: givenUp((controller) => controller.abort("enough")) },
  { name: "fetch, AbortSignal.timeout", lose: timedOut },
  { name: "fetch, 502", lose: fetched("502") },
  { name: "fetch, 504", lose: fetched("504") },
  { name: "http, socket cut", lose: requested("cut", {}) },
  { name: "http, answer cut", lose: requested("cut body", {}) },
  {
    name: "http, destroy(err)",
    lose: requested("silence", {}, (sent) => sent.destroy(new Error("took too long"))),
  },
  { name: "http, destroyed", lose: requested("silence", {}, (sent) => sent.destroy()) },
  {
    name: "http, time-out",
    lose: requested(
      "silence",
      { timeout: 20 },
      (sent) => void sent.on("timeout", () => sent.destroy(new Error("time-out"))),
    ),
  },
  { name: "http2, stream reset", lose: over2("reset") },
  { name: "http2, session cut", lose: over2("cut session") },
  { name: "tcp, premature close", lose: overTcp },
  {
    name: "undici, aborted",
    lose: handMade(() => withFields("Request aborted", { name: "AbortError", code: "UND_ERR_ABORTED" })),
  },
  {
    name: "undici, headers time-out",
    lose: handMade(() => within(1, withFields("Headers Timeout Error", { code: "UND_ERR_HEADERS_TIMEOUT" }))),
  },
  {
    name: "axios, time-out",
    lose: handMade(() =>
      withFields("timeout of 10ms exceeded", {
        isAxiosError: true,
        code: "ECONNABORTED",
        request: {},
        config: {},
      }),
    ),
  },
  {
    name: "axios, 504",
    lose: handMade(() =>
      withFields("Request failed with status code 504", {
        isAxiosError: true,
        code: "ERR_BAD_RESPONSE",
        response: { status: 504, headers: {} },
      }),
    ),
  },
  {
    name: "got, time-out",
    lose: handMade(() =>
      withFields("Timeout awaiting 'response' for 10ms", {
        name: "TimeoutError",
        code: "ETIMEDOUT",
        event: "response",
      }),
    ),
  },
  {
    name: "three causes deep",
    lose: handMade(() => within(3, withFields("read ECONNRESET", { code: "ECONNRESET", syscall: "read" }))),
  },
  {
    name: "a 404 after a cut",
    lose: handMade(() =>
      withFields("not found", {
        status: 404,
        cause: within(2, withFields("socket hang up", { code: "ECONNRESET" })),
      }),
    ),
  },
  {
    name: "gathered",
    lose: handMade(
      () =>
        new AggregateError(
          [withFields("refused", { code: "ECONNREFUSED" }), withFields("reset", { code: "ECONNRESET" })],
          "all failed",
        ),
    ),
  },
  { name: "a plain error", lose: handMade(() => new Error("something went wrong")) },
  { name: "no error at all", lose: handMade(() => undefined) },
];

async function timedOut({ url }: Receiver, run: string, key: string): Promise<unknown> {
  const headers = headersOf("silence", run, key);
  const response = await fetch(url, {
    method: "POST",
    headers,
    body: "500",
    signal: AbortSignal.timeout(100),
  });
  return response.text();
}
