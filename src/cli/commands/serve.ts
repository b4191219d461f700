import { spawn } from "node:child_process";
import type { Workflow } from "../../core/context.ts";
import { defined } from "../../core/defined.ts";
import type { Logger } from "../../core/logger.ts";
import { openTelemetry } from "../../observe/telemetry.ts";
import type { Issuer } from "../../server/access/identify.ts";
import type { App, AppOptions } from "../../server/app.ts";
import { isAddressOrNetwork } from "../../server/hardening/client-address.ts";
import { isOrigin } from "../../server/hardening/origin.ts";
import type { ServeLimits, ServeOptions, Serving } from "../../server/serve.ts";
import { defineCommand, type Values } from "../command.ts";
import type { ServerBlock } from "../config/server-block.ts";
import type { CommandContext } from "../context.ts";
import { plural } from "../format.ts";
import { usage } from "../globals.ts";
import { logOptions, openLog } from "../log-options.ts";
import { appear, RUNS_AT_ONCE } from "../presence.ts";
import { givenWorkflows, untilSignal } from "../service.ts";
import { readPort, readSpan } from "../view/parsers.ts";

const PORT = 4100;
/** How long requests and steps under way may take after the first signal. Containers are usually killed after 30 s. */
const GRACE_MS = 25_000;

const options = {
  port: {
    flag: "--port <n>",
    summary: `Port to listen on (default ${PORT}; 0 takes a free one)`,
    parse: (text: string) => readPort(text, PORT),
  },
  host: { flag: "--host <address>", summary: "Address to listen on (default 127.0.0.1)" },
  allowHost: { flag: "--allow-host <name>", summary: "A host name that requests may be sent to", list: true },
  allowOrigin: {
    flag: "--allow-origin <origin>",
    summary: "Another origin whose pages may call the server",
    list: true,
    parse: readOrigin,
  },
  behindProxy: { flag: "--behind-proxy", summary: "A proxy in front of the server handles TLS" },
  trustProxy: {
    flag: "--trust-proxy <address>",
    summary: "A proxy whose X-Forwarded-For is trusted",
    list: true,
    parse: readProxy,
  },
  tlsCert: { flag: "--tls-cert <file>", summary: "Certificate, to serve HTTPS" },
  tlsKey: { flag: "--tls-key <file>", summary: "The key of the certificate" },
  grace: {
    flag: "--grace <time>",
    summary: "How long to finish requests in progress (default 25s)",
    parse: readSpan,
  },
  open: { flag: "--open", summary: "Open the dashboard in a browser, signed in" },
  ...logOptions,
} as const;

/** An app that may follow runs for its streams, and then wants to be told that it is over. */
type ClosableApp = App & { readonly close?: () => Promise<void> };

type Given = CommandContext<Values<typeof options>>;

/** `holdfast serve [files…]`: the dashboard and the management API, and with files a worker that advances their runs. */
export const command = defineCommand({
  name: "serve",
  summary: "Serve the dashboard and the management API, and advance runs of the given files",
  args: ["[files...]"],
  options,
  examples: [
    "serve",
    "serve flows/pay.ts --port 8080",
    "serve --host 0.0.0.0 --behind-proxy --allow-host ops.example.com",
  ],
  async run(context) {
    await openLog(context);
    const store = await context.store({ create: true });
    const workflows = await givenWorkflows(context);
    const alerts = await context.alertOptions();
    const logger = loggerOf(context);
    const telemetry = await openTelemetry({ logger });
    const { metrics, observe } = telemetry;
    const engine = await context.engine({
      observe,
      alerts,
      ...(workflows.length > 0 ? { workflows, execute: true, schedules: [], concurrency: RUNS_AT_ONCE } : {}),
    });
    await telemetry.begin({ engine, store });
    const [{ serve }, { createApp }, { hasPages }] = await Promise.all([
      import("../../server/serve.ts"),
      import("../../server/app.ts"),
      import("../../server/dashboard.ts"),
    ]);
    const owner = await context.actor();
    const sign = await signerOf(context);
    let app: ClosableApp | undefined;
    const server = await serve({
      ...(await settingsOf(context)),
      store,
      app: (identify) => {
        app = createApp({ engine, store, identify, logger, metrics, dashboard: hasPages(), ...sign });
        return app.fetch;
      },
      owner,
      logger,
    });
    if (workflows.length > 0) await engine.work();
    engine.alerts.begin(true);
    engine.audit.start();
    const presence = workflows.length > 0 ? await appear(engine, store, RUNS_AT_ONCE) : undefined;
    context.atEnd(async () => app?.close?.());
    const graceMs = context.options.grace ?? GRACE_MS;
    const stop = async (): Promise<void> => {
      await presence?.stopping();
      await Promise.all([server.stop(graceMs), engine.close({ drainMs: graceMs })]);
      await telemetry.close();
    };
    try {
      await untilSignal(context, { ready: () => announce(context, server, workflows, owner), stop });
    } finally {
      await presence?.end();
    }
    return { data: { url: server.url }, text: "✓ stopped" };
  },
});

/** Evidence is signed with the audit key, if there is one. */
async function signerOf({ host }: Given): Promise<Pick<AppOptions, "sign">> {
  const text = host.env["HOLDFAST_AUDIT_KEY"];
  if (!text) return {};
  const { auditKey, signText } = await import("../../security/index.ts");
  const key = auditKey(text);
  return { sign: (note) => signText(note, key) };
}

