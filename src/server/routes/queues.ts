import { HoldfastError } from "../../core/errors.ts";
import type { Handlers } from "../call.ts";
import type { queueOperations } from "../contract/queues.ts";
import { pageOf } from "./page.ts";
import { who } from "./who.ts";

/** Queues, whose limits the engine holds, and the workers that take runs from them. */
export const queueRoutes: Handlers<keyof typeof queueOperations> = {
  async listWorkers({ engine, query }) {
    const { page: workers, next } = pageOf(await engine.workers.list(), ({ owner }) => owner, query);
    return { workers, next };
  },

  async listQueues({ engine, query }) {
    const { page, next } = pageOf(await engine.queues.list(), ({ name }) => name, query);
    const queues = [];
    for (const queue of page) queues.push({ ...queue, ...(await engine.reports.queue(queue.name)) });
    return { queues, next };
  },

  async getQueue({ engine, params: { name } }) {
    const queue = await engine.queues.get(name);
    if (!queue) throw new HoldfastError("HF-6015", { what: "queue", name });
    const { reports } = engine;
    return { ...queue, ...(await reports.queue(name)), ...(await reports.queueKeys(name)) };
  },

  async setQueue(call) {
    const { reason: _, ...limits } = call.body;
    return call.engine.queues.set(call.params.name, limits, who(call));
  },

  async deleteQueue(call) {
    await call.engine.queues.delete(call.params.name, who(call));
    return { deleted: call.params.name };
  },

  pauseQueue: async (call) => call.engine.queues.pause(call.params.name, who(call)),
  resumeQueue: async (call) => call.engine.queues.resume(call.params.name, who(call)),
};
