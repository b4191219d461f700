import type { Operation } from "./operation.ts";

/**
 * Every operation of the API by its id: its method and its path. Parameters of the path are in braces. The rest of what
 * an operation takes is in its query if it is a GET or a DELETE, and in its body otherwise. The client needs no more
 * than this list, so it imports nothing else of the server.
 */
export const PATHS = {
  listRuns: "GET /v1/runs",
  startRun: "POST /v1/runs",
  getRun: "GET /v1/runs/{run}",
  deleteRun: "DELETE /v1/runs/{run}",
  getOutline: "GET /v1/runs/{run}/outline",
  listEvents: "GET /v1/runs/{run}/events",
  getCost: "GET /v1/runs/{run}/cost",
  getTrail: "GET /v1/runs/{run}/trail",
  pauseRun: "POST /v1/runs/{run}/pause",
  resumeRun: "POST /v1/runs/{run}/resume",
  planResume: "POST /v1/runs/{run}/plan",
  cancelRun: "POST /v1/runs/{run}/cancel",
  retryStep: "POST /v1/runs/{run}/retry",
  injectContext: "POST /v1/runs/{run}/inject",
  sendSignal: "POST /v1/runs/{run}/signal",
  getGate: "GET /v1/runs/{run}/gate",
  answerGate: "POST /v1/runs/{run}/answer",
  resolveStep: "POST /v1/runs/{run}/resolve",
  forkRun: "POST /v1/runs/{run}/fork",
  planFork: "POST /v1/runs/{run}/fork/plan",
  pinRun: "POST /v1/runs/{run}/pin",
  unpinRun: "POST /v1/runs/{run}/unpin",
  exportRun: "GET /v1/runs/{run}/export",
  reviewImport: "GET /v1/runs/{run}/import",
  acceptImport: "POST /v1/runs/{run}/accept",
  migrateRun: "POST /v1/runs/{run}/migrate",
  auditRestart: "GET /v1/runs/{run}/restart",
  restartRun: "POST /v1/runs/{run}/restart",
  validateRun: "GET /v1/runs/{run}/validate",
  listCheckpoints: "GET /v1/runs/{run}/checkpoints",
  getCheckpoint: "GET /v1/runs/{run}/checkpoints/{at}",
  readState: "POST /v1/runs/{run}/checkpoints/{at}/state",
  pinCheckpoint: "POST /v1/runs/{run}/checkpoints/{at}/pin",
  unpinCheckpoint: "POST /v1/runs/{run}/checkpoints/{at}/unpin",
  labelCheckpoint: "POST /v1/runs/{run}/checkpoints/{at}/label",
  replayCheckpoint: "POST /v1/runs/{run}/checkpoints/{at}/replay",
  diff: "GET /v1/diff",
  readDiff: "POST /v1/diff",
  importRuns: "POST /v1/import",
  actOnRuns: "POST /v1/bulk",
  listGates: "GET /v1/gates",
  listErrors: "GET /v1/errors",
  explainError: "GET /v1/explain/{code}",
  listWorkflows: "GET /v1/workflows",
  listCosts: "GET /v1/costs",
  reportRecoveries: "GET /v1/reports/recoveries",
  reportEffects: "GET /v1/reports/effects",
  reportCapacity: "GET /v1/reports/capacity",
  verifyStore: "POST /v1/verify",
  checkMigrations: "GET /v1/migrations",
  previewRetention: "POST /v1/retention/preview",
  pruneValues: "POST /v1/retention/prune",
  listViews: "GET /v1/views",
  putView: "PUT /v1/views/{name}",
  deleteView: "DELETE /v1/views/{name}",
  streamEvents: "GET /v1/events",
  getHealth: "GET /v1/health",
  getStore: "GET /v1/store",
  getOpenApi: "GET /v1/openapi.json",
  getDocs: "GET /v1/docs",
} as const satisfies Readonly<Record<string, `${Operation["method"]} /v1/${string}`>>;

export type OperationId = keyof typeof PATHS;

/** The names in the braces of a path. */
export type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsOf<Rest>
  : never;
