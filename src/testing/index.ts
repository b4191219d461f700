export {
  type ConformanceOptions,
  type ConformanceRunner,
  type MovableClock,
  storeConformance,
} from "./conformance/index.ts";
export type { StoreAddress } from "./crash/address.ts";
export type { ActCounts } from "./crash/aftermath.ts";
export type {
  ChildConfig,
  ChildReport,
  PlannedAct,
  PlannedControl,
  RunOutcome,
  RunPlan,
  Strike,
} from "./crash/config.ts";
export { type ContentionOptions, type ContentionReport, contention } from "./crash/contention.ts";
export {
  copiedPgliteKind,
  fileKind,
  pgliteKind,
  postgresKind,
  redisKind,
  type StoreKind,
  type StorePlace,
  sqliteKind,
} from "./crash/kinds.ts";
export { crashMatrix, type MatrixOptions, type MatrixReport } from "./crash/matrix.ts";
export type { ScenarioVersion } from "./crash/names.ts";
export { type OutageOptions, type OutageReport, outages } from "./crash/outages.ts";
export type { ChildEnd, SpawnOptions, WorkerProcess } from "./crash/processes.ts";
export { type ScenarioName, scenarioNames } from "./crash/scenarios.ts";
export { Lab, type LabOptions, type Problem, Site, type WorkPlan } from "./crash/site.ts";
export { type SoakOptions, type SoakProgress, type SoakReport, soak } from "./crash/soak.ts";
export type { CallMatch, CallOutcome, LoggedCall } from "./crash/wire.ts";
export { type Freeze, type ZombieOptions, type ZombieReport, zombieRounds } from "./crash/zombies.ts";
export type { Loader } from "./crash-test/config.ts";
export { type CrashTestOptions, type CrashTestProgress, crashTest } from "./crash-test/crash-test.ts";
export { witness } from "./crash-test/effect.ts";
export { type PromiseName, promises } from "./crash-test/findings.ts";
export type { Loaded } from "./crash-test/load-module.ts";
export { type CrashFault, faults } from "./crash-test/places.ts";
export {
  type CaseReport,
  type CrashTestProblem,
  type CrashTestReport,
  type EffectCount,
  reportDigest,
  reportToJson,
} from "./crash-test/report.ts";
export { reportToJunit, reportToMarkdown } from "./crash-test/report-files.ts";
export { type ReportPaint, reportToText } from "./crash-test/report-text.ts";
export { createFakeClock, type FakeClock, type FakeClockOptions } from "./fake-clock.ts";
export {
  createFaultyStore,
  type FaultPlan,
  type FaultyStore,
  type PlannedFault,
  type StoreFault,
  type StoreMethod,
} from "./faulty-store.ts";
export { checkInvariants, type Evidence } from "./invariants.ts";
export {
  type OpenAiAnswer,
  type OpenAiBody,
  type OpenAiRequest,
  type OpenAiServer,
  startOpenAiServer,
} from "./openai-server.ts";
export {
  type SimulationFinding,
  type SimulationOptions,
  type SimulationReport,
  simulate,
  simulateMany,
} from "./simulator.ts";
export {
  createWitnessClient,
  startWitness,
  type Witness,
  type WitnessClient,
  type WitnessClientOptions,
  type WitnessedCall,
  type WitnessLog,
} from "./witness.ts";
export type { AckedWrite, Violation, WitnessCall } from "./witness-log.ts";
