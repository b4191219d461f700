import { HoldfastError } from "../../core/errors.ts";
import { SLO_NAMES } from "../../core/manage/slo/targets.ts";
import { PROMETHEUS_TYPE } from "../../observe/metrics/prometheus.ts";
import type { Handlers } from "../call.ts";
import type { operateOperations } from "../contract/operate.ts";
import { who } from "./who.ts";

export const operateRoutes: Handlers<keyof typeof operateOperations> = {
  async getMetrics({ engine, store, metrics }) {
    const text = await metrics.prometheus({ engine, store });
    return new Response(text, { headers: { "content-type": PROMETHEUS_TYPE, "cache-control": "no-store" } });
  },

  listAlerts: async ({ engine, query }) => engine.alerts.list(query),
  ackAlert: async (call) => call.engine.alerts.ack(call.params.alert, who(call)),
  testAlerts: async ({ engine }) => ({ results: await engine.alerts.test() }),

  listBudgets: async ({ engine }) => ({ budgets: await engine.alerts.budgets.list() }),
  async setBudget(call) {
    const { reason: _, ...budget } = call.body;
    return call.engine.alerts.budgets.set(call.params.name, budget, who(call));
  },
  async deleteBudget({ engine, params: { name } }) {
    await engine.alerts.budgets.delete(name);
    return { deleted: name };
  },

  listPrices: async ({ engine }) => ({ prices: await engine.prices.list() }),
  async setPrice(call) {
    const { reason: _, ...price } = call.body;
    return { prices: await call.engine.prices.set(call.params.model, price, who(call)) };
  },
  async deletePrice(call) {
    const { model } = call.params;
    await call.engine.prices.delete(model, who(call));
    return { deleted: model };
  },

  getSlo: async ({ engine }) => engine.slo.report(),

  async setSloTarget(call) {
    const { reason: _, reset, ...change } = call.body;
    const name = SLO_NAMES.find((one) => one === call.params.slo);
    if (!name) throw new HoldfastError("HF-6015", { what: "service level", name: call.params.slo });
    return call.engine.slo.setTarget(name, reset ? null : change, who(call));
  },
};
