export { type TemporalCodecOptions, temporalCodec } from "../codec.ts";
export { connectInterpreter, InterpretedRuns, type InterpreterOptions } from "./client.ts";
export type { InterpreterSettings } from "./contract.ts";
export { type ReplayInterpretedOptions, type ReplayReport, replayInterpreted } from "./replays.ts";
export {
  bundleInterpreter,
  type InterpreterPlace,
  type InterpreterWorker,
  type InterpreterWorkerOptions,
  interpreterWorker,
} from "./worker.ts";
