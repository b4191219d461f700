import { renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Workflow } from "../../core/context.ts";
import { createEngine, type Engine } from "../../core/engine/engine.ts";
import { HoldfastError } from "../../core/errors.ts";
import { type Ids, systemIds } from "../../core/ids.ts";
import { silentLogger } from "../../core/logger.ts";
import type { Store } from "../../core/store/contract.ts";
import { type RunRow, terminal } from "../../core/types.ts";
import { encode } from "../../core/values/codec.ts";
import { openAddress } from "../store-address.ts";
import {
  FAILURE_FILE,
  NOT_LOADED,
  RESULT_FILE,
  type SceneConfig,
  type SceneFailure,
  type SceneResult,
  type Stuck,
  WITNESS_FILE,
} from "./config.ts";
import { placeNow, stage } from "./effect.ts";
import type { Loaded } from "./load-module.ts";
import { readNotes } from "./notes.ts";
import { Observer } from "./observe.ts";
import { People } from "./people.ts";
import { Scene, wallTime } from "./scene.ts";
import { withFault } from "./scene-faults.ts";

const ROUND_MS = 15;
/** The number of identical checks in a row after which a wait counts as endless. */
const PATIENCE = 20;

/**
 * Runs one process under test: loads the workflow, starts or recovers its run, and ends with it. Returns the exit code.
 */
export async function runScene(config: SceneConfig): Promise<number> {
  let loaded: Loaded;
  try {
    loaded = await loadWith(config);
  } catch (error) {
    leave(config, FAILURE_FILE, failureOf(error));
    return NOT_LOADED;
  }
  try {
    const scene = new Scene(config);
    const real = await openAddress(config.store);
    const result = await play(config, loaded, scene, real);
    await real.close();
    leave(config, RESULT_FILE, result);
    return 0;
  } catch (error) {
    leave(config, FAILURE_FILE, failureOf(error));
    return 1;
  }
}

async function loadWith({ loader }: SceneConfig): Promise<Loaded> {
  const { module, args } = loader;
  const href = /^[a-z]{2,}:/.test(module) ? module : pathToFileURL(module).href;
  const { load } = (await import(href)) as { load: (...args: readonly unknown[]) => Promise<Loaded> };
  return load(...args);
}

async function play(config: SceneConfig, loaded: Loaded, scene: Scene, real: Store): Promise<SceneResult> {
  const { runId } = config;
  const store = scene.wrap(withFault(real, scene, config));
  const set = stage(config.witness);
  set.effected = (kind, id) => scene.effected(kind, id, placeNow(set)?.step ?? "");
  const observer = new Observer(scene, set, config.signals);
  const workflow = observer.workflow(loaded.workflow);
  const others = (loaded.all ?? []).filter((one) => one !== loaded.workflow);
  const workflows = [workflow, ...others.map((one) => observer.workflow(one))];
  const engine = openEngine(config, store, workflows, scene);
  const notes = () => readNotes(path.join(config.folder, WITNESS_FILE));
  const people = new People(engine, store, config, notes);
  const replay = config.mode === "replay" ? await replayed(engine, runId) : null;
  const stuck = replay ? null : await perform(config, loaded, workflow, { engine, store, people, observer });
  const readyAt = wallTime();
  const end = await endOf(engine, runId);
  await engine.close();
  return {
    workflow: { name: workflow.name, version: workflow.version },
    store: { name: real.name, durability: real.capabilities.durability },
    ...end,
    stuck,
    undone: people.undone,
    places: scene.places,
    writes: scene.writes,
    backAt: scene.backAt,
    readyAt,
    settled: people.settled,
    answered: people.answered,
    signalled: people.signalled,
    replay,
  };
}

interface Troupe {
  readonly engine: Engine;
  readonly store: Store;
  readonly people: People;
  readonly observer: Observer;
}

async function perform(
  config: SceneConfig,
  loaded: Loaded,
  workflow: Workflow<unknown, unknown>,
  { engine, store, people, observer }: Troupe,
): Promise<Stuck | null> {
  const input = "input" in config ? config.input : loaded.input;
  await steady(() => engine.start(workflow, input, { id: config.runId }));
  await engine.work();
  let looks = 0;
  for (;;) {
    const rows = await steady(async () => (await store.list({ limit: 1_000 })).runs);
    const open = rows.filter((row) => isOpen(row, people));
    const stuck = (await steady(() => people.tend(open))) ?? abandoned(open, observer);
    if (open.length === 0) return null;
    looks = stuck ? looks + 1 : 0;
    if (looks >= PATIENCE) return stuck;
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
  }
}

/** A child that no process can advance: its parent waits for it, and the recovering process doesn't know its code. */
function abandoned(open: readonly RunRow[], { known }: Observer): Stuck | null {
  const isParked = open.every(({ status, workflow }) => status === "waiting" || !known.has(workflow));
  const lost = open.find(({ workflow }) => !known.has(workflow));
  return isParked && lost ? { kind: "workflow", step: "", text: lost.workflow } : null;
}

/** The parent handles a failed child. */
const isOpen = (row: RunRow, people: People): boolean =>
  row.status === "failed" ? people.mayResume(row) : !terminal(row.status);

/** Repeats people's acts while the store is down: that is the fault under test. */
async function steady<T>(act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!HoldfastError.is(error, "HF-3002")) throw error;
      await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
    }
  }
}

function openEngine(
  config: SceneConfig,
  store: Store,
  workflows: readonly Workflow<unknown, unknown>[],
  { probe }: Scene,
): Engine {
  const { claimMs } = config;
  return createEngine({
    store,
    workflows,
    claimMs,
    probe,
    // Runs are released at every wait, as they are for long waits.
    holdMs: 0,
    quietMs: 5,
    sweepMs: 20,
    assumedStepMs: claimMs,
    recovery: { maxAttempts: 1_000_000 },
    retention: "forever",
    owner: `crash-test-${process.pid}`,
    ids: sameSeed(config.runId),
    logger: silentLogger,
  });
}

/** Makes the run's `ctx.random` and `ctx.uuid` the same in all cases, so that results can be compared. */
function sameSeed(seed: string): Ids {
  let isFirst = true;
  return {
    ...systemIds,
    id: () => {
      const id = isFirst ? seed : systemIds.id();
      isFirst = false;
      return id;
    },
  };
}

async function endOf(
  engine: Engine,
  runId: string,
): Promise<Pick<SceneResult, "status" | "value" | "error">> {
  const run = await steady(() => engine.get(runId));
  if (!run) return { status: "missing", value: null, error: null };
  const { status, error } = run;
  if (status !== "completed") return { status, value: null, error };
  return { status, value: encode(await steady(() => engine.result(runId)), { sorted: true }), error };
}

async function replayed(engine: Engine, runId: string): Promise<NonNullable<SceneResult["replay"]>> {
  const { stoppedAt, notAsked } = await engine.replay(runId);
  return { asked: stoppedAt.map(({ step }) => step), notAsked };
}

function failureOf(error: unknown): SceneFailure {
  const message = error instanceof Error ? error.message : String(error);
  if (!HoldfastError.is(error)) return { code: null, detail: {}, message };
  return { code: error.code, detail: error.detail, message };
}

/** Writes the file atomically, because it may be read at any time. */
function leave({ folder }: SceneConfig, name: string, content: unknown): void {
  const file = path.join(folder, name);
  writeFileSync(`${file}.part`, JSON.stringify(content));
  renameSync(`${file}.part`, file);
}
