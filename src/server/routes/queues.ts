import { HoldfastError } from "../../core/errors.ts";
import type { Handlers } from "../call.ts";
import type { queueOperations } from "../contract/queues.ts";
import { who } from "./who.ts";

/** Queues, whose limits the engine holds, and the workers that take runs from them. */
export const queueRoutes: Handlers<keyof typeof queueOperations> = {
  async listWorkers({ engine }) {
    return { workers: await engine.workers.list() };
  },

  async listQueues({ engine }) {
    return { queues: await engine.queues.list() };
  },

  async getQueue({ engine, params: { name } }) {
    const queue = await engine.queues.get(name);
    if (!queue) throw new HoldfastError("HF-6015", { what: "queue", name });
    return queue;
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
