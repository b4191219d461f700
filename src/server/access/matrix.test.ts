import { beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { silentLogger } from "../../core/logger.ts";
import { createEngine, type Engine, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { createApp } from "../app.ts";
import type { Declared } from "../contract/declare.ts";
import { allOperations } from "../contract/operations.ts";
import { allStreamMethods } from "../streams/methods.ts";
import { createIdentify } from "./identify.ts";
import { type Permission, ROLES, type Role, type Scope } from "./permission.ts";
import { Tokens } from "./tokens.ts";
import { Visits } from "./visit.ts";

type Expected = readonly [needs: Permission, about: Declared["about"]];

/**
 * What each operation needs and what a scope makes of it, decided here and not taken from the contract: an operation
 * that isn't listed fails the test, and so does one whose contract says something else.
 */
const EXPECTED: Readonly<Record<string, Expected>> = {
  listRuns: ["runs:read", "list"],
  countRuns: ["runs:read", "list"],
  getProgress: ["runs:read", "list"],
  needsYou: ["runs:read", "list"],
  getRun: ["runs:read", "run"],
  getOutline: ["runs:read", "run"],
  getStep: ["runs:read", "run"],
  readStep: ["state:read", "run"],
  getLineage: ["runs:read", "run"],
  previewState: ["state:read", "run"],
  readConversation: ["state:read", "run"],
  listEvents: ["runs:read", "run"],
  listLogs: ["runs:read", "run"],
  getCost: ["runs:read", "run"],
  listCosts: ["runs:read", "store"],
  listCheckpoints: ["runs:read", "run"],
  getCheckpoint: ["runs:read", "run"],
  readState: ["state:read", "run"],
  diff: ["runs:read", "list"],
  readDiff: ["state:read", "list"],
  validateRun: ["audit:read", "run"],
  pinCheckpoint: ["runs:act", "run"],
  unpinCheckpoint: ["runs:act", "run"],
  labelCheckpoint: ["runs:act", "run"],
  replayCheckpoint: ["state:read", "run"],
  getGate: ["gates:answer", "run"],
  startRun: ["runs:act", "list"],
  pauseRun: ["runs:act", "run"],
  resumeRun: ["runs:act", "run"],
  planResume: ["runs:read", "run"],
  cancelRun: ["runs:act", "run"],
  retryStep: ["runs:act", "run"],
  injectContext: ["runs:act", "run"],
  sendSignal: ["runs:act", "run"],
  answerGate: ["gates:answer", "run"],
  resolveStep: ["runs:act", "run"],
  forkRun: ["runs:act", "run"],
  planFork: ["runs:read", "run"],
  pinRun: ["runs:act", "run"],
  unpinRun: ["runs:act", "run"],
  deleteRun: ["admin", "run"],
  exportRun: ["admin", "run"],
  importRuns: ["admin", "store"],
  acceptImport: ["admin", "run"],
  migrateRun: ["runs:act", "run"],
  restartRun: ["runs:act", "run"],
  actOnRuns: ["runs:act", "list"],
  listGates: ["runs:read", "list"],
  listErrors: ["runs:read", "store"],
  explainError: ["runs:read", "list"],
  listWorkflows: ["runs:read", "list"],
  getTrail: ["audit:read", "run"],
  reportRecoveries: ["audit:read", "store"],
  reportReliability: ["runs:read", "store"],
  reportEffects: ["audit:read", "store"],
  reportCapacity: ["audit:read", "store"],
  verifyStore: ["audit:read", "store"],
  makeEvidence: ["audit:read", "store"],
  listAudit: ["audit:read", "store"],
  getAuditHealth: ["audit:read", "store"],
  verifyAudit: ["audit:read", "store"],
  exportAudit: ["audit:read", "store"],
  anchorAudit: ["admin", "store"],
  checkMigrations: ["runs:read", "store"],
  reviewImport: ["admin", "run"],
  auditRestart: ["runs:read", "run"],
  previewRetention: ["runs:read", "store"],
  pruneValues: ["admin", "store"],
  listViews: ["runs:read", "store"],
  putView: ["runs:act", "store"],
  deleteView: ["runs:act", "store"],
  streamEvents: ["runs:read", "list"],
  listSchedules: ["runs:read", "store"],
  getSchedule: ["runs:read", "store"],
  createSchedule: ["flow:manage", "store"],
  updateSchedule: ["flow:manage", "store"],
  deleteSchedule: ["flow:manage", "store"],
  pauseSchedule: ["flow:manage", "store"],
  resumeSchedule: ["flow:manage", "store"],
  triggerSchedule: ["flow:manage", "store"],
  backfillSchedule: ["flow:manage", "store"],
  listRateLimits: ["runs:read", "store"],
  setRateLimit: ["flow:manage", "store"],
  deleteRateLimit: ["flow:manage", "store"],
  holdRateLimit: ["flow:manage", "store"],
  listWorkers: ["runs:read", "store"],
  listQueues: ["runs:read", "store"],
  getQueue: ["runs:read", "store"],
  setQueue: ["flow:manage", "store"],
  deleteQueue: ["flow:manage", "store"],
  pauseQueue: ["flow:manage", "store"],
  resumeQueue: ["flow:manage", "store"],
  listTokens: ["admin", "store"],
  createToken: ["admin", "store"],
  rotateToken: ["admin", "store"],
  revokeToken: ["admin", "store"],
  previewSchedule: ["runs:read", "store"],
  reportSteps: ["runs:read", "store"],
  listActs: ["audit:read", "store"],
  listAlerts: ["runs:read", "store"],
  ackAlert: ["runs:act", "store"],
  testAlerts: ["admin", "store"],
  listPrices: ["runs:read", "store"],
  setPrice: ["admin", "store"],
  deletePrice: ["admin", "store"],
  listBudgets: ["runs:read", "store"],
  setBudget: ["admin", "store"],
  deleteBudget: ["admin", "store"],
  getSlo: ["runs:read", "store"],
  setSloTarget: ["admin", "store"],
  getMetrics: ["metrics:read", "store"],
  getHealth: ["runs:read", "list"],
  getStore: ["runs:read", "list"],
  getOpenApi: ["runs:read", "list"],
  getDocs: ["runs:read", "list"],
  createStream: ["streams:write", "store"],
  appendStream: ["streams:write", "store"],
  readStream: ["streams:read", "store"],
  headStream: ["streams:read", "store"],
  deleteStream: ["streams:write", "store"],
  readRunStream: ["streams:read", "run"],
  headRunStream: ["streams:read", "run"],
};

const ROLE_NAMES = Object.keys(ROLES) as Role[];
const NO_LIMIT = { perSecond: 1e9, burst: 1e9 };
const SCOPE: Scope = { workflows: ["mine"] };

const mine = workflow("mine", (ctx) => ctx.gate("ask", { choices: ["yes"] }));
const theirs = workflow("theirs", (ctx) => ctx.gate("ask", { choices: ["yes"] }));

/** States of a credential in which nobody is let in. */
const ENDED = ["none", "malformed", "unknown", "expired", "revoked"] as const;

/** The real clock, moved past the end of a token. */
let late = 0;
const clock = { ...systemClock, now: () => systemClock.now() + late };

let engine: Engine;
let fetch: (request: Request) => Promise<Response>;
const bearers = new Map<string, string>();
let runs = 0;

beforeEach(async () => {
  runs = 0;
  late = 0;
  const store = createMemoryStore();
  engine = createEngine({ store, workflows: [mine, theirs], execute: false });
  const deps = { documents: store.documents!, clock, logger: silentLogger };
  const tokens = new Tokens(deps);
  const make = async (
    name: string,
    roles: readonly Role[],
    scope: Scope | null = null,
    expiresAt: number | null = null,
  ) =>
    bearers.set(
      name,
      (await tokens.create({ name, actor: name, roles, scope, expiresAt, createdBy: "root" })).token,
    );
  for (const role of ROLE_NAMES) {
    await make(role, [role]);
    await make(`${role} scoped`, [role], SCOPE);
  }
  await make("expired", ["admin"], null, clock.now() + 3_600_000);
  late = 3_600_000;
  await make("revoked", ["admin"]);
  await tokens.revoke("revoked", "root");
  bearers.set("unknown", `hf_${"a".repeat(16)}_${"b".repeat(43)}`).set("malformed", "hf_x");
  const rest = { visits: new Visits(), clock, logger: silentLogger, isTls: false };
  const identify = createIdentify({ tokens, rate: NO_LIMIT, ...rest });
  fetch = createApp({ engine, store, identify }).fetch;
});

const start = async (flow: typeof mine): Promise<string> => {
  const id = `${flow.name}-${++runs}`;
  await engine.start(flow, undefined, { id });
  return id;
};

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly text: string;
}

const PARAMS: Readonly<Record<string, string>> = { at: "1", name: "view", code: "HF-1001" };

const OF_HEAD: Readonly<Record<number, string>> = { 401: "HF-6050", 403: "HF-6051", 404: "HF-1001" };

/** Operations of the API, and methods of the protocol of streams. */
type Guarded = Pick<Declared, "permission" | "about" | "path"> & {
  readonly id: string;
  readonly method: string;
};
const GUARDED: readonly Guarded[] = [...allOperations, ...allStreamMethods];

async function ask({ method, path }: Guarded, run: string, who: string): Promise<Answer> {
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => (name === "run" ? run : (PARAMS[name] ?? "x")));
  const token = bearers.get(who);
  const headers = {
    "content-type": "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const body = ["GET", "HEAD", "DELETE"].includes(method) ? {} : { body: "{}" };
  const response = await fetch(new Request(`http://localhost${url}`, { method, headers, ...body }));
  const { status } = response;
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
    await response.body?.cancel();
    return { status, code: undefined, text: "" };
  }
  const text = await response.text();
  const isProblem = response.headers.get("content-type") === "application/problem+json";
  // The answer to HEAD has no body.
  if (method === "HEAD") return { status, code: OF_HEAD[status], text };
  return { status, code: isProblem ? (JSON.parse(text) as { code: string }).code : undefined, text };
}

