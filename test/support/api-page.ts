import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { promisify } from "node:util";
import { getRequestListener } from "@hono/node-server";
import { createEngine, type Engine, type Store, workflow } from "../../src/index.ts";
import { permissionsOf } from "../../src/server/access/permission.ts";
import { type App, createApp } from "../../src/server/app.ts";

export const TOKEN = "hf_test";

const pay = workflow("pay", async (ctx, input: { amount: number }) => {
  await ctx.step("load", () => input.amount);
  const { choice } = await ctx.gate("approve", { show: input, choices: ["yes", "no"] });
  return choice;
});

/** A server with the run that the page about the API is about: `order-7` waits at its gate. */
export interface PageServer {
  readonly engine: Engine;
  readonly app: App;
  readonly url: string;
  stop(): Promise<void>;
}

export async function servePage(store: Store): Promise<PageServer> {
  const engine = createEngine({ store, workflows: [pay] });
  const permissions = permissionsOf(["admin"]);
  const identify = (request: Request) =>
    request.headers.get("authorization") === `Bearer ${TOKEN}` ? { actor: "ada", permissions } : null;
  const app = createApp({ engine, store, identify, pollMs: 50 });
  const listener = getRequestListener(app.fetch);
  const server = createServer((request, response) => void listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  const handle = await engine.start(pay, { amount: 7 }, { id: "order-7" });
  await engine.settled(handle.id);
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await app.close();
    await engine.close();
    await store.close();
  };
  return { engine, app, url, stop };
}

export const apiPage = readFileSync(new URL("../../docs/api.md", import.meta.url), "utf8");

/** Runs the shell blocks of the page in their order. Returns what each has printed. */
export async function playPage(url: string): Promise<readonly { block: string; stdout: string }[]> {
  const blocks = [...apiPage.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
  const played: { block: string; stdout: string }[] = [];
  for (const block of blocks) {
    const env = { ...process.env, URL: url, TOKEN };
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", block], { env });
    played.push({ block, stdout });
  }
  return played;
}
