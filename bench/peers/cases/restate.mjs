// Restate: its server on loopback, with the log synced, and a handler of ten `ctx.run` called through the ingress.
import { spawn } from "node:child_process";
import { openSync, writeFileSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as restate from "@restatedev/restate-sdk";
import { folder, measure, now, payload, STEPS } from "./work.mjs";

const [INGRESS, ADMIN, NODE, SERVICE] = [28080, 29070, 25122, 29080];
const latencies = new Map();
const bench = restate.service({
  name: "bench",
  handlers: {
    flow: async (ctx, { id }) => {
      for (let n = 0; n < STEPS; n++) {
        const start = now();
        await ctx.run("step", () => payload());
        latencies.get(id)?.push(now() - start);
      }
    },
  },
});

const at = folder("restate");
const config = `${at}/restate.toml`;
writeFileSync(
  config,
  `node-name = "bench"
cluster-name = "bench"
base-dir = "${at}/data"
bind-ip = "127.0.0.1"
bind-port = ${NODE}
advertised-address = "http://127.0.0.1:${NODE}"
listen-mode = "tcp"
disable-telemetry = true
log-filter = "error"
[ingress]
bind-ip = "127.0.0.1"
bind-port = ${INGRESS}
[admin]
bind-ip = "127.0.0.1"
bind-port = ${ADMIN}
disable-web-ui = true
`,
);
const found = createRequire(import.meta.url).resolve("@restatedev/restate-server-linux-x64/package.json");
const log = openSync(`${at}/log`, "a");
const server = spawn(`${dirname(found)}/bin/restate-server`, ["--no-logo", "-c", config], {
  stdio: ["ignore", log, log],
  env: { PATH: process.env.PATH, HOME: at, DO_NOT_TRACK: "1" },
});
process.on("exit", () => server.kill("SIGKILL"));

const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });
function ask(port, path, body) {
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
  const method = body === undefined ? "GET" : "POST";
  return new Promise((resolve, reject) => {
    const request = http.request({ host: "127.0.0.1", port, path, method, agent, headers }, (response) => {
      response.resume();
      response.on("end", () =>
        response.statusCode < 300 ? resolve() : reject(new Error(`${path}: ${response.statusCode}`)),
      );
    });
    request.on("error", reject);
    request.end(text);
  });
}
async function until(work) {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === 400) throw error;
    }
    await delay(50);
  }
}

await until(() => ask(ADMIN, "/health"));
await until(() => ask(INGRESS, "/restate/health"));
await new Promise((resolve) => {
  const handler = restate.createEndpointHandler({ services: [bench] });
  http2.createServer(handler).listen(SERVICE, "127.0.0.1", resolve);
});
await until(() => ask(ADMIN, "/deployments", { uri: `http://127.0.0.1:${SERVICE}`, force: true }));
await until(() => ask(INGRESS, "/bench/flow", { id: "first" }));
await measure(async (id, into) => {
  latencies.set(id, into);
  await ask(INGRESS, "/bench/flow", { id });
  latencies.delete(id);
});
