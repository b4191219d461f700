export type { AlertOptions } from "../core/manage/alerts/alerts.ts";
export type { AlertNotification, NotifyChannel } from "../core/manage/alerts/channel.ts";
export { logChannel, slackBody, type WebhookOptions, webhook } from "./channels.ts";
export type { GuardOptions } from "./request.ts";
export { type ReceivedWebhook, type VerifyWebhookOptions, verifyWebhook } from "./signature.ts";
