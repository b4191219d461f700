import { tmpdir } from "node:os";
import { aiSdkProvider, modelProviders } from "../../../src/adapters/ai-sdk/index.ts";
import { mcpTools } from "../../../src/adapters/mcp/index.ts";
import { checkSchema, problemsOf, runAgent, scriptedProvider, toolError } from "../../../src/agent/index.ts";
import {
  CheckpointManager,
  ControlledExecutor,
  dagWorkflow,
  diffDags,
  emptyState,
  layersOf,
  reduceState,
  remainingLayers,
  validateDag,
} from "../../../src/dag/index.ts";
import {
  type Context,
  createEngine,
  type Engine,
  explainError,
  isQuarantined,
  secret,
  workflow,
} from "../../../src/index.ts";
import {
  archiveInto,
  checkCheckpointJson,
  checkpointToFlow,
  checkpointToJson,
  describeRun,
  diffToText,
  parseAddress,
  stallOf,
} from "../../../src/manage.ts";
import {
  auditKey,
  contentChecks,
  envAuditKey,
  envKeyring,
  envSecrets,
  fileAuditKey,
  fileKeyring,
  injectionCheck,
  kmsKeyring,
  newAuditKey,
  packStore,
  schemaCheck,
  sealStore,
  secretCheck,
  signText,
  sizeCheck,
  verifyText,
} from "../../../src/security/index.ts";
import { openDynamoStore } from "../../../src/stores/dynamodb/index.ts";
import { openFileStore } from "../../../src/stores/file/index.ts";
import { createMemoryStore } from "../../../src/stores/memory.ts";
import { openStore } from "../../../src/stores/open.ts";
import { openPgliteStore } from "../../../src/stores/pglite/index.ts";
import { openPostgresStore } from "../../../src/stores/postgres/index.ts";
import { openRedisCache, openRedisStore } from "../../../src/stores/redis/index.ts";
import { openSqliteStore } from "../../../src/stores/sqlite/index.ts";
import { createTieredStore } from "../../../src/stores/tiered/index.ts";
import {
  AgentCheckpointer,
  agentWorkflow,
  Coordinator,
  defineAgent,
  defineTeam,
  resumeFromPhase,
} from "../../../src/team/index.ts";
import {
  crashTest,
  createFakeClock,
  createFaultyStore,
  createWitnessClient,
  reportDigest,
  reportToJson,
  reportToJunit,
  reportToMarkdown,
  reportToText,
  startWitness,
} from "../../../src/testing/index.ts";
import {
  checkWorkflow,
  executesOf,
  loadWorkflow,
  problemText,
  restoreWorkflow,
  scriptRunner,
} from "../../../src/yaml/index.ts";

type Call = (...given: readonly never[]) => unknown;

/** A function of the public API, with arguments that are right. The fuzz spoils one of them at a time. */
export interface Target {
  readonly name: string;
  readonly call: Call;
  readonly right: readonly unknown[];
  /** Arguments that may be anything: values of the user's own. */
  readonly any?: readonly number[];
  /** A call that is right by chance would do something, such as make a file: only wrong ones are made. */
  readonly isActing?: boolean;
  /** Arguments that are made by the library, such as stores: they are spoilt as a whole. */
  readonly whole?: readonly number[];
}

const OURS = ["body", "append", "find", "subtasks", "tasks", "pins", "kind"];

/** These take what the library itself has made. */
const DATA = ["executesOf", "problemText", "reduceState", "restoreWorkflow"];

const isOurs = (value: unknown): boolean =>
  typeof value === "object" && value !== null && OURS.some((key) => key in value);

const target = (
  name: string,
  call: unknown,
  right: readonly unknown[],
  any: readonly number[] = [],
): Target => ({
  name,
  call: call as Call,
  right,
  any,
  isActing: ["openFileStore", "openSqliteStore", "startWitness", "openPgliteStore", "crashTest"].includes(
    name,
  ),
  whole: [...right.keys()].filter((at) => DATA.includes(name) || isOurs(right[at])),
});

const act = { actor: "ada", reason: "why" };
const folder = `${tmpdir()}/holdfast-fuzz-never`;

const flow = workflow("flow", (ctx) => ctx.gate("approve", { choices: ["yes"] }));

/** An engine with a run "r" that waits at a gate. */
export async function fuzzedEngine(): Promise<Engine> {
  const engine = createEngine({ store: createMemoryStore(), workflows: [flow], execute: false });
  await engine.start(flow, undefined, { id: "r" });
  return engine;
}