/** Flags come before the configuration. */
async function settingsOf(context: Given): Promise<Omit<ServeOptions, "store" | "app" | "owner" | "logger">> {
  const { options: said } = context;
  const { server: block = {} } = (await context.settings()).values;
  const cert = said.tlsCert ?? block.tls_cert;
  const key = said.tlsKey ?? block.tls_key;
  if ((cert === undefined) !== (key === undefined))
    throw usage("TLS needs two files", "A certificate and its key.", "--tls-cert <file> --tls-key <file>");
  const host = said.host ?? block.host;
  return {
    ...defined({ host, issuer: await issuerOf(block) }),
    port: said.port ?? block.port ?? PORT,
    ...(cert !== undefined && key !== undefined ? { tls: { cert, key } } : {}),
    isBehindProxy: said.behindProxy || block.behind_proxy === true,
    proxies: [...(block.trusted_proxies ?? []), ...(said.trustProxy ?? [])],
    hosts: [...(block.allow_hosts ?? []), ...(said.allowHost ?? [])],
    origins: [...(block.allow_origins ?? []), ...(said.allowOrigin ?? [])],
    limits: limitsOf(block),
  };
}

function limitsOf({ limits = {} }: ServerBlock): Partial<ServeLimits> {
  const { per_token: token, per_address: address, streams_per_token, streams, connections } = limits;
  return {
    ...(token ? { perCredential: { perSecond: token.per_second, burst: token.burst } } : {}),
    ...(address ? { perAddress: { perSecond: address.per_second, burst: address.burst } } : {}),
    ...(streams_per_token === undefined && streams === undefined
      ? {}
      : { streams: { perCredential: streams_per_token ?? 500, total: streams ?? 2_000 } }),
    ...(connections === undefined ? {} : { connection: { connections } }),
  };
}

async function issuerOf({ oidc }: ServerBlock): Promise<Issuer | undefined> {
  if (!oidc) return undefined;
  const [{ createOidc }, { systemClock }] = await Promise.all([
    import("../../server/access/oidc.ts"),
    import("../../core/clock.ts"),
  ]);
  const { jwks_uri, algorithms, actor_claim, roles_claim, ...rest } = oidc;
  const names = { jwksUri: jwks_uri, algorithms, actorClaim: actor_claim };
  return createOidc({ ...rest, ...defined(names), rolesClaim: roles_claim }, systemClock);
}

function announce(
  context: Given,
  server: Serving,
  workflows: readonly Workflow[],
  owner: Parameters<Serving["signInUrl"]>[0],
): void {
  const { out, where } = context;
  const { url, firstToken } = server;
  const names = workflows.map(({ name }) => name).join(", ");
  out.record({ type: "listening", url, store: where, workflows: workflows.map(({ name }) => name) });
  out.say(`${out.note.green("●")} Holdfast serves ${out.note.bold(url)}`);
  out.say(`  Pages   ${url}/`);
  out.say(`  API     ${url}/v1   (health: ${url}/healthz)`);
  out.say(`  Store   ${where}`);
  if (names === "")
    out.say("  Runs    not advanced here: name workflow files, or start holdfast worker <files…>");
  else out.say(`  Runs    advanced here: ${plural(workflows.length, "workflow")} (${names})`);
  if (firstToken !== null) {
    out.warn("This store had no tokens yet. Here is the administrator's; it is shown only this once:");
    out.warn(`  ${firstToken}`);
  }
  out.say(out.note.dim("  Ctrl-C stops it after what is under way."));
  if (context.options.open) openSignedIn(context, server.signInUrl(owner));
}

/** The link works once, so whoever has no browser on this machine can use it too. */
function openSignedIn({ out }: Given, url: string): void {
  out.warn(`To sign in, once and within a minute: ${url}`);
  const [program, ...args] =
    process.platform === "darwin"
      ? ["open"]
      : process.platform === "win32"
        ? ["cmd", "/c", "start", ""]
        : ["xdg-open"];
  // The address has been printed: somebody without a browser uses that.
  spawn(program, [...args, url], { stdio: "ignore", detached: true })
    .on("error", () => undefined)
    .unref();
}

/** Refused credentials and denied requests are for whoever runs the server; they never hold secrets. */
function loggerOf(context: Given): Logger {
  const { out } = context;
  const line = (message: string, fields: Readonly<Record<string, unknown>> = {}): string =>
    [message, ...Object.entries(fields).map(([key, value]) => `${key}=${JSON.stringify(value)}`)].join(" ");
  const told =
    (level: string, tell: (text: string) => void): Logger["info"] =>
    (message, fields) => {
      out.record({ type: "log", level, message, ...fields });
      tell(line(message, fields));
    };
  return context.withLog({
    debug: () => undefined,
    info: told("info", (text) => out.detail(text)),
    warn: told("warn", (text) => out.warn(text)),
    error: told("error", (text) => out.warn(text)),
  });
}

function readOrigin(text: string): string {
  if (isOrigin(text)) return text;
  throw usage(
    `${text} isn't an origin`,
    "It is scheme, name and port, nothing else.",
    "https://ops.example.com",
  );
}

function readProxy(text: string): string {
  if (isAddressOrNetwork(text)) return text;
  throw usage(`${text} isn't an address`, "It is an address, or a network in CIDR form.", "10.0.0.0/8");
}
