import { checkKeys, checkText, keysOf } from "../core/check-options.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import type { AlertNotification, NotifyChannel } from "../core/manage/alerts/channel.ts";
import { checkUrl, type GuardOptions, guardedPost } from "./request.ts";
import { signed } from "./signature.ts";

/** Where a webhook goes, and how its deliveries are signed. */
export interface WebhookOptions extends GuardOptions {
  /** The name of the channel, for the record of deliveries. Default: `webhook` and the host. */
  readonly name?: string;
  readonly url: string;
  /** Signs each delivery, so that the receiver knows who sent it. Not needed for Slack, whose URL is the secret. */
  readonly secret?: string;
  /** `slack`: a body that Slack, Mattermost and the like show as a message. Default `json`. */
  readonly format?: "json" | "slack";
  readonly clock?: Clock;
}

/**
 * A channel that posts notifications to a URL: signed with the time (Standard Webhooks), to public addresses over
 * HTTPS only, without following redirects. `Idempotency-Key` is the same for a repeated delivery.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { webhook } from "holdfast/notify";
 * import { createMemoryStore } from "holdfast/stores/memory";
 *
 * export const engine = createEngine({
 *   store: createMemoryStore(),
 *   alerts: {
 *     dashboardUrl: "https://ops.example.com",
 *     notify: [webhook({ url: "https://hooks.example.com/holdfast", secret: "whsec_c2VjcmV0LW9mLTI0LWJ5dGVzISE=" })],
 *   },
 * });
 * ```
 */
export function webhook(options: WebhookOptions): NotifyChannel {
  const keys = { name: true, url: true, secret: true, format: true, clock: true } as const;
  checkKeys(options, keysOf<WebhookOptions>({ ...keys, allowHosts: true, timeoutMs: true, resolve: true }));
  const { secret, format = "json", clock = systemClock } = options;
  const url = urlOf(options);
  const name = options.name ?? `webhook ${url.host}`;
  if (format === "json" && (secret === undefined || secret.length < 16))
    throw new HoldfastError("HF-6124", { name, problem: "it has no secret of at least 16 characters" });
  checkUrl(url, options);
  return {
    name: checkText("name", name, 1, 100),
    async send(notification) {
      const body = JSON.stringify(
        format === "slack" ? slackBody(notification) : { type: "holdfast.alert", ...notification },
      );
      const headers = {
        "content-type": "application/json",
        "user-agent": "holdfast",
        "idempotency-key": notification.id,
        ...(secret === undefined ? {} : signed(secret, notification.id, clock.now(), body)),
      };
      await guardedPost(options.url, headers, body, options);
    },
  };
}

function urlOf({ url, name = "webhook" }: WebhookOptions): URL {
  try {
    return new URL(url);
  } catch {
    // A URL may be a secret, so it isn't repeated.
    throw new HoldfastError("HF-6124", { name, problem: "its url is not a URL" });
  }
}

const ICONS = { opened: ":rotating_light:", reminder: ":bell:", escalated: ":rotating_light:" } as const;

/** What runs and models wrote must not become a link or call everybody. */
const plainText = (text: string): string =>
  text.replace(/[&<>]/g, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[one] ?? one);

/** A message for Slack and what understands the same body. */
export function slackBody(notification: AlertNotification): { readonly text: string } {
  const { news, title, links, since } = notification;
  const icon = news === "cleared" ? ":white_check_mark:" : news === "test" ? ":wave:" : ICONS[news];
  const runbook = /^https?:/.test(links.runbook) ? `<${links.runbook}|what to do>` : links.runbook;
  const page = links.page === null ? [] : [`<${links.page}|open>`];
  return {
    text: [
      `${icon} ${plainText(title)}`,
      [...page, runbook, `since ${new Date(since).toISOString()}`].join(" · "),
    ].join("\n"),
  };
}

/** A channel that writes notifications to a log. */
export const logChannel = (logger: Logger): NotifyChannel => ({
  name: "log",
  async send({ title, kind, key, news, severity, run, links }) {
    const level = news === "cleared" || news === "test" ? "info" : severity === "P1" ? "error" : "warn";
    logger[level](title, { alert: key, kind, news, ...(run === null ? {} : { runId: run }), ...links });
  },
});
