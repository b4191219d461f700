import { setImmediate as turn } from "node:timers/promises";
import { expect } from "vitest";
import { HoldfastError } from "../../src/core/errors.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { createEngine, type Engine, type RetentionPolicy, type Workflow } from "../../src/index.ts";
import { withParts } from "../../src/testing/with-parts.ts";
import type { Lab } from "./lab.ts";
import {
  checkpointsOf,
  codeOf,
  journal,
  rowOf,
  stateAt,
  verify,
  withoutNewestSnapshot,
} from "./retention.ts";
import { type Compiled, compile, type Program, RUN, type Stop } from "./retention-program.ts";

/** The environment of a program: a store, and engines on it that may die. */
export interface Stage {
  readonly store: Store;
  engine(workflows: readonly Workflow<never, unknown>[]): Engine;
  readonly drive: <T>(promise: Promise<T>) => Promise<T>;
  /** Lets a moment pass. */
  moment(): Promise<unknown>;
  crash(engine: Engine): Promise<void>;
  /** Lets the claims of dead engines expire. */
  expire(): Promise<unknown>;
}

/** In memory, with a manual clock. */
export const labStage = (lab: Lab): Stage => ({
  store: lab.store,
  engine: (workflows) => lab.engine(workflows, workflows.length === 0 ? { execute: false } : {}),
  drive: (promise) => lab.drive(promise),
  moment: () => lab.clock.advance(20),
  crash: (engine) => lab.crash(engine),
  expire: () => lab.clock.advance(20_000),
});

/** On a store of any kind, in real time. */
export const realStage = (store: Store): Stage => ({
  store,
  engine: (workflows) =>
    createEngine({ store, workflows, claimMs: 300, sweepMs: 50, quietMs: 5, execute: workflows.length > 0 }),
  drive: (promise) => promise,
  moment: turn,
  crash: (engine) => engine.close({ drainMs: 0 }),
  // Workers on the store find them as soon as they expire.
  expire: async () => undefined,
});

/** Called when the run stops, and when it has ended. */
export type Look = (stage: Stage, engine: Engine) => Promise<void>;

/** Runs a program to its end: at each stop it does what the program waits for and sends it news. */
export async function complete(stage: Stage, program: Program, look: Look): Promise<unknown> {
  const compiled = compile(program);
  const { flow, flows } = compiled;
  let engine = stage.engine(flows);
  await stage.drive(engine.start(flow, "i".repeat(3_000), { id: RUN }));
  const stops = [...program.stops].sort((a, b) => a.turn - b.turn);
  for (const [index, { kind, turn: at }] of stops.entries()) {
    engine = await standStill(stage, engine, compiled, kind, at);
    const acting = stage.engine([]);
    await stage.drive(acting.signal(RUN, "news", `${index} ${"n".repeat(1_500 * index)}`));
    await look(stage, acting);
    if (kind === "crash") engine = stage.engine(flows);
    else await goOn(stage, acting, kind, at);
    await acting.close();
    await stage.expire();
    await stage.drive(engine.recover());
  }
  const result = await stage.drive(engine.result(RUN));
  const acting = stage.engine([]);
  await look(stage, acting);
  await acting.close();
  await stage.crash(engine);
  return result;
}

/** Returns the current engine; after a crash it is dead, and after a doubt another one has found out about it. */
async function standStill(
  stage: Stage,
  engine: Engine,
  { flows, hung }: Compiled,
  kind: Stop,
  at: number,
): Promise<Engine> {
  if (kind === "gate") await until(stage, async () => isAsked(stage.store, RUN, "gate", `turn[${at}]/stop`));
  if (kind === "child") await until(stage, async () => (await askingKid(stage, at)) !== undefined);
  if (kind === "gate" || kind === "child") return engine;
  await until(stage, async () => hung.has(at));
  await stage.crash(engine);
  if (kind === "crash") return engine;
  const next = stage.engine(flows);
  await stage.expire();
  await stage.drive(next.recover());
  await until(stage, async () => isAsked(stage.store, RUN, "decision", `turn[${at}]/pay`));
  return next;
}

async function goOn(stage: Stage, acting: Engine, kind: Stop, at: number): Promise<void> {
  const child = kind === "child" ? await askingKid(stage, at) : undefined;
  if (kind === "gate") await stage.drive(acting.answer(RUN, `turn[${at}]/stop`, { choice: "go" }));
  if (child !== undefined) await stage.drive(acting.answer(child, "stop", { choice: "go" }));
  if (kind === "doubt")
    await stage.drive(acting.resolve(RUN, `turn[${at}]/pay`, { action: "done", value: "paid" }));
}

async function isAsked(store: Store, runId: string, kind: string, step: string): Promise<boolean> {
  const row = await store.read(runId);
  return row?.status === "waiting" && row.waiting.some((wait) => wait.kind === kind && wait.step === step);
}

/** The run below the turn that waits at its gate. */
async function askingKid({ store }: Stage, at: number): Promise<string | undefined> {
  const row = await store.read(RUN);
  const wait = row?.waiting.find(({ step }) => step === `turn[${at}]/asks`);
  return wait?.detail !== undefined && (await isAsked(store, wait.detail, "gate", "stop"))
    ? wait.detail
    : undefined;
}

async function until(stage: Stage, isSo: () => Promise<boolean>): Promise<void> {
  for (let moment = 0; moment < 200_000; moment++) {
    if ((await stage.store.read(RUN)) && (await isSo())) return;
    await stage.moment();
  }
  throw new Error("it never comes to that");
}

