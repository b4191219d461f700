import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { fetch as answer, close } from "./routes.ts";

/** The shop: a plain server with the routes. */
const listener = getRequestListener(answer);
const server = createServer((request, response) => void listener(request, response));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const orders = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/orders`;
const headers = { authorization: "Bearer ada", "content-type": "application/json" };

/** A customer, who sends the order twice because the network is bad, and follows what happens to it. */
async function send(address: string, body: unknown, key: string): Promise<{ id: string }> {
  const how = { method: "POST", headers: { ...headers, "idempotency-key": key } };
  const response = await fetch(address, { ...how, body: JSON.stringify(body) });
  return (await response.json()) as { id: string };
}

interface Shown {
  readonly status: string;
  readonly waiting: readonly { readonly kind: string; readonly step: string }[];
  readonly result?: unknown;
}

/** What has become of the order, as soon as nothing is in progress, or after 20 s. */
async function show(id: string): Promise<Shown> {
  return (await (await fetch(`${orders}/${id}?wait=20`, { headers })).json()) as Shown;
}

const { id } = await send(orders, { item: "a lamp" }, "order-1");
const again = await send(orders, { item: "a lamp" }, "order-1");
console.log(again.id === id ? "✓ ordered once" : "✗ ordered twice");

let shown = await show(id);
while (shown.waiting[0]?.kind !== "gate") shown = await show(id);
console.log(`? ${shown.waiting[0].step}`);
await send(`${orders}/${id}/gates/${encodeURIComponent(shown.waiting[0].step)}`, { choice: "yes" }, "wrap-1");
while (shown.status !== "completed") shown = await show(id);

const log = await fetch(`${orders}/${id}/streams/log?offset=-1`, { headers });
for (const line of (await log.json()) as string[]) console.log(`… ${line}`);
console.log(`✓ ${JSON.stringify(shown.result)}`);
server.closeAllConnections();
server.close();
await close();
