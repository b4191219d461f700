import { z } from "zod";
import type { AlertNotification, NotifyChannel } from "../../core/manage/alerts/channel.ts";

const DURATION = /^\d+(?:\.\d+)?(?:ms|s|m|h|d|w)$/;
const duration = z.union([
  z.number().positive().describe("milliseconds"),
  z.string().regex(DURATION, 'must be a number with a unit, such as "15s" or "10m"'),
]);

const webhook = z.strictObject({
  name: z.string().min(1).max(100).optional(),
  url: z.string().optional().describe("https://…; of Slack it is a secret, so name it by url_env"),
  url_env: z.string().optional().describe("Variable that holds the URL"),
  secret_env: z.string().optional().describe("Variable that holds the secret that signs deliveries"),
  format: z.enum(["json", "slack"]).optional(),
  allow_hosts: z.array(z.string().min(1)).optional().describe("Internal hosts or networks it may reach"),
});

type Hook = NotifyChannel | ((notification: AlertNotification) => Promise<void>);
const isHook = (value: unknown): boolean =>
  typeof value === "function" || (typeof value === "object" && value !== null && "send" in value);

/** Who is told of what goes wrong: of `holdfast serve` and `holdfast worker`. */
export const alertsBlock = z
  .strictObject({
    webhooks: z.array(webhook).optional(),
    notify: z
      .union([
        z.custom<Hook>(isHook, "must be a function"),
        z.array(z.custom<Hook>(isHook, "must be a function")),
      ])
      .optional()
      .describe("A function that sends a mail, or anything else"),
    log: z.boolean().optional().describe("false: alerts aren't written to the log"),
    dashboard_url: z.string().optional().describe("Where messages link to, such as https://ops.example.com"),
    runbook_url: z.string().optional().describe("Where your own runbooks are; default: those of the package"),
    every: duration.optional().describe("How often to look for causes; default 15s"),
    gate_after: duration.optional().describe("How long a gate may wait without a call; default 30m"),
    remind: z
      .strictObject({ P1: duration.optional(), P2: duration.optional() })
      .optional()
      .describe("When people are told again; default 30m and 4h"),
    escalate: duration.optional().describe("When a P2 becomes a P1; default 8h"),
    verify_runs: z
      .number()
      .int()
      .positive()
      .optional()
      .describe("Newest runs verified every hour; default 200"),
  })
  .describe("Who hears about failed, stalled and waiting runs, and how");

export type AlertsBlock = z.infer<typeof alertsBlock>;
