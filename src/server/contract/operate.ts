import { z } from "zod";
import { ALERT_KINDS } from "../../core/manage/alerts/kinds.ts";
import { SLO_NAMES } from "../../core/manage/slo/targets.ts";
import { declare } from "./declare.ts";
import { count, reason, time, workflowName } from "./shapes.ts";

const severity = z.enum(["P1", "P2"]);
const figure = z.number().nullable();
const setBy = z.object({ by: z.string().nullable(), at: time }).nullable();
const target = { goal: figure, alarm: figure, severity, set: setBy };
const why = { reason };

const objective = z.object({
  name: z.enum(SLO_NAMES),
  unit: z.enum(["ms", "share", "count", "usd"]),
  better: z.enum(["less", "more"]),
  windowMs: z.number(),
  value: figure,
  measured: count,
  ...target,
  state: z.enum(["met", "missed", "alarm", "unknown", "watched"]),
  budgetLeft: figure,
});

const budget = {
  usd: z.number().positive(),
  label: z
    .string()
    .min(3)
    .max(300)
    .exactOptional()
    .meta({ description: "Only runs with this label: team=payments" }),
  workflow: workflowName.exactOptional(),
};

const perMillion = {
  input: z.number().min(0).meta({ description: "US dollars per million tokens that are sent" }),
  output: z.number().min(0).meta({ description: "US dollars per million tokens that come back" }),
};

const price = z.object({
  model: z.string(),
  ...perMillion,
  from: time,
  source: z.string(),
  set: setBy,
  isCurrent: z.boolean(),
});

const alert = z.object({
  key: z.string(),
  kind: z.enum(ALERT_KINDS),
  severity,
  summary: z.string(),
  since: time,
  run: z.string().nullable(),
  workflow: z.string().nullable(),
  state: z.enum(["open", "cleared"]),
  openedAt: time,
  clearedAt: time.nullable(),
  toldAt: time,
  escalatedAt: time.nullable(),
  acked: z.object({ by: z.string().nullable(), at: time, reason: z.string().nullable() }).nullable(),
  pending: z.array(z.object({ news: z.string(), tries: count, error: z.string().nullable() })),
  undelivered: count,
  links: z.object({ page: z.string().nullable(), runbook: z.string() }),
});

/** What operators are called by, and what they set. */
export const operateOperations = {
  getMetrics: declare("getMetrics", {
    summary: "Figures of this server and its store in Prometheus' text format. No run is named in them.",
    permission: "metrics:read",
    verb: { library: "metrics.prometheus", cli: "none: a monitoring system asks" },
    answer: z.string(),
    media: { answer: "text/plain" },
  }),
  listAlerts: declare("listAlerts", {
    summary: "Open alerts, the most urgent first; with `all`, those cleared within a week, too.",
    permission: "runs:read",
    verb: { library: "engine.alerts.list", cli: "alerts list" },
    query: z.strictObject({ all: z.boolean().default(false) }),
    answer: z.object({ alerts: z.array(alert), open: z.object({ P1: count, P2: count }) }),
  }),
  ackAlert: declare("ackAlert", {
    summary: "Says that the caller looks after an alert: no reminders and no escalation until it is cleared.",
    permission: "runs:act",
    verb: { library: "engine.alerts.ack", cli: "alerts ack" },
    body: z.strictObject(why),
    answer: alert,
  }),
  testAlerts: declare("testAlerts", {
    summary: "Sends a test message to every channel of the server, and says what came of it.",
    permission: "admin",
    verb: { library: "engine.alerts.test", cli: "alerts test" },
    body: z.strictObject(why),
    answer: z.object({
      results: z.array(z.object({ channel: z.string(), ok: z.boolean(), error: z.string().nullable() })),
    }),
  }),
  listBudgets: declare("listBudgets", {
    summary: "Budgets of this month by label or workflow, and what is spent of them.",
    permission: "runs:read",
    verb: { library: "engine.alerts.budgets.list", cli: "budgets list" },
    answer: z.object({
      budgets: z.array(
        z.object({
          name: z.string(),
          ...budget,
          by: z.string().nullable(),
          at: time,
          month: z.string(),
          spentUsd: figure,
          unpriced: z.number(),
          share: figure,
          state: z.enum(["within", "warning", "reached"]),
        }),
      ),
    }),
  }),
  setBudget: declare("setBudget", {
    summary: "Sets a budget of each month. It holds nothing back: people are told at 80 % and at 100 %.",
    permission: "admin",
    verb: { library: "engine.alerts.budgets.set", cli: "budgets set" },
    body: z.strictObject({ ...why, ...budget }),
    answer: z.object(budget),
  }),
  deleteBudget: declare("deleteBudget", {
    summary: "Deletes a budget.",
    permission: "admin",
    verb: { library: "engine.alerts.budgets.delete", cli: "budgets delete" },
    query: z.strictObject(why),
    answer: z.object({ deleted: z.string() }),
  }),
  listPrices: declare("listPrices", {
    summary: "What models cost: prices set in the store with their dates and sources, and the built-in list.",
    permission: "runs:read",
    verb: { library: "engine.prices.list", cli: "prices list" },
    answer: z.object({ prices: z.array(price) }),
  }),
  setPrice: declare("setPrice", {
    summary: "Sets what a model costs from a date on. What is recorded keeps its cost.",
    permission: "admin",
    verb: { library: "engine.prices.set", cli: "prices set" },
    body: z.strictObject({
      ...why,
      ...perMillion,
      source: z.string().min(1).max(500).meta({ description: "Where the price was read" }),
      from: time.exactOptional().meta({ description: "From when it holds. Default: now" }),
    }),
    answer: z.object({ prices: z.array(price) }),
  }),
  deletePrice: declare("deletePrice", {
    summary: "Deletes what was set for a model; its list price holds again, if it has one.",
    permission: "admin",
    verb: { library: "engine.prices.delete", cli: "prices delete" },
    query: z.strictObject(why),
    answer: z.object({ deleted: z.string() }),
  }),
  getSlo: declare("getSlo", {
    summary: "Service levels, measured over all processes of the store, beside their targets.",
    permission: "runs:read",
    verb: { library: "engine.slo.report", cli: "slo" },
    answer: z.object({
      at: time,
      objectives: z.array(objective),
      ok: z.boolean(),
      runs: z.object({
        completed: count,
        failed: count,
        completedAfterRecovery: count,
        looked: count,
        more: z.boolean(),
        recoveries: count,
        unrecovered: count,
        costAfterRecovery: figure,
      }),
      writeFailures: z.object({ count, runs: z.record(z.string(), count) }),
      probes: z.object({ count, failed: count, failedAt: time.nullable(), awayMs: z.number() }),
    }),
  }),
  setSloTarget: declare("setSloTarget", {
    summary: "Changes the target of a service level. Parts that aren't given stay as they are.",
    permission: "admin",
    verb: { library: "engine.slo.setTarget", cli: "slo" },
    body: z.strictObject({
      ...why,
      goal: figure.exactOptional(),
      alarm: figure.exactOptional(),
      severity: severity.exactOptional(),
      reset: z.literal(true).exactOptional().meta({ description: "Back to the built-in target" }),
    }),
    answer: z.object(target),
  }),
};
