// Vercel's workflow package without a framework: its two handlers on a loopback server, which the world's queue calls.
import { copyFileSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import { database, folder, measure, now, payload, STEPS } from "./work.mjs";

const PORT = 29500;
Object.assign(process.env, {
  PORT: String(PORT),
  WORKFLOW_LOCAL_BASE_URL: `http://127.0.0.1:${PORT}`,
  WORKFLOW_NO_TELEMETRY: "1",
});
let counts = {};
if (process.argv[2] === "postgres") {
  counts = await database("peers_vercel");
  Object.assign(process.env, {
    WORKFLOW_TARGET_WORLD: "@workflow/world-postgres",
    WORKFLOW_POSTGRES_URL: counts.url,
    WORKFLOW_POSTGRES_WORKER_CONCURRENCY: "32",
    WORKFLOW_POSTGRES_MAX_POOL_SIZE: "34",
  });
  const { execFileSync } = await import("node:child_process");
  execFileSync(process.execPath, ["node_modules/.bin/bootstrap"], { stdio: "ignore" });
} else {
  process.env.WORKFLOW_TARGET_WORLD = "local";
  process.env.WORKFLOW_LOCAL_DATA_DIR = folder("vercel");
}
// A run counts as done when its last step ran: its result is polled for once a second, which would hide its speed.
const runs = new Map();
globalThis.stepOf = (id, n) => {
  const run = runs.get(id);
  const time = now();
  if (run?.before !== undefined && n > 0) run.into.push(time - run.before);
  if (run) run.before = time;
  if (n === STEPS - 1) run?.done();
  return payload();
};
// The bundles are CommonJS in a package of type module: they are loaded under another name.
const require = createRequire(import.meta.url);
const load = (name) => {
  const built = new URL(`./.well-known/workflow/v1/${name}`, import.meta.url).pathname;
  copyFileSync(`${built}.js`, `${built}.cjs`);
  return require(`${built}.cjs`);
};
const [flow, step] = [load("flow"), load("step")];
const server = http.createServer((request, response) => void answer(request, response));
async function answer(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { POST } = request.url.includes("/flow") ? flow : step;
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  const body = Buffer.concat(chunks);
  const given = await POST(
    new Request(`http://127.0.0.1:${PORT}${request.url}`, { method: "POST", headers, body, duplex: "half" }),
  );
  response.statusCode = given.status;
  given.headers.forEach((value, name) => response.setHeader(name, value));
  response.end(Buffer.from(await given.arrayBuffer()));
}
await new Promise((resolve) => server.listen(PORT, "127.0.0.1", resolve));
const { start } = await import("workflow/api");
const { getWorld } = await import("workflow/runtime");
await (await getWorld()).start?.();
await measure(async (id, into) => {
  const ended = new Promise((done) => runs.set(id, { into, done }));
  await start({ workflowId: "workflow//./workflows/wf//wf" }, [id, STEPS]);
  await ended;
  runs.delete(id);
}, counts);
