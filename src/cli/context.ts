import { userInfo } from "node:os";
import type { TemporalHost } from "../adapters/temporal/index.ts";
import { defined } from "../core/defined.ts";
import type { Engine } from "../core/engine/engine.ts";
import type { EngineOptions } from "../core/engine/options.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Act } from "../core/journal/act.ts";
import type { Observable } from "../core/journal/observer.ts";
import { toLevels } from "../core/log-line.ts";
import type { Logger } from "../core/logger.ts";
import type { AlertOptions } from "../core/manage/alerts/alerts.ts";
import type { Store } from "../core/store/contract.ts";
import { isAway } from "../core/store/faults.ts";
import { refuseSealed } from "../core/store/refuse-sealed.ts";
import type { RunRow } from "../core/types.ts";
import { Addresses } from "./addresses.ts";
import { rememberCode } from "./code-memory.ts";
import { loadSettings, type Settings } from "./config/settings.ts";
import {
  hasPlaceholder,
  isAbsent,
  isOpenAddress,
  type Sealing,
  type StorePlace,
  storeUrl,
  withoutPassword,
  withPlace,
  withSealing,
} from "./config/store-url.ts";
import type { Globals } from "./globals.ts";
import type { Host } from "./host.ts";
import type { Output } from "./output.ts";
import { ownerName, ownerOf } from "./owner.ts";
import { chooseStore, hasPlaces, knownPlaces, rememberPlace } from "./places.ts";
import { temporalAt } from "./temporal.ts";
import type { Code, Said, Workflows } from "./workflows.ts";

interface Given<O> {
  readonly args: readonly string[];
  readonly options: O;
  readonly globals: Globals;
  readonly host: Host;
  readonly output: Output;
  /** The command as typed: `config show`. */
  readonly path: string;
}

interface StoreWanted {
  readonly create?: boolean;
  readonly workflow?: string;
  /** The store that a workflow file names. Used when nothing else is configured. */
  readonly place?: StorePlace | undefined;
}

/** A log that a command was asked to write. */
export interface CommandLog {
  readonly logger: Logger;
  /** True when nothing is said elsewhere: it is the terminal's. */
  readonly isAlone: boolean;
  /** Watches the engines of the command for it. */
  readonly observe: Observable;
}

/** Options that name a run or a checkpoint. */
const SUBJECTS = ["task", "checkpoint", "checkpointId", "from"] as const;

/** The context of a command. Expensive parts are created on demand, and closed when the command has ended. */
export class CommandContext<O = unknown> {
  readonly args: readonly string[];
  readonly options: O;
  readonly globals: Globals;
  readonly host: Host;
  readonly out: Output;
  readonly path: string;
  #settings: Promise<Settings> | undefined;
  #store: Promise<Store> | undefined;
  #where = "";
  /** Why nothing that the command runs is saved, if so. */
  unsaved: string | undefined;
  /** True when the workflow's file, not the configuration, names the store. */
  #isElsewhere = false;
  #actor: string | undefined;
  #log: CommandLog | undefined;
  /** Where runs are kept and offered, with an address of Temporal. */
  #temporal: TemporalHost | undefined;
  readonly #engines: Engine[] = [];
  readonly #ends: (() => Promise<void>)[] = [];

  constructor({ args, options, globals, host, output, path }: Given<O>) {
    this.args = args;
    this.options = options;
    this.globals = globals;
    this.host = host;
    this.out = output;
    this.path = path;
  }

  settings(): Promise<Settings> {
    this.#settings ??= loadSettings(this.host, this.globals);
    return this.#settings;
  }

  /** The store. `create`: creates it if missing. `workflow`, `place`: for one that depends on what is run. */
  store(options: StoreWanted = {}): Promise<Store> {
    this.#store ??= this.#openStore(options);
    return this.#store;
  }

  /** The location of runs, in a form that may be shown. */
  get where(): string {
    return this.#where;
  }

