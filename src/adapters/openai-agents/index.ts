export type { DurableToolOptions } from "../durable-tool-options.ts";
export type { ModelCallSettings } from "../model-call-settings.ts";
export { callOf } from "./durable-tools.ts";
export { type AnyAgent, type DurableRunOptions, type RunOptions, run } from "./run.ts";
export { HoldfastSession } from "./session.ts";
