import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { readDuration } from "../../src/cli/config/engine-settings.ts";
import { type Client, createClient } from "../../src/client/index.ts";
import { ROOT } from "../source-tree.ts";
import { image, pods, services, valueOf } from "../support/deployment.ts";
import { startPostgres } from "../support/services/postgres.ts";
import { freePort } from "../support/services/service.ts";

/** What a container of the folder `deploy/` would start, here as a process beside the others. */
interface Deployed {
  readonly kind: string;
  /** Its command line, with a port of its own: containers have networks of their own, and these processes share one. */
  readonly words: readonly string[];
  readonly port: number;
  readonly ready: string;
  /** The names that requests may come with: a probe asks for the address, an ingress for the name. */
  readonly hosts: readonly string[];
  readonly graceMs: number;
  /** The program that compose asks whether it is healthy. */
  readonly check?: readonly string[];
}

const FLOW = `import { workflow } from "holdfast";
export const pay = workflow("pay", async (ctx, input: { amount: number }) =>
  ctx.step("charge", () => "charged " + input.amount));
`;

const database = services["db"]?.environment ?? {};
const { POSTGRES_USER: user = "", POSTGRES_DB: name = "" } = database;
const password = "from-the-environment";

const server = await startPostgres();
const folder = project();
const started: ChildProcess[] = [];

/** The project that the image holds: the package, and the flows that the commands name. */
function project(): string {
  const made = mkdtempSync(path.join(tmpdir(), "holdfast-deploy-"));
  mkdirSync(path.join(made, "node_modules/.bin"), { recursive: true });
  symlinkSync(ROOT, path.join(made, "node_modules/holdfast"));
  symlinkSync("../holdfast/dist/cli/main.js", path.join(made, "node_modules/.bin/holdfast"));
  mkdirSync(path.join(made, "flows"));
  writeFileSync(path.join(made, "flows/pay.ts"), FLOW);
  writeFileSync(path.join(made, "package.json"), '{ "type": "module" }');
  return made;
}

async function withPort(words: readonly string[]): Promise<{ words: string[]; port: number }> {
  const port = await freePort();
  const flag = words[0] === "serve" ? "--port" : "--health-port";
  const given = valueOf(words, flag);
  return { words: words.map((word) => (word === given ? String(port) : word)), port };
}

/** The services of the compose file, each as often as it says. */
async function composed(): Promise<Deployed[]> {
  const all = Object.entries(services).flatMap(([kind, service]) =>
    service.command ? Array.from({ length: service.deploy?.replicas ?? 1 }, () => ({ kind, service })) : [],
  );
  return Promise.all(
    all.map(async ({ kind, service: { command = [], healthcheck, stop_grace_period: grace = "" } }) => {
      const { words, port } = await withPort(command);
      const [how, ...test] = healthcheck?.test ?? [];
      expect(how).toBe("CMD");
      const old = valueOf(command, kind === "server" ? "--port" : "--health-port");
      const check = test.map((word) => word.replace(`:${old}/`, `:${port}/`));
      const ready = kind === "server" ? "/readyz" : "/ready";
      return { kind, words, port, ready, hosts: ["localhost"], graceMs: readDuration(grace) ?? 0, check };
    }),
  );
}

/** The containers of the Kubernetes manifests. */
const podded = (): Promise<Deployed[]> =>
  Promise.all(
    pods.map(async ({ containers: [container], terminationGracePeriodSeconds: seconds }) => {
      const { args = [], readinessProbe } = container ?? {};
      const { words, port } = await withPort(args);
      const kind = args[0] === "serve" ? "server" : "worker";
      const hosts = ["10.1.2.3", ...(kind === "server" ? [valueOf(args, "--allow-host")] : [])];
      return {
        kind,
        words,
        port,
        ready: readinessProbe?.httpGet.path ?? "",
        hosts,
        graceMs: seconds * 1_000,
      };
    }),
  );

interface Process extends Deployed {
  readonly child: ChildProcess;
  /** Resolves when its output holds the text. */
  said(text: string): Promise<string>;
  readonly ended: Promise<number | null>;
}

