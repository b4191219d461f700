import { createServer, type Server, type ServerResponse } from "node:http";
import type { Workflow } from "../../core/context.ts";
import type { Engine } from "../../core/engine/engine.ts";
import { PROMETHEUS_TYPE } from "../../observe/metrics/prometheus.ts";
import { openTelemetry } from "../../observe/telemetry.ts";
import { bind } from "../../server/listen.ts";
import { defineCommand, type Values } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { plural } from "../format.ts";
import { usage } from "../globals.ts";
import { logOptions, openLog } from "../log-options.ts";
import { ownerName } from "../owner.ts";
import { appear, RUNS_AT_ONCE } from "../presence.ts";
import { givenWorkflows, untilSignal } from "../service.ts";
import { readCount, readPort, readSpan } from "../view/parsers.ts";

/** Containers are usually killed 30 s after they were asked to stop. */
const STOP_WITHIN_MS = 25_000;

const options = {
  concurrency: {
    flag: "--concurrency <n>",
    summary: `Advance at most this many runs at once (default ${RUNS_AT_ONCE})`,
    parse: readCount,
  },
  stopWithin: {
    flag: "--stop-within <time>",
    summary: "After a signal, let calls in progress finish for this long (default 25s)",
    parse: readSpan,
  },
  healthPort: {
    flag: "--health-port <n>",
    summary: "Answer /live, /ready and /v1/metrics on this port (0 takes a free one)",
    parse: (text: string) => readPort(text, 8081),
  },
  healthHost: { flag: "--health-host <address>", summary: "Address for health checks (default 127.0.0.1)" },
  ...logOptions,
} as const;

type Given = CommandContext<Values<typeof options>>;

/** `holdfast worker <files…>`: advances the runs of these workflows until it is asked to stop. */
export const command = defineCommand({
  name: "worker",
  summary: "Advance the runs of the given files until you stop it",
  args: ["<files...>"],
  options,
  examples: ["worker flows/pay.ts", "worker flows/*.ts --concurrency 50 --health-port 8081"],
  async run(context) {
    await openLog(context);
    const store = await context.store({ create: true });
    const workflows = await workflowsOf(context);
    const concurrency = context.options.concurrency ?? RUNS_AT_ONCE;
    const alerts = await context.alertOptions();
    const telemetry = await openTelemetry();
    const { observe, metrics } = telemetry;
    const engine = await context.engine({
      alerts,
      workflows,
      execute: true,
      schedules: [],
      concurrency,
      observe,
    });
    await telemetry.begin({ engine, store });
    const state = { isStopping: false, isReady: false };
    const health = await listen(context, engine, state, () => metrics.prometheus({ engine, store }));
    await engine.work();
    state.isReady = true;
    const presence = await appear(engine, store, concurrency);
    const stop = async (): Promise<void> => {
      state.isStopping = true;
      await presence.stopping();
      await engine.close({ drainMs: context.options.stopWithin ?? STOP_WITHIN_MS });
      await telemetry.close();
    };
    try {
      await untilSignal(context, { ready: () => announce(context, workflows, health?.url), stop });
      return { data: { owner: presence.owner }, text: "✓ stopped" };
    } finally {
      await presence.end();
      health?.server.close();
    }
  },
});

async function workflowsOf(context: Given): Promise<readonly Workflow[]> {
  const all = await givenWorkflows(context);
  if (all.length > 0) return all;
  throw usage("there is nothing to work on", "The files hold no workflow.", "holdfast worker flow.ts");
}

interface State {
  readonly isStopping: boolean;
  readonly isReady: boolean;
}

/**
 * `/live`: the process answers. `/ready`: it takes runs, and its store answers. `/v1/metrics`: figures for Prometheus, which name no run.
 */
async function listen(
  context: Given,
  engine: Engine,
  state: State,
  metrics: () => Promise<string>,
): Promise<{ readonly server: Server; readonly url: string } | undefined> {
  const { healthPort, healthHost = "127.0.0.1" } = context.options;
  if (healthPort === undefined) return undefined;
  const server = createServer((request, response) => {
    if (request.url === "/v1/metrics") return void scraped(response, metrics);
    const isUp = engine.health().store.state === "ok";
    const isReady = state.isReady && !state.isStopping && isUp;
    const status =
      request.url === "/live" || (request.url === "/ready" && isReady)
        ? 200
        : request.url === "/ready"
          ? 503
          : 404;
    response.writeHead(status, { "content-type": "text/plain", "cache-control": "no-store" });
    response.end(status === 200 ? "ok\n" : status === 503 ? "not ready\n" : "not found\n");
  });
  const { name } = await bind(server, healthHost, healthPort);
  return { server, url: `http://${name}` };
}

async function scraped(response: ServerResponse, metrics: () => Promise<string>): Promise<void> {
  const text = await metrics().catch(() => undefined);
  response.writeHead(text === undefined ? 503 : 200, {
    "content-type": PROMETHEUS_TYPE,
    "cache-control": "no-store",
  });
  response.end(text);
}

function announce(context: Given, workflows: readonly Workflow[], health: string | undefined): void {
  const { out, where } = context;
  const names = workflows.map(({ name, version }) => `${name} ${version}`);
  out.record({
    type: "working",
    owner: ownerName(),
    store: where,
    workflows: workflows.map(({ name }) => name),
    ...(health === undefined ? {} : { health }),
  });
  out.say(
    `${out.note.green("●")} ${ownerName()} advances ${plural(workflows.length, "workflow")}: ${names.join(", ")}`,
  );
  out.say(`  Store   ${where}`);
  if (health !== undefined) out.say(`  Health  ${health}/ready`);
  out.say(out.note.dim("  Ctrl-C stops it after what is under way."));
}
