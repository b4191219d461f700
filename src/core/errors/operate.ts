import { entries, UNCHANGED } from "./entry.ts";

/** 612x: alerts, notifications, prices and budgets. */
export const operateErrors = entries({
  "HF-6120": {
    what: "There is no open alert {alert}.",
    why: "It has cleared itself in the meantime, or never existed.",
    safe: UNCHANGED,
    fix: "List the open ones: holdfast alerts",
  },
  "HF-6121": {
    what: "There is no channel to send a test message to.",
    why: "Neither the configuration nor the engine's options name a webhook or a function to notify.",
    safe: "Nothing was sent.",
    fix: "Add alerts.webhooks or alerts.notify to the configuration. docs/alerts.md shows how.",
  },
  "HF-6122": {
    what: "The notification was not sent to {host}: {problem}.",
    why: "Webhooks may only reach public addresses over HTTPS, so that nobody can use them to reach machines inside your network.",
    safe: "No connection was made to that address.",
    fix: "If the receiver is yours and internal, name its host in allow_hosts of the webhook.",
  },
  "HF-6123": {
    what: "{host} did not take the notification: {problem}.",
    why: "It answered with a status other than 2xx, or not at all. Redirects are not followed.",
    safe: "The notification is kept and sent again with growing pauses, under the same id.",
    fix: "Check the receiver, then try it: holdfast alerts test",
  },
  "HF-6124": {
    what: "The webhook {name} can't be used: {problem}.",
    why: "Its settings are not complete.",
    safe: UNCHANGED,
    fix: "Correct it in the configuration. docs/alerts.md describes each setting.",
  },
  "HF-6125": {
    what: "The signature of the webhook is not right: {problem}.",
    why: "It was not made with this secret over this body, or it is too old.",
    safe: "Do not act on this request: it may be forged or replayed.",
    fix: "Compare the secrets of both sides, and pass the body exactly as it was received.",
  },
});
