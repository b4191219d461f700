import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

interface Received {
  readonly path: string;
  readonly type: string | undefined;
  readonly body: Buffer;
}

/** A receiver of OTLP over HTTP. */
export async function otlpReceiver() {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      received.push({
        path: request.url ?? "",
        type: request.headers["content-type"],
        body: Buffer.concat(parts),
      });
      response.writeHead(200, { "content-type": request.headers["content-type"] ?? "" }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { received, url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number | string;
}

/** A span in OTLP's JSON. */
export interface JsonSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes?: readonly { readonly key: string; readonly value: Value }[];
}

/** What OTLP's JSON holds, as far as tests look at it. */
export interface OtlpJson {
  readonly resourceSpans?: readonly { scopeSpans: readonly { spans: readonly JsonSpan[] }[] }[];
  readonly resourceMetrics?: readonly { scopeMetrics: readonly { metrics: readonly { name: string }[] }[] }[];
}

/** The spans of requests in JSON. */
export const spansIn = (received: readonly Received[]): readonly JsonSpan[] =>
  received
    .filter((one) => one.path === "/v1/traces")
    .flatMap(({ body }) => (JSON.parse(body.toString("utf8")) as OtlpJson).resourceSpans ?? [])
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