  async #openStore({ create = false, workflow, place }: StoreWanted): Promise<Store> {
    const settings = withPlace(await this.settings(), place);
    if (!create && workflow === undefined && hasPlaces(settings)) return this.#findStore(settings);
    const url = storeUrl(settings, this.host.cwd, workflow);
    this.#isElsewhere = settings.origins["path"] === "the workflow file";
    this.#where = withoutPassword(url);
    // A store that was named explicitly must exist; a missing one isn't treated as empty.
    if (!create && /^(env|flag) /.test(settings.origins["store"] ?? "") && isAbsent(url))
      throw new HoldfastError("HF-3052", { place: this.#where });
    const store = await this.#open(url, settings, create);
    const sealing = sealingOf(settings);
    if (create && (this.#isElsewhere || hasPlaceholder(settings) || Object.keys(sealing).length > 0))
      rememberPlace(settings.root, { url, ...sealing });
    return store;
  }

  async #open(url: string, settings: Settings, create: boolean): Promise<Store> {
    if (!create && isAbsent(url)) return (await import("../stores/memory.ts")).createMemoryStore();
    const { openStore } = await import("../stores/open.ts");
    const { seal } = await import("./config/seal.ts");
    const kept = knownPlaces(settings.root).find((place) => place.url === url);
    const how = withSealing(settings, kept);
    this.#temporal = await temporalAt(url, this.#logger());
    const given = this.#temporal?.store;
    const store = await seal(async () => given ?? openStore(url, { logger: this.#logger() }), how);
    try {
      await refuseSealed(store);
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  }

  /** A remembered store in a network may be away for good, which must not keep the others from being read. */
  async #openIfThere(url: string, settings: Settings): Promise<Store | undefined> {
    try {
      return await this.#open(url, settings, false);
    } catch (error) {
      if (!isAway(error)) throw error;
      this.out.warn(`Runs in ${withoutPassword(url)} aren't shown: ${(error as Error).message}`);
      return undefined;
    }
  }

  /**
   * Finds, among the configured store and those that files have named, the one that the command is about, or returns
   * all of them.
   */
  async #findStore(settings: Settings): Promise<Store> {
    const own = hasPlaceholder(settings) ? undefined : storeUrl(settings, this.host.cwd);
    const urls = [...(own === undefined ? [] : [own]), ...knownPlaces(settings.root).map(({ url }) => url)];
    const there = [...new Set(urls)].filter((url) => !isAbsent(url));
    const { found, url } = await chooseStore(this.#subject(), there, (one) =>
      one === own || !isOpenAddress(one)
        ? this.#open(one, settings, false)
        : this.#openIfThere(one, settings),
    );
    this.#where = withoutPassword(url ?? own ?? String(settings.values.path));
    this.#isElsewhere = false;
    return found ?? this.#open("memory:", settings, true);
  }

  /** The run that the command is about, as typed: its first argument, or the option that takes its place. */
  #subject(): string | undefined {
    if (this.path === "list") return undefined;
    const given = this.options as Readonly<Record<string, unknown>>;
    const named = SUBJECTS.map((key) => given[key]).find((value) => typeof value === "string");
    return this.args[0] ?? named;
  }

  /** A command to copy, with the flags needed to find the same runs. */
  cli(command: string): string {
    const { config, profile } = this.globals;
    const store = this.globals.store ?? (this.#isElsewhere ? this.#where : undefined);
    const flags = Object.entries({ store, config, profile });
    return [
      "holdfast",
      command,
      ...flags.flatMap(([flag, value]) => (value ? [`--${flag} ${value}`] : [])),
    ].join(" ");
  }

  /** Creates an engine on the store. It advances no runs unless told to. */
  async engine(options: Partial<EngineOptions> = {}): Promise<Engine> {
    const store = options.store ?? (await this.store());
    const [{ createEngine }, { engineSettings }, { auditSettings }] = await Promise.all([
      import("../core/engine/engine.ts"),
      import("./config/engine-settings.ts"),
      import("./config/audit-settings.ts"),
    ]);
    const settings = engineSettings(await this.settings());
    const audit = await auditSettings(await this.settings(), this.host.env);
    const engine = createEngine({
      execute: false,
      schedules: false,
      owner: ownerName(),
      logger: this.#logger(),
      ...settings,
      ...defined({ audit }),
      ...options,
      ...(this.#log ? { observe: [...[options.observe ?? []].flat(), this.#log.observe] } : {}),
      store,
    });
    this.#engines.push(engine);
    if (options.execute) await this.#temporal?.begin((workflow) => engine.workflows.has(workflow));
    return engine;
  }

  /** Resolves addresses on the command line. */
  async addresses(): Promise<Addresses> {
    const store = await this.store();
    return new Addresses(store, this.where, async () => (await this.engine()).checkpoints);
  }

  /** Finds code: by file, by name, or for a stored run. */
  async workflows(said: Said = {}): Promise<Workflows> {
    const { Workflows } = await import("./workflows.ts");
    return new Workflows(await this.settings(), this.host, (end) => this.#ends.push(end), said);
  }

  /** The code of a stored run; `file` if one was named, `changed` to use the file as it is now. */
  async codeOf(
    run: Pick<RunRow, "id" | "workflow" | "version">,
    wanted: { file?: string | undefined; changed?: boolean } = {},
  ): Promise<Code> {
    const store = await this.store();
    const engine = await this.engine();
    // Loading code executes it: a foreign run names its own file, which may not have been reviewed here.
    const isHeld = await engine.transfer.isHeld(run.id).catch((error: unknown) => {
      // A damaged journal can't tell. It doesn't matter where a person names the file.
      if (wanted.file !== undefined && HoldfastError.is(error, "HF-3010")) return false;
      throw error;
    });
    if (isHeld) throw new HoldfastError("HF-3060", { run: run.id });
    const memory = async () => (await engine.checkpoints.state(run.id)).memory;
    return (await this.workflows()).ofRun({ store, run, memory }, wanted);
  }

  /** The user's name: as configured, or from this machine. */
  async actor(): Promise<string> {
    return this.#actor ?? (await this.settings()).values.actor ?? userName();
  }

  /** From now on this is who acts: a credential has proven it. */
  actAs(actor: string): void {
    this.#actor = actor;
  }

  /** What happens to a run that can continue now: who has it, or how to continue it. */
  async goesOn({ id, claim, status }: Pick<RunRow, "id" | "claim" | "status">): Promise<string> {
    const owner = ownerOf({ claim }, await (await this.store()).now());
    if (owner && !owner.isDead) return `${owner.name} continues it.`;
    if (status === "paused") return `The run is paused. Continue: ${this.cli(`resume ${id}`)}`;
    return `Continue: ${this.cli(`resume ${id}`)}   (a worker on this store does it on its own)`;
  }

  /** Remembers that runs of this version use this file, wherever they were started. */
  async rememberCode({ workflow, file }: Code): Promise<void> {
    if (file === undefined) return;
    const { root } = await this.settings();
    const shown = (await this.workflows()).remembered(file);
    rememberCode(root, workflow.name, workflow.version, shown);
  }

  /** Who acts, and why if they said so: for what needs no reason. */
  async who(): Promise<Act & { actor: string }> {
    return { actor: await this.actor(), ...defined({ reason: this.globals.reason }) };
  }

  /** Who acts, and why; `said` is the default reason. Refused without a reason if one is required. */
  async act(verb: string, said?: string): Promise<Act & { actor: string }> {
    const { values } = await this.settings();
    const { reason = said } = this.globals;
    const actor = await this.actor();
    if (reason === undefined && (values.require_reason ?? values.actor !== undefined))
      throw new HoldfastError("HF-4312", { verb, actor });
    return { actor, ...defined({ reason }) };
  }

  /**
   * Asks before something irreversible: `what` describes its extent. A person is asked, a script needs `--yes`, an
   * agent needs consent.
   */
  async confirm(verb: string, what: string): Promise<void> {
    const { values } = await this.settings();
    const { agent } = this.out;
    if (agent !== undefined && values.agent_consent && !this.host.env["HOLDFAST_AGENT_CONSENT"])
      throw new HoldfastError("HF-4313", { verb, count: what, agent });
    if (this.globals.yes) return;
    if (!this.host.canAsk || this.out.isJson) throw new HoldfastError("HF-4314", { verb, count: what });
    const answer = await this.host.ask(`${verb}: ${what}. Continue? [y/N] `);
    if (!/^y(es)?$/i.test(answer ?? "")) throw new HoldfastError("HF-4314", { verb, count: what });
  }

  /** From now on what engines say also goes to this log. */
  logTo(log: CommandLog): void {
    this.#log = log;
  }

  /** A logger that writes to the log of the command too, if it has one. */
  withLog(terminal: Logger): Logger {
    return toLevels((level, message, fields) => {
      this.#log?.logger[level](message, fields);
      if (!this.#log?.isAlone) terminal[level](message, fields);
    });
  }

  /** The engine's messages besides the run itself; they never contain values or keys. */
  #logger(): Logger {
    const tell = (message: string, fields?: Readonly<Record<string, unknown>>): string =>
      [message, ...Object.entries(fields ?? {}).map(([key, value]) => `${key}=${String(value)}`)].join(" ");
    return this.withLog({
      debug: () => undefined,
      info: (message, fields) => this.out.detail(tell(message, fields)),
      warn: (message, fields) => this.out.warn(tell(message, fields)),
      error: (message, fields) => this.out.warn(tell(message, fields)),
    });
  }

  /** Who is told of what goes wrong, as the configuration says. */
  async alertOptions(): Promise<AlertOptions> {
    const [{ alertOptions }, { values }] = await Promise.all([import("./alert-options.ts"), this.settings()]);
    return alertOptions(values.alerts, this.host.env, this.#logger());
  }

  /** Registers work for the end of the command, before its store is closed. */
  atEnd(end: () => Promise<void>): void {
    this.#ends.push(end);
  }

  async close(): Promise<void> {
    for (const engine of this.#engines) {
      await engine.reports.storeLogs();
      await engine.close({ drainMs: 0 });
    }
    for (const end of this.#ends) await end();
    // A store that couldn't be opened has already been reported.
    await (await this.#store?.catch(() => undefined))?.close();
  }
}

/** How a workflow file, not the configuration, has values written. */
function sealingOf({ values: { compression, encryption }, origins }: Settings): Sealing {
  const isOfFile = (key: string): boolean => origins[key] === "the workflow file";
  return {
    ...(isOfFile("compression") ? { compression } : {}),
    ...(isOfFile("encryption") && typeof encryption === "boolean" ? { encryption } : {}),
  };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "unknown";
  }
}