const on =
  (holder: object, name: string) =>
  (...given: readonly unknown[]) =>
    (holder as Record<string, (...all: readonly unknown[]) => unknown>)[name]?.(...given);

export function rootTargets(engine: Engine): readonly Target[] {
  const verb = (name: string, right: readonly unknown[], any?: readonly number[]): Target =>
    target(`engine.${name}`, on(engine, name), right, any);
  const run = engine.run(flow, "r");
  const own = (name: string, right: readonly unknown[], any?: readonly number[]): Target =>
    target(`run.${name}`, on(run, name), right, any);
  return [
    target("createEngine", createEngine, [
      { store: createMemoryStore(), execute: false, claimMs: 9, logger: console },
    ]),
    target("workflow", workflow, ["w", { version: "1", budget: {}, signals: {} }, () => 1]),
    target("secret", secret, ["name"]),
    target("explainError", explainError, ["HF-1001"], [0]),
    target("isQuarantined", isQuarantined, [1], [0]),
    verb("register", [flow]),
    verb("start", [flow, undefined, { id: "q", budget: { tokens: 5 }, config: {} }], [1]),
    verb("run", [flow, "r"]),
    verb("get", ["r"]),
    verb("status", ["r"]),
    verb("list", [{ limit: 5 }]),
    verb("pause", ["r", act]),
    verb("resume", ["r", { ...act, budget: { tokens: 9 } }]),
    verb("delete", ["gone", act]),
    verb("pauseAll", [{ workflow: "none" }, act]),
    verb("resumeAll", [{ workflow: "none" }, act]),
    verb("cancelAll", [{ workflow: "none" }, act]),
    verb("inject", ["r", "text", { ...act, to: "agent" }], [1]),
    verb("injectAll", [{ workflow: "none" }, "text", act], [1]),
    verb("fork", ["r@1", { ...act, effects: "reuse" }]),
    verb("previewFork", ["r@1", { effects: "reuse" }]),
    verb("replay", ["r", {}]),
    verb("plan", ["r", {}]),
    verb("signal", ["r", "hello", 1, act], [2]),
    verb("gates", ["r"]),
    verb("answer", ["r", "approve", { ...act, choice: "no" }]),
    verb("resolve", ["r", "step", { ...act, action: "done", value: 1 }]),
    verb("on", ["run_created", () => 1]),
    verb("events", [{ buffer: 5 }]),
    own("pause", [act]),
    own("resume", [act]),
    own("signal", ["hello", 1, act], [1]),
    own("answer", ["approve", { choice: "no" }]),
    own("resolve", ["step", { action: "failed" }]),
  ];
}

export function managedTargets(engine: Engine): readonly Target[] {
  const { checkpoints, retention, migrations, reports, transfer, restarts, audit } = engine;
  const of = (name: string, holder: object, verb: string, right: readonly unknown[]): Target =>
    target(`engine.${name}.${verb}`, on(holder, verb), right);
  return [
    of("checkpoints", checkpoints, "list", ["r", { all: true }]),
    ...["find", "show", "tasks", "state", "digest", "validate"].map((verb) =>
      of("checkpoints", checkpoints, verb, ["r@1"]),
    ),
    of("checkpoints", checkpoints, "diff", ["r@1", "r@1"]),
    ...["pin", "unpin", "unlabel"].map((verb) => of("checkpoints", checkpoints, verb, ["r@1", act])),
    of("checkpoints", checkpoints, "label", ["r@1", "name", act]),
    of("checkpoints", checkpoints, "mark", ["r", "name", act]),
    of("retention", retention, "preview", [{ preset: "seed0" }, { workflow: "flow", limit: 5 }]),
    of("retention", retention, "prune", [{ preset: "seed0" }, { workflow: "none", limit: 5, ...act }]),
    of("retention", retention, "pin", ["r", act]),
    of("retention", retention, "unpin", ["r", act]),
    of("migrations", migrations, "check", [{ workflow: "flow" }]),
    of("migrations", migrations, "apply", [{ workflow: "none" }, act]),
    of("migrations", migrations, "asIs", ["r", act]),
    of("audit", audit, "record", [{ act: "thing_done", ...act }]),
    of("audit", audit, "list", [{ actor: "Ada", limit: 5 }]),
    of("audit", audit, "verify", [{ journals: "none" }]),
    of("audit", audit, "prove", ["r"]),
    of("reports", reports, "trail", ["r"]),
    ...["recoveries", "effects", "capacity"].map((verb) =>
      of("reports", reports, verb, [{ workflow: "flow" }]),
    ),
    of("reports", reports, "verify", [{}]),
    of("transfer", transfer, "importRuns", [lines(), {}]),
    of("transfer", transfer, "review", ["r"]),
    of("transfer", transfer, "isHeld", ["r"]),
    of("transfer", transfer, "accept", ["r", act]),
    of("restarts", restarts, "audit", ["r"]),
    of("restarts", restarts, "start", ["r", act]),
    target("parseAddress", parseAddress, ["r@1"]),
    target("checkCheckpointJson", checkCheckpointJson, [{}], [0]),
    target("checkpointToJson", checkpointToJson, [{}]),
    target("checkpointToFlow", checkpointToFlow, [{}]),
    target("diffToText", diffToText, [{}]),
    target("describeRun", describeRun, [{}, {}]),
    target("stallOf", stallOf, [{}, 0]),
    target("archiveInto", archiveInto, [createMemoryStore()]),
  ];
}

