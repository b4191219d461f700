export { type ConformanceOptions, type ConformanceRunner, storeConformance } from "./conformance/index.ts";
export { crashTest } from "./crash-test/crash-test.ts";
export { witness } from "./crash-test/effect.ts";
export { promises } from "./crash-test/findings.ts";
export type { CrashTestOptions } from "./crash-test/options.ts";
export { type CrashFault, faults } from "./crash-test/places.ts";
export {
  type CaseReport,
  type CrashTestProblem,
  type CrashTestReport,
  reportDigest,
  reportToJson,
} from "./crash-test/report.ts";
export { reportToJunit, reportToMarkdown } from "./crash-test/report-files.ts";
export { reportToText } from "./crash-test/report-text.ts";
export { createFakeClock, type FakeClock, type FakeClockOptions } from "./fake-clock.ts";
export { createFaultyStore, type FaultPlan, type FaultyStore, type StoreFault } from "./faulty-store.ts";
export {
  type OpenAiAnswer,
  type OpenAiRequest,
  type OpenAiServer,
  startOpenAiServer,
} from "./openai-server.ts";
export { recordedProvider } from "./recorded-provider.ts";
export { checkReplay } from "./replay-check.ts";
export {
  createWitnessClient,
  startWitness,
  type Witness,
  type WitnessClient,
  type WitnessedCall,
} from "./witness/witness.ts";