/** Past the door: whatever the operation then says about an empty request. */
const isIn = ({ status, code }: Answer): boolean =>
  status !== 401 && status !== 403 && code !== "HF-6050" && code !== "HF-6051";
const isForbidden = ({ status, code }: Answer): boolean => status === 403 && code === "HF-6051";
const withoutRun = ({ text }: Answer, run: string): string => text.replaceAll(run, "<run>");

describe("the matrix of operations, roles, runs and credentials (A2)", () => {
  it("has an expectation for every operation, and the contract agrees", () => {
    const contract = GUARDED.map(({ id, permission, about }) => [id, permission, about]);
    const expected = GUARDED.map(({ id }) => [id, ...(EXPECTED[id] ?? ["missing here"])]);
    expect(contract).toEqual(expected);
  });

  for (const operation of GUARDED) {
    const [needs, about] = EXPECTED[operation.id] ?? ["admin", "store"];

    it(`lets only the right ones call ${operation.id}`, async () => {
      const wrong: string[] = [];
      const check = (cell: string, isRight: boolean, { status, code }: Answer): void => {
        if (!isRight) wrong.push(`${cell}: ${status} ${code ?? ""}`);
      };
      const refusals = new Set<string>();
      const some = await start(mine);
      for (const [at, state] of ENDED.entries()) {
        const answer = await ask(operation, at % 2 === 0 ? some : "missing", state);
        check(state, answer.status === 401, answer);
        refusals.add(answer.text);
      }
      expect(refusals.size, "one answer, whatever is wrong with the credential").toBe(1);
      for (const role of ROLE_NAMES) {
        const has = ROLES[role].some((one) => one === needs);
        const own = await ask(operation, await start(mine), role);
        check(`${role}`, has ? isIn(own) : isForbidden(own), own);
        const scoped = await ask(operation, await start(mine), `${role} scoped`);
        check(`${role} in scope`, has && about !== "store" ? isIn(scoped) : isForbidden(scoped), scoped);
        const theirRun = await start(theirs);
        const other = await ask(operation, theirRun, `${role} scoped`);
        if (about !== "run") {
          check(`${role} out of scope`, !other.text.includes("theirs-"), other);
          continue;
        }
        const none = await ask(operation, "missing-1", `${role} scoped`);
        check(`${role} out of scope`, other.code === "HF-1001" && other.status === 404, other);
        check(`${role} as if missing`, withoutRun(other, theirRun) === withoutRun(none, "missing-1"), other);
        expect((await engine.get(theirRun))?.seq, "nothing was done to it").toBe(1);
      }
      expect(wrong).toEqual([]);
    });
  }
});
