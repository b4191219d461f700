import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import {
  createMcpHandler,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

/**
 * An MCP server in its own process: over standard input and output, or over HTTP without (`http`) or with sessions
 * (`session`), in which case it prints its port. It writes what it does to the given file.
 */
const [file = "", mode = "stdio"] = process.argv.slice(2);

const done = (): string[] => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []);
const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

function server(): McpServer {
  const mcp = new McpServer({ name: "deeds", version: "1" });
  const deed = z.object({ what: z.string(), die: z.enum(["never", "once", "always"]).default("never") });
  const description = "Does something, and dies of it when told to";
  mcp.registerTool("do", { description, inputSchema: deed }, ({ what, die }, ctx) => {
    const before = done();
    appendFileSync(file, `${what}\n`);
    if (die === "always" || (die === "once" && !before.includes(what))) process.kill(process.pid, "SIGKILL");
    return text(
      `did ${what} under ${String(ctx.mcpReq._meta?.["holdfast/idempotency-key"]).length > 20 ? "a key" : "none"}`,
    );
  });
  mcp.registerTool(
    "safe.do",
    { inputSchema: deed, annotations: { idempotentHint: true } },
    ({ what, die }) => {
      const before = done();
      appendFileSync(file, `${what}\n`);
      if (die === "once" && !before.includes(what)) process.kill(process.pid, "SIGKILL");
      return text(`did ${what}`);
    },
  );
  mcp.registerTool("count", { annotations: { readOnlyHint: true } }, () => ({
    content: [],
    structuredContent: { done: done().length },
  }));
  mcp.registerTool("env", { annotations: { readOnlyHint: true } }, () =>
    text(Object.keys(process.env).sort().join(" ")),
  );
  mcp.registerTool("fail", {}, () => ({ ...text("there is no such thing"), isError: true }));
  mcp.registerTool("show", { annotations: { readOnlyHint: true } }, () => ({
    content: [
      { type: "text", text: "a picture:" },
      { type: "image", data: "AAAA", mimeType: "image/png" },
      { type: "resource", resource: { uri: "file:///a.txt", text: "its text" } },
      { type: "resource_link", uri: "file:///b.txt", name: "b" },
    ],
  }));
  return mcp;
}

const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

/** Sessions live in this process's memory, as in most servers. */
async function inSession(request: Request): Promise<Response> {
  const known = request.headers.get("mcp-session-id");
  if (known !== null)
    return sessions.get(known)?.handleRequest(request) ?? new Response("no such session", { status: 404 });
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await server().connect(transport);
  return transport.handleRequest(request);
}

if (mode === "broken") {
  process.stderr.write("the licence has run out\n");
  process.exit(1);
} else if (mode === "stdio") {
  serveStdio(server);
} else {
  const handler = mode.startsWith("session") ? { fetch: inSession } : createMcpHandler(server);
  const port = Number(mode.split(":")[1] ?? 0);
  const http = createServer((incoming, outgoing) => {
    const headers = new Headers(incoming.headers as Record<string, string>);
    const hasBody = incoming.method === "POST";
    const request = new Request(`http://127.0.0.1${incoming.url ?? "/"}`, {
      method: incoming.method ?? "GET",
      headers,
      ...(hasBody ? { body: Readable.toWeb(incoming) as never, duplex: "half" } : {}),
    } as RequestInit);
    void handler.fetch(request).then((response) => {
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      outgoing.flushHeaders();
      if (response.body) Readable.fromWeb(response.body as ReadableStream).pipe(outgoing);
      else outgoing.end();
    });
  });
  http.listen(port, "127.0.0.1", () => process.stdout.write(`${(http.address() as AddressInfo).port}\n`));
}
