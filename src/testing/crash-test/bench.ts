import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { badOption } from "../../core/check-options.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Store } from "../../core/store/contract.ts";
import { builtScript } from "../package-files.ts";
import { withStoreAt } from "../store-address.ts";
import {
  fileKind,
  pgliteKind,
  postgresKind,
  redisKind,
  type StoreKind,
  type StorePlace,
  sqliteKind,
} from "../store-kinds.ts";
import type { AckedWrite } from "../witness/log.ts";
import { startWitness, type Witness } from "../witness/witness.ts";
import {
  ACK_FILE,
  FAILURE_FILE,
  type Loader,
  RESULT_FILE,
  type SceneConfig,
  type SceneFailure,
  type SceneResult,
  STRUCK_FILE,
  type Struck,
  WITNESS_FILE,
} from "./config.ts";
import { WITNESS_ENV } from "./effect.ts";
import { type Note, readLines, readNotes } from "./notes.ts";

/** How a process under test ended. */
export interface SceneEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** True when it didn't end in time and the harness killed it. */
  readonly isOverdue: boolean;
  readonly result: SceneResult | null;
  readonly failure: SceneFailure | null;
  /** The end of its output. */
  readonly output: string;
}

export type ScenePlan = Omit<SceneConfig, "loader" | "store" | "folder" | "witness">;

const OUTPUT_KEPT = 4_000;

/** Shared by all cases: the witness, the kind of store, and the folder that holds everything. */
export class Bench {
  readonly #root: string;
  readonly #witness: Witness;
  readonly #kind: StoreKind;
  readonly #loader: Loader;
  readonly #children = new Set<ChildProcess>();
  #isClosed = false;

  private constructor(root: string, witness: Witness, kind: StoreKind, loader: Loader) {
    this.#root = root;
    this.#witness = witness;
    this.#kind = kind;
    this.#loader = loader;
  }

  static async open(loader: Loader, store: string): Promise<Bench> {
    const kind = await kindOf(store);
    const root = mkdtempSync(path.join(tmpdir(), "holdfast-crash-test-"));
    try {
      return new Bench(root, await startWitness({ file: path.join(root, WITNESS_FILE) }), kind, loader);
    } catch (error) {
      rmSync(root, { recursive: true, force: true });
      await kind.close();
      throw new HoldfastError("HF-4403", { problem: String((error as Error).message) }, { cause: error });
    }
  }

  /** Creates an empty store and an empty witness log. */
  async stand(): Promise<Stand> {
    const folder = mkdtempSync(path.join(this.#root, "case-"));
    const log = path.join(folder, WITNESS_FILE);
    await this.#witness.log(log);
    const place = this.#kind.place(folder);
    return new Stand(folder, place, (plan, patienceMs) => {
      const { module, args } = this.#loader;
      const witness = `${this.#witness.port} ${log}`;
      return this.#run(
        { ...plan, loader: { module, args }, store: place.address, folder, witness },
        patienceMs,
      );
    });
  }

  async clear(stand: Stand): Promise<void> {
    await this.#witness.forget(path.join(stand.folder, WITNESS_FILE));
    await stand.place.clear();
    rmSync(stand.folder, { recursive: true, force: true });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const child of this.#children) child.kill("SIGKILL");
    await this.#witness.stop();
    await this.#kind.close();
    rmSync(this.#root, { recursive: true, force: true });
  }

  #run(config: SceneConfig, patienceMs: number): Promise<SceneEnd> {
    const { folder, witness } = config;
    if (this.#isClosed)
      return Promise.reject(new HoldfastError("HF-4403", { problem: "the test was ended" }));
    for (const name of [RESULT_FILE, FAILURE_FILE]) rmSync(path.join(folder, name), { force: true });
    const file = path.join(folder, "scene.json");
    writeFileSync(file, JSON.stringify(config));
    const cache = path.join(this.#root, "compiled");
    mkdirSync(cache, { recursive: true });
    const script = builtScript("testing/crash-test/child");
    const child = spawn(process.execPath, [...(this.#loader.execArgv ?? []), script, file], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { NODE_COMPILE_CACHE: cache, ...process.env, [WITNESS_ENV]: witness },
    });
    this.#children.add(child);
    return ending(child, folder, patienceMs).finally(() => this.#children.delete(child));
  }
}

function ending(child: ChildProcess, folder: string, patienceMs: number): Promise<SceneEnd> {
  let output = "";
  let isOverdue = false;
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      output = (output + chunk).slice(-OUTPUT_KEPT);
    });
  const timer = setTimeout(() => {
    isOverdue = true;
    child.kill("SIGKILL");
  }, patienceMs);
  return new Promise((resolve, reject) => {
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(new HoldfastError("HF-4403", { problem: error.message }, { cause: error }));
    });
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      const result = readJson<SceneResult>(path.join(folder, RESULT_FILE));
      const failure = readJson<SceneFailure>(path.join(folder, FAILURE_FILE));
      resolve({ code, signal, isOverdue, result, failure, output });
    });
  });
}

function readJson<T>(file: string): T | null {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as T) : null;
}

/** The environment of one case. */
export class Stand {
  readonly folder: string;
  readonly place: StorePlace;
  readonly run: (plan: ScenePlan, patienceMs: number) => Promise<SceneEnd>;

  constructor(folder: string, place: StorePlace, run: Stand["run"]) {
    this.folder = folder;
    this.place = place;
    this.run = run;
  }

  notes(): Note[] {
    return readNotes(path.join(this.folder, WITNESS_FILE));
  }

  acked(): AckedWrite[] {
    return readLines<AckedWrite>(path.join(this.folder, ACK_FILE));
  }

  /** Null when the process never reached that place. */
  struck(): Struck | null {
    return readJson<Struck>(path.join(this.folder, STRUCK_FILE));
  }

  /** The store as the processes left it. */
  read<T>(use: (store: Store) => Promise<T>): Promise<T> {
    return withStoreAt(this.place.address, use);
  }
}

/** An empty place for every case: its own folder, schema or prefix. */
async function kindOf(store: string): Promise<StoreKind> {
  const known = { sqlite: sqliteKind, file: fileKind, pglite: pgliteKind };
  if (Object.hasOwn(known, store)) return known[store as keyof typeof known];
  if (/^postgres(ql)?:/.test(store)) return postgresKind(store);
  if (/^rediss?:/.test(store)) return redisKind(store);
  const problem = "it must be sqlite, file, pglite, or the URL of a PostgreSQL or Redis server";
  throw badOption("store", problem);
}
