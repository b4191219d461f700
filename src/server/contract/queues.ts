import { z } from "zod";
import { declare } from "./declare.ts";
import { count, next, pageQuery, reason, time } from "./shapes.ts";

const manage = { permission: "flow:manage" } as const;
const why = { reason: reason.exactOptional() };

const limits = {
  concurrency: z
    .number()
    .int()
    .min(1)
    .max(1e6)
    .exactOptional()
    .meta({ description: "Runs that are advanced at once" }),
  perKey: z
    .number()
    .int()
    .min(1)
    .max(1e6)
    .exactOptional()
    .meta({ description: "The same for runs with the same key" }),
  fairBy: z
    .union([z.literal("key"), z.templateLiteral(["labels.", z.string().min(1).max(100)])])
    .exactOptional()
    .meta({ description: "Who gets places in turn: runs of a key, or of a label's value" }),
  rate: z
    .strictObject({
      calls: z.number().int().min(1).max(1e9),
      periodMs: z.number().int().min(1).exactOptional(),
    })
    .exactOptional()
    .meta({ description: "Runs that are taken up within a period" }),
};

const queue = z.object({
  name: z.string(),
  version: z.string(),
  ...limits,
  paused: z
    .object({ at: time, actor: z.string().exactOptional(), reason: z.string().exactOptional() })
    .nullable(),
  isDeclared: z.boolean(),
});

const standing = {
  running: count.meta({ description: "Runs that are being advanced" }),
  waiting: count.meta({ description: "Runs that stand in line" }),
};

const worker = z.object({
  owner: z.string(),
  host: z.string(),
  pid: z.number(),
  workflows: z.array(z.object({ name: z.string(), version: z.string(), schema: z.number() })),
  concurrency: z.number(),
  running: z.number().meta({ description: "Runs that it had at its last beat" }),
  isStopping: z.boolean(),
  isStale: z.boolean().meta({ description: "It has missed beats: stuck, cut off or dead" }),
  since: time,
  beat: time,
});

export const queueOperations = {
  listWorkers: declare("listWorkers", {
    summary: "The processes that advance runs and have been heard of within a minute.",
    permission: "runs:read",
    verb: { library: "engine.workers.list", cli: "workers" },
    query: pageQuery,
    answer: z.object({ workers: z.array(worker), next }),
  }),
  listQueues: declare("listQueues", {
    summary: "All queues that are defined, with their limits and how many runs stand in them.",
    permission: "runs:read",
    verb: { library: "engine.queues.list", cli: "queues list" },
    query: pageQuery,
    answer: z.object({ queues: z.array(queue.extend(standing)), next }),
  }),
  getQueue: declare("getQueue", {
    summary: "One queue, and its runs by their keys. The runs themselves: `GET /v1/runs?queue=…`.",
    permission: "runs:read",
    verb: { library: "engine.queues.get", cli: "queues show" },
    answer: queue.extend({
      ...standing,
      keys: z.array(z.object({ key: z.string().nullable(), ...standing })),
      moreKeys: z.boolean(),
    }),
  }),
  setQueue: declare("setQueue", {
    summary: "Defines a queue, or replaces its limits. Runs that stand in it stay.",
    ...manage,
    verb: { library: "engine.queues.set", cli: "queues set" },
    body: z.strictObject({ ...why, ...limits }),
    answer: queue,
  }),
  deleteQueue: declare("deleteQueue", {
    summary: "Removes the limits of a queue. Runs that stand in it stay.",
    ...manage,
    verb: { library: "engine.queues.delete", cli: "queues delete" },
    query: z.strictObject(why),
    answer: z.object({ deleted: z.string() }),
  }),
  pauseQueue: declare("pauseQueue", {
    summary: "Takes up no more runs of a queue. Runs in progress continue until they end or wait.",
    ...manage,
    verb: { library: "engine.queues.pause", cli: "queues pause" },
    body: z.strictObject(why),
    answer: queue,
  }),
  resumeQueue: declare("resumeQueue", {
    summary: "Takes up runs of a queue again.",
    ...manage,
    verb: { library: "engine.queues.resume", cli: "queues resume" },
    body: z.strictObject(why),
    answer: queue,
  }),
};