async function* lines(): AsyncGenerator<string> {}

export const storeTargets = (): readonly Target[] => [
  target("openStore", openStore, ["memory:", {}]),
  target("createMemoryStore", createMemoryStore, [{ clock: Date }]),
  target("openSqliteStore", openSqliteStore, [
    { file: "", busyMs: 5, driver: "auto", clock: Date, allowNetworkFs: false },
  ]),
  target("openFileStore", openFileStore, [{ folder: "", logger: console }]),
  target("openPostgresStore", openPostgresStore, [{ connectionString: "postgres://127.0.0.1:1/none" }]),
  target("openPgliteStore", openPgliteStore, [{ folder: "" }]),
  target("openRedisStore", openRedisStore, [{ url: "redis://127.0.0.1:1" }]),
  target("openRedisCache", openRedisCache, [{ url: "redis://127.0.0.1:1" }]),
  target("openDynamoStore", openDynamoStore, [{ region: "" }]),
  target("createTieredStore", createTieredStore, [{ primary: createMemoryStore(), cache: {} }]),
];

export const securityTargets = (): readonly Target[] => [
  target("contentChecks", contentChecks, [secretCheck(), sizeCheck({ maxChars: 5 })]),
  target("injectionCheck", injectionCheck, [{ action: "park" }]),
  target("secretCheck", secretCheck, [{ action: "park" }]),
  target("sizeCheck", sizeCheck, [{ maxChars: 5, action: "park" }]),
  target("schemaCheck", schemaCheck, [{}, { action: "park" }]),
  target("envKeyring", envKeyring, ["NO_SUCH_KEYS"]),
  target("auditKey", auditKey, [newAuditKey("k").privateKey]),
  target("envAuditKey", envAuditKey, ["NO_SUCH_KEY"]),
  target("fileAuditKey", fileAuditKey, [`${folder}/key`]),
  target("newAuditKey", newAuditKey, ["example.com/k"]),
  target("signText", signText, ["a\n", auditKey(newAuditKey("k").privateKey)], [1]),
  target("verifyText", verifyText, ["a\n\n\u2014 k AAAAAAAA\n", [newAuditKey("k").publicKey]]),
  target("envSecrets", envSecrets, [{ prefix: "X_" }]),
  target("fileKeyring", fileKeyring, [`${folder}/keys`]),
  target("kmsKeyring", kmsKeyring, [{ keyId: "k", client: {} }]),
  target("packStore", packStore, [createMemoryStore(), {}]),
  target("sealStore", sealStore, [createMemoryStore(), { keyring: {} }]),
];

const team = () => defineTeam({ name: "t", agents: [agent()] });
const phases = () => defineTeam({ name: "p", phases: [{ name: "p", specialists: [agent()] }] });
const agent = () =>
  defineAgent({
    type: "a",
    version: "1",
    subtasks: [{ name: "s", deliverable: "d", target: "t", run: () => 1 }],
  } as never);