/** How one round of retention is done. */
export interface Round {
  readonly policy: Exclude<RetentionPolicy, string>;
  readonly batch: number;
  /** The number of writes after which it is interrupted and restarted. */
  readonly breakAfter: number | null;
}

/** The state of each checkpoint when it was first seen, and whether it had to stay. */
export type Seen = Map<number, unknown>;

/** Prunes, and checks that everything that must stay is unchanged, and that missing values are reported as missing. */
export async function pruneAndCompare(stage: Stage, engine: Engine, round: Round, seen: Seen): Promise<void> {
  const { store, drive } = stage;
  const { keepLast = 0 } = round.policy;
  const all = await checkpointsOf(store, RUN);
  const pinned = (await drive(engine.checkpoints.list(RUN, { limit: 1_000 }))).filter((one) => one.pinned);
  const watched = all.filter(
    (seq, index) => index % 9 === 0 || index >= all.length - keepLast || seen.has(seq),
  );
  for (const seq of watched) {
    const now = await stateAt(store, RUN, seq).catch((error: unknown) => error);
    if (!seen.has(seq)) seen.set(seq, now);
  }
  const head = await stateAt(store, RUN);
  // A snapshot contains exactly what the journal says.
  if (seen.size === watched.length && !(await hasDropped(store)))
    expect(await stateAt(withoutSnapshots(store), RUN)).toEqual(head);
  const gates = await drive(engine.gates(RUN));
  await prune(stage, engine, round);
  await verify(store, RUN);
  const { status, prunedAt } = await rowOf(store, RUN);
  const isGone = prunedAt !== null;
  const mayGo = status === "completed" && pinned.length === 0 && !round.policy.keepSuccessful;
  if (!mayGo || round.policy.maxAge === 0) expect(isGone).toBe(mayGo && round.policy.maxAge === 0);
  if (!isGone) expect(await stateAt(store, RUN)).toEqual(head);
  if (!isGone) expect(await drive(engine.gates(RUN))).toEqual(gates);
  const must = new Set([...(keepLast > 0 ? all.slice(-keepLast) : []), ...pinned.map(({ seq }) => seq)]);
  const listed = await drive(engine.checkpoints.list(RUN, { limit: 1_000 }));
  const { keepPerPhase } = round.policy;
  if (keepLast > 0 && keepPerPhase === undefined && !isGone)
    expect(listed.filter((one) => !one.pinned).length).toBeLessThanOrEqual(keepLast);
  const left = new Set(
    (await drive(engine.checkpoints.list(RUN, { limit: 1_000, all: true }))).map(({ seq }) => seq),
  );
  for (const seq of watched)
    await compare(stage, engine, { seq, isLeft: left.has(seq) }, seen, !isGone && must.has(seq));
  if (!isGone && (await rowOf(store, RUN)).snapshotSeq > 0)
    expect(await stateAt(await withoutNewestSnapshot(store, RUN), RUN)).toEqual(head);
}

const hasDropped = async (store: Store): Promise<boolean> =>
  (await journal(store, RUN)).some(({ head }) => head.includes('"values_dropped"'));

const withoutSnapshots = (store: Store): Store =>
  withParts(store, {
    read: async (id) => {
      const row = await store.read(id);
      return row && { ...row, snapshotSeq: 0 };
    },
  });

let forks = 0;

/** A listed checkpoint is unchanged and can be forked; any other one is reported as gone, also to a fork. */
async function compare(
  { store, drive }: Stage,
  engine: Engine,
  { seq, isLeft }: { readonly seq: number; readonly isLeft: boolean },
  seen: Seen,
  mustBe: boolean,
): Promise<void> {
  const now = await stateAt(store, RUN, seq).catch((error: unknown) => error);
  const isGone = HoldfastError.is(now, "HF-1023") || !isLeft;
  if (mustBe) expect(isGone, `#${seq} must be there`).toBe(false);
  // Each copies the journal, so a sample is enough.
  if (!mustBe && seq % 3 > 0) return isGone ? undefined : expect(now, `#${seq}`).toEqual(seen.get(seq));
  const id = `fork-${++forks}`;
  if (isGone) return expect(await codeOf(drive(engine.fork(`${RUN}@${seq}`, { id })))).toBe("HF-1023");
  expect(now, `#${seq}`).toEqual(seen.get(seq));
  await drive(engine.fork(`${RUN}@${seq}`, { id }));
  expect(await drive(engine.checkpoints.digest(`${id}@${seq}`))).toBe(
    await drive(engine.checkpoints.digest(`${RUN}@${seq}`)),
  );
  // A worker may have been faster.
  expect(["none", "HF-1007"]).toContain(await codeOf(drive(engine.cancel(id))));
}

async function prune({ drive }: Stage, engine: Engine, { policy, batch, breakAfter }: Round): Promise<void> {
  if (breakAfter !== null) {
    const stop = new AbortController();
    let writes = 0;
    const off = engine.on("values_dropped", () => ++writes === breakAfter && stop.abort());
    await drive(engine.retention.prune(policy, { batch, signal: stop.signal }));
    off();
  }
  const preview = await drive(engine.retention.preview(policy));
  expect(await drive(engine.retention.prune(policy, { batch }))).toEqual(preview);
  expect(await drive(engine.retention.prune(policy))).toMatchObject({ runs: [], bytes: 0 });
}
