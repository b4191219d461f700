import { readFileSync } from "node:fs";
import { serve } from "@hono/node-server";
import { GET, POST } from "./routes.ts";

const page = readFileSync(new URL("page.html", import.meta.url));

/** The page and the two routes of the chat. */
async function fetch(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === "/api/chat" && request.method === "POST") return POST(request);
  if (pathname.startsWith("/api/chat/")) return GET(request);
  if (pathname !== "/") return new Response(null, { status: 404 });
  return new Response(page, { headers: { "content-type": "text/html; charset=utf-8" } });
}

serve({ fetch, hostname: "127.0.0.1", port: Number(process.env["PORT"] ?? 4180) }, ({ port }) =>
  console.log(`● http://127.0.0.1:${port}`),
);