export const frontTargets = (engine: Engine): readonly Target[] => [
  target("checkSchema", checkSchema, [{ type: "string" }, "it"]),
  target("problemsOf", problemsOf, [{ type: "string" }, 1], [1]),
  target("scriptedProvider", scriptedProvider, [{ agents: { a: [{ text: "x" }] } }, { onCall: () => 1 }]),
  target("toolError", toolError, ["text"]),
  target("defineAgent", defineAgent, [
    { type: "a", version: "1", subtasks: [{ name: "s", deliverable: "d", target: "t", run: () => 1 }] },
  ]),
  target("agentWorkflow", agentWorkflow, [agent(), {}]),
  target("defineTeam(agents)", defineTeam, [{ name: "t", agents: [agent()], concurrency: 2 }]),
  target("defineTeam(phases)", defineTeam, [{ name: "t", phases: [{ name: "p", specialists: [agent()] }] }]),
  target("AgentCheckpointer", (options: never) => new AgentCheckpointer(options), [
    { store: createMemoryStore(), createAgent: () => 1 },
  ]),
  target("Coordinator", (engine: never, team: never) => new Coordinator(engine, team), [engine, team()]),
  target("resumeFromPhase", resumeFromPhase, [engine, phases(), "r", "p", { reason: "why" }]),
  target("dagWorkflow", dagWorkflow, ["d", { tools: {}, version: "1" }]),
  target("ControlledExecutor", (options: never) => new ControlledExecutor(options), [
    { store: createMemoryStore(), tools: {} },
  ]),
  target("CheckpointManager", (on: never, options: never) => new CheckpointManager(on, options), [
    engine,
    { workflowId: "w" },
  ]),
  target("validateDag", validateDag, [{ tasks: [] }]),
  target("layersOf", layersOf, [{ tasks: [] }]),
  target("remainingLayers", remainingLayers, [{ tasks: [] }, []]),
  target("diffDags", diffDags, [{ tasks: [] }, { tasks: [] }]),
  target("reduceState", reduceState, [emptyState(), {}]),
  target("checkWorkflow", checkWorkflow, [{ text: "name: x" }, { root: "/" }]),
  target("loadWorkflow", loadWorkflow, ["none.yaml", { root: "/" }]),
  target("restoreWorkflow", restoreWorkflow, [{ main: "x", files: { x: "" } }, {}]),
  target("executesOf", executesOf, [{ main: "x", files: { x: "" } }]),
  target("problemText", problemText, [{ file: "f", line: 1, column: 1, severity: "error", message: "m" }]),
  target("scriptRunner", scriptRunner, [{ env: {}, inherit: [] }]),
  target("aiSdkProvider", aiSdkProvider, [{}]),
  target("modelProviders", modelProviders, [{}]),
  target("mcpTools", mcpTools, [{}]),
  target("createFakeClock", createFakeClock, [{ start: 0, quietTurns: 4 }]),
  target("createFaultyStore", createFaultyStore, [createMemoryStore(), {}]),
  target("createWitnessClient", createWitnessClient, [1, { log: "", caller: "me" }]),
  target("startWitness", startWitness, [{ file: "" }]),
  target("crashTest", crashTest, [{ file: "none.ts", limit: 0 }]),
  target("reportDigest", reportDigest, ["{}"]),
  ...[reportToJson, reportToJunit, reportToMarkdown, reportToText].map((one) => target(one.name, one, [{}])),
];

/** The verbs of `ctx`, called inside a run. */
export const contextTargets = (ctx: Context): readonly Target[] => {
  const verb = (name: string, right: readonly unknown[], any?: readonly number[]): Target =>
    target(`ctx.${name}`, on(ctx, name), right, any);
  return [
    verb("step", ["s", () => 1, { effect: "repeatable", retry: 1, timeoutMs: 50 }]),
    verb("isRecorded", ["s", 1], [1]),
    verb("recorded", ["s"]),
    verb("each", ["e", [1], () => 1, { concurrency: 1 }]),
    verb("all", ["a", [() => 1], { concurrency: 1 }]),
    verb("loop", [
      "l",
      { n: 0 },
      (_: unknown, turn: { done(): unknown }) => turn.done(),
      { maxIterations: 3 },
    ]),
    verb("gate", ["g", { choices: ["a"], timeoutMs: 0, onTimeout: { choice: "a" } }]),
    verb("sleep", ["z", 0]),
    verb("signal", ["n", { timeoutMs: 0 }]),
    verb("inbox", ["n"]),
    verb("child", ["c", flow, undefined], [2]),
    verb("transaction", ["t", () => 1, {}]),
    verb("secret", [secret("x")]),
    verb("plan", [["a"]]),
    verb("decide", [{ description: "d", confidence: 1 }]),
    verb("agent", ["a", { status: "s" }]),
    verb("usage", [{ tokens: 1, costUsd: 1 }]),
    verb("checkpoint", ["label", "user_requested"]),
    verb("random", ["r"]),
    verb("uuid", ["u"]),
    target("ctx.memory.get", on(ctx.memory, "get"), ["k"]),
    target("ctx.memory.set", on(ctx.memory, "set"), ["k", 1], [1]),
    target("ctx.memory.delete", on(ctx.memory, "delete"), ["k"]),
    target("runAgent", (...given: never[]) => runAgent(ctx, ...(given as unknown as [never, never])), [
      "a",
      { model: scriptedProvider([{ text: "x" }] as never), prompt: "p" },
    ]),
  ];
};
