import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Handlers } from "../call.ts";
import type { flowOperations } from "../contract/flow.ts";
import { pageOf } from "./page.ts";
import { itemOf } from "./run-item.ts";
import { who } from "./who.ts";

/** Schedules and rate limits. What they may be is checked by the engine. */
export const flowRoutes: Handlers<keyof typeof flowOperations> = {
  async listSchedules({ engine, query }) {
    const { page: schedules, next } = pageOf(await engine.schedules.list(), ({ name }) => name, query);
    return { schedules, next };
  },

  async getSchedule({ engine, params: { name } }) {
    const schedule = await engine.schedules.get(name);
    if (!schedule) throw new HoldfastError("HF-6015", { what: "schedule", name });
    return { schedule, next: [...(await engine.schedules.next(name, { count: 5 }))] };
  },

  async createSchedule(call) {
    const { name, workflow, options } = call.body;
    return call.engine.schedules.create(name, { ...options, workflow }, who(call));
  },

  async updateSchedule(call) {
    const { changes, version } = call.body;
    return call.engine.schedules.update(call.params.name, changes, { ...who(call), version });
  },

  async deleteSchedule(call) {
    const { name } = call.params;
    await call.engine.schedules.delete(name, { ...who(call), version: call.query.version });
    return { deleted: name };
  },

  pauseSchedule: async (call) =>
    call.engine.schedules.pause(call.params.name, { ...who(call), version: call.body.version }),

  resumeSchedule: async (call) =>
    call.engine.schedules.resume(call.params.name, { ...who(call), version: call.body.version }),

  async triggerSchedule(call) {
    const { id = call.act.id, input } = call.body;
    const given = { ...who(call), ...defined({ id, input }) };
    return itemOf(await call.engine.schedules.trigger(call.params.name, given), await call.now());
  },

  async backfillSchedule(call) {
    const { from, to, dryRun } = call.body;
    return call.engine.schedules.backfill(call.params.name, { from, to }, { ...who(call), dryRun });
  },

  async listRateLimits({ engine, query }) {
    const { page: limits, next } = pageOf(await engine.rateLimits.list(), ({ name }) => name, query);
    return { limits, next };
  },

  async setRateLimit(call) {
    return call.engine.rateLimits.set(call.params.name, call.body.limit, who(call));
  },

  async deleteRateLimit(call) {
    const { name } = call.params;
    await call.engine.rateLimits.delete(name, who(call));
    return { deleted: name };
  },

  holdRateLimit: async (call) => call.engine.rateLimits.hold(call.params.name, call.body.ms, who(call)),
};
