export {
  createTemporalEngine,
  type TemporalEngineOptions,
  type TemporalTuning,
  temporalAddress,
} from "./engine.ts";
export type { TemporalHost } from "./host.ts";
export type { TemporalAddress } from "./link.ts";
export {
  bundleTemporalSandbox,
  type TemporalWorker,
  type TemporalWorkerOptions,
  temporalHost,
  temporalWorker,
} from "./worker.ts";
