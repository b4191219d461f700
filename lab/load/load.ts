import { Agent, get } from "node:http";
import { createEngine, type Engine } from "../../src/core/engine/engine.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { workflow } from "../../src/core/workflow.ts";
import { cpuOf, type Helper, pause, rssOf, type Server, Site } from "./processes.ts";

export interface LoadOptions {
  /** The address of the store, and the store itself, opened. */
  readonly address: string;
  readonly store: Store;
  /** Clients that follow all runs. */
  readonly clients: number;
  readonly requestsPerSecond: number;
  readonly runsPerSecond: number;
  readonly seconds: number;
  /** How often one of the two workers is killed. */
  readonly killMs: number;
}

interface Seen {
  readonly events: number;
  readonly missing: number;
  readonly early: number;
  readonly doubled: number;
  readonly resyncs: number;
  readonly reconnects: number;
  readonly refused: number;
  readonly delays: readonly (readonly [ms: number, count: number])[];
}

const tick = workflow("tick", () => Promise.resolve());
const PATIENCE_MS = 60_000;

/** Loads a server with streams and requests while workers are killed, and counts what the streams tell. */
export async function load(options: LoadOptions) {
  const site = new Site(options.address);
  try {
    return await loaded(options, site);
  } finally {
    await site.end();
  }
}

async function loaded({ store, ...options }: LoadOptions, site: Site) {
  const server = await site.server();
  const workers = [await site.worker(), await site.worker()];
  const before = await server.inspect();
  const helper = site.script("followers.ts");
  await helper.ask("open", { url: `${server.url}/v1/events`, token: server.token, clients: options.clients });
  const followed = await server.inspect();
  const engine = createEngine({ store, workflows: [tick], execute: false });
  const runs: string[] = [];
  const requests = new Requests(server);
  const began = performance.now();
  const cpu = cpuNow(server, helper);
  let [started, kills, mostMb] = [0, 0, 0];
  const open: Promise<unknown>[] = [];
  for (let now = 0; now < options.seconds * 1_000; now = performance.now() - began) {
    requests.upTo((now / 1_000) * options.requestsPerSecond, runs.at(-1));
    for (; started < (now / 1_000) * options.runsPerSecond; started++)
      open.push(engine.start(tick, undefined).then(({ id }) => void runs.push(id)));
    if (now >= (kills + 1) * options.killMs) {
      workers.shift()?.kill("SIGKILL");
      open.push(site.worker().then((worker) => void workers.push(worker)));
      kills++;
      mostMb = Math.max(mostMb, rssOf(server.child.pid));
    }
    await pause(5);
  }
  const used = cpuNow(server, helper);
  const seconds = (performance.now() - began) / 1_000;
  mostMb = Math.max(mostMb, rssOf(server.child.pid));
  await Promise.all([...open, requests.ended()]);
  const { delays, ...seen } = await everything(engine, runs, helper);
  await helper.ask("close");
  await pause(500);
  const after = await server.inspect();
  await engine.close();
  return {
    clients: options.clients,
    requestsPerSecond: options.requestsPerSecond,
    seconds: options.seconds,
    runs: runs.length,
    kills,
    ...seen,
    delayMs: sharesOf(delays),
    requestMs: sharesOf(requests.times.map((ms) => [ms, 1])),
    statuses: Object.fromEntries(requests.statuses),
    cores: {
      server: round((used.server - cpu.server) / seconds),
      clients: round((used.helper - cpu.helper) / seconds),
      requests: round((used.own - cpu.own) / seconds),
    },
    memory: { before, followed, mostRssMb: mostMb, after },
  };
}

const round = (value: number): number => Math.round(value * 100) / 100;

const cpuNow = ({ child }: Server, helper: Helper) => ({
  server: cpuOf(child.pid),
  helper: cpuOf(helper.child.pid),
  own: cpuOf(process.pid),
});

/** Waits until the runs have ended, and until every client has got everything, or there is no hope. */
async function everything(engine: Engine, runs: readonly string[], helper: Helper): Promise<Seen> {
  const rows = await Promise.all(runs.map((id) => engine.settled(id)));
  const expected = rows.map(({ id, seq }) => [id, seq]);
  for (const until = performance.now() + PATIENCE_MS; ; await pause(200)) {
    const seen = await helper.ask<Seen>("report", { expected });
    if (seen.missing === 0 || performance.now() > until) return seen;
  }
}

/** Sends requests at a steady rate. A slow answer doesn't slow down those after it. */
class Requests {
  readonly times: number[] = [];
  readonly statuses = new Map<number, number>();
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #open = new Set<Promise<void>>();
  #sent = 0;

  constructor(server: Server) {
    this.#server = server;
  }

  upTo(count: number, run: string | undefined): void {
    for (; this.#sent < count; this.#sent++) {
      const where = run !== undefined && this.#sent % 2 === 0 ? `/v1/runs/${run}` : "/v1/runs?limit=20";
      const one: Promise<void> = this.#send(where).finally(() => this.#open.delete(one));
      this.#open.add(one);
    }
  }

  async ended(): Promise<void> {
    await Promise.all(this.#open);
    this.#agent.destroy();
  }

  #send(where: string): Promise<void> {
    const began = performance.now();
    const headers = { authorization: `Bearer ${this.#server.token}` };
    return new Promise((resolve) => {
      const end = (status: number): void => {
        this.times.push(Math.round(performance.now() - began));
        this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
        resolve();
      };
      get(`${this.#server.url}${where}`, { headers, agent: this.#agent }, (response) => {
        response.resume().once("end", () => end(response.statusCode ?? 0));
      }).once("error", () => end(0));
    });
  }
}

/** Shares of values that come with how often they were seen. */
function sharesOf(counts: readonly (readonly [value: number, count: number])[]) {
  const sorted = [...counts].sort(([a], [b]) => a - b);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  const share = (part: number): number => {
    let left = total * part;
    for (const [value, count] of sorted) if ((left -= count) <= 0) return value;
    return 0;
  };
  return { p50: share(0.5), p95: share(0.95), p99: share(0.99), most: share(1) };
}