function begun(one: Deployed): Process {
  const [entry = ""] = image.entrypoint;
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(process.execPath, [entry, ...one.words], {
    cwd: folder,
    env: { PATH, HOME, NODE_ENV: "production", HOLDFAST_STORE: storeUrl() },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(child);
  let output = "";
  let heard = (): void => undefined;
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      heard();
    });
  const ended = new Promise<number | null>((resolve) =>
    child.on("close", (code) => {
      resolve(code);
      heard();
    }),
  );
  const said = async (text: string): Promise<string> => {
    while (!output.includes(text)) {
      if (child.exitCode !== null) throw new Error(`It ended: ${output}`);
      await new Promise<void>((resolve) => (heard = resolve));
    }
    return output;
  };
  return { ...one, child, said, ended };
}

/** The address that compose gives to its services, with the database where it is here. */
function storeUrl(): string {
  const { HOLDFAST_STORE: given = "" } = services["worker"]?.environment ?? {};
  const url = given.replace(/\$\{HOLDFAST_DB_PASSWORD[^}]*\}/, password);
  return url.replace("@db:5432/", `@127.0.0.1:${server?.port}/`);
}

const statusOf = ({ port, ready }: Deployed, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const request = get({ host: "127.0.0.1", port, path: ready, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on("error", reject);
  });

function checked({ check = [] }: Deployed): Promise<number | null> {
  const [, ...rest] = check;
  const child = spawn(process.execPath, rest, { stdio: "ignore" });
  return new Promise((resolve) => child.on("close", resolve));
}

const clientOf = ({ port }: Deployed, token: string): Client =>
  createClient({ url: `http://127.0.0.1:${port}`, token });

async function ended(client: Client, run: string): Promise<string> {
  for await (const told of client.streamEvents({ run: [run], after: 0 }))
    if (told.type === "run" && /^run_(completed|failed|cancelled)$/.test(told.event.kind)) break;
  return (await client.getRun({ run })).run.status;
}

afterEach(async () => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});
afterAll(async () => {
  await server?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** The database as the image of PostgreSQL makes it from its environment. */
async function emptyDatabase(): Promise<void> {
  const admin = new pg.Client(server?.url ?? "");
  await admin.connect();
  await admin.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
  await admin.query(`DROP ROLE IF EXISTS "${user}"`);
  await admin.query(`CREATE ROLE "${user}" LOGIN PASSWORD '${password}'`);
  await admin.query(`CREATE DATABASE "${name}" OWNER "${user}"`);
  await admin.end();
}

describe.skipIf(!server)("what the folder deploy starts, as processes on PostgreSQL", () => {
  it.each([
    ["the compose file", composed, ["worker", "worker", "server"]],
    ["the Kubernetes manifests", podded, ["server", "worker"]],
  ])("by %s becomes healthy, advances a run and stops in time", async (_, deployed, kinds) => {
    await emptyDatabase();
    const all = (await deployed()).map(begun);
    expect(all.map(({ kind }) => kind)).toEqual(kinds);
    for (const one of all) {
      await one.said("Ctrl-C stops it");
      for (const host of one.hosts) expect([host, await statusOf(one, host)]).toEqual([host, 200]);
      if (one.check) expect(await checked(one)).toBe(0);
    }
    const api = all.find(({ kind }) => kind === "server");
    if (!api) throw new Error("no server");
    expect(await statusOf(api, "evil.example")).toBe(421);
    const [token = ""] = /hf_\S+/.exec(await api.said("hf_")) ?? [];
    const client = clientOf(api, token);
    await client.startRun({ workflow: "pay", input: { amount: 8 }, id: "order-8" });
    expect(await ended(client, "order-8")).toBe("completed");
    const began = performance.now();
    for (const { child } of all) child.kill("SIGTERM");
    expect(await Promise.all(all.map(({ ended: end }) => end))).toEqual(all.map(() => 0));
    expect(performance.now() - began).toBeLessThan(Math.min(...all.map(({ graceMs }) => graceMs)));
    for (const one of all) if (one.check) expect(await checked(one)).toBe(1);
  });
});
