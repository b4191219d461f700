import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import type { AlertOptions } from "../core/manage/alerts/alerts.ts";
import type { AlertsBlock } from "./config/alerts-block.ts";
import { readDuration } from "./config/engine-settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The channels and rules of the configuration. */
export async function alertOptions(
  block: AlertsBlock = {},
  environment: Environment,
  logger: Logger,
): Promise<AlertOptions> {
  const { webhook, logChannel } = await import("../notify/index.ts");
  const webhooks = (block.webhooks ?? []).map(({ url, url_env, secret_env, allow_hosts, name, format }) => {
    const called = name ?? url_env ?? "webhook";
    const address = url ?? valueOf(environment, url_env, called, "url");
    const secret = secret_env === undefined ? undefined : valueOf(environment, secret_env, called, "secret");
    return webhook({ url: address, ...defined({ name, secret, format, allowHosts: allow_hosts }) });
  });
  const hooks = block.notify === undefined ? [] : [block.notify].flat();
  const log = block.log === false ? [] : [logChannel(logger)];
  const ms = (span: string | number | undefined): number | undefined =>
    span === undefined ? undefined : readDuration(span);
  return {
    notify: [...log, ...webhooks, ...hooks],
    remindMs: defined({ P1: ms(block.remind?.P1), P2: ms(block.remind?.P2) }),
    ...defined({
      dashboardUrl: block.dashboard_url,
      runbookUrl: block.runbook_url,
      everyMs: ms(block.every),
      gateAfterMs: ms(block.gate_after),
      escalateMs: ms(block.escalate),
      verifyRuns: block.verify_runs,
    }),
  };
}

function valueOf(environment: Environment, variable: string | undefined, name: string, what: string): string {
  const value = variable === undefined ? undefined : environment[variable];
  if (value !== undefined && value !== "") return value;
  const problem = variable === undefined ? `it has no ${what}` : `the variable ${variable} is not set`;
  throw new HoldfastError("HF-6124", { name, problem });
}
