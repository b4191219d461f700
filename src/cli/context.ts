import { userInfo } from "node:os";
import { defined } from "../core/defined.ts";
import type { Engine } from "../core/engine.ts";
import type { EngineOptions } from "../core/engine-options.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Act } from "../core/journal/act.ts";
import type { Logger } from "../core/logger.ts";
import type { Store } from "../core/store/contract.ts";
import { refuseSealed } from "../core/store/refuse-sealed.ts";
import type { RunRow } from "../core/types.ts";
import { Addresses } from "./addresses.ts";
import { rememberCode } from "./code-memory.ts";
import { loadSettings, type Settings } from "./config/settings.ts";
import { hasPlaceholder, isAbsent, storeUrl, withoutPassword, withPlace } from "./config/store-url.ts";
import type { Globals } from "./globals.ts";
import type { Host } from "./host.ts";
import type { Output } from "./output.ts";
import { ownerName, ownerOf } from "./owner.ts";
import { chooseStore, hasPlaces, knownPlaces, rememberPlace } from "./places.ts";
import type { Code, Said, Workflows } from "./workflows.ts";

interface Given<O> {
  readonly args: readonly string[];
  readonly options: O;
  readonly globals: Globals;
  readonly host: Host;
  readonly output: Output;
  /** The command as it was called: `config show`. */
  readonly path: string;
}

interface StoreWanted {
  readonly create?: boolean;
  readonly workflow?: string;
  /** What a workflow file says about it. Counts where nothing else has said anything. */
  readonly place?: { readonly storage?: string; readonly path?: string } | undefined;
}

/** What a command is given. Whatever costs time is made when it is asked for, and closed when the command has ended. */
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
  /** Why nothing of what the command runs is saved, where that is so. */
  unsaved: string | undefined;
  /** The workflow's file says where its runs are, and not the configuration. */
  #isElsewhere = false;
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

  /** The store. `create`: make it where there is none. `workflow`, `place`: for one that depends on what is run. */
  store(options: StoreWanted = {}): Promise<Store> {
    this.#store ??= this.#openStore(options);
    return this.#store;
  }

  /** Where runs are kept, as it may be shown. */
  get where(): string {
    return this.#where;
  }

  async #openStore({ create = false, workflow, place }: StoreWanted): Promise<Store> {
    const settings = withPlace(await this.settings(), place);
    if (!create && workflow === undefined && hasPlaces(settings)) return this.#findStore(settings);
    const url = storeUrl(settings, this.host.cwd, workflow);
    this.#isElsewhere = place !== undefined && settings.origins["store"] === undefined;
    this.#where = withoutPassword(url);
    // One that was asked for by name is not taken for one that is only empty still.
    if (!create && /^(env|flag) /.test(settings.origins["store"] ?? "") && isAbsent(url))
      throw new HoldfastError("HF-3052", { place: this.#where });
    const store = await this.#open(url, settings, create);
    if (create && (this.#isElsewhere || hasPlaceholder(settings))) rememberPlace(settings.root, url);
    return store;
  }

  async #open(url: string, settings: Settings, create: boolean): Promise<Store> {
    if (!create && isAbsent(url)) return (await import("../stores/memory.ts")).createMemoryStore();
    const { openStore } = await import("../stores/open.ts");
    const { seal } = await import("./config/seal.ts");
    const store = await seal(await openStore(url, { logger: this.#logger() }), settings);
    try {
      await refuseSealed(store);
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  }

  /** Among the configured store and those that files have named: the one that holds what the command is about, or all to look into. */
  async #findStore(settings: Settings): Promise<Store> {
    const own = hasPlaceholder(settings) ? undefined : storeUrl(settings, this.host.cwd);
    const urls = [...(own === undefined ? [] : [own]), ...knownPlaces(settings.root)];
    const there = [...new Set(urls)].filter((url) => !isAbsent(url));
    const { found, url } = await chooseStore(this.path === "list" ? undefined : this.args[0], there, (one) =>
      this.#open(one, settings, false),
    );
    this.#where = withoutPassword(url ?? own ?? String(settings.values.path));
    this.#isElsewhere = false;
    return found ?? this.#open("memory:", settings, true);
  }

  /** A command to copy, with the flags that are needed to find the same runs. */
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

  /** An engine on the store. It advances no runs unless told to. */
  async engine(options: Partial<EngineOptions> = {}): Promise<Engine> {
    const store = options.store ?? (await this.store());
    const [{ createEngine }, { engineSettings }] = await Promise.all([
      import("../core/engine.ts"),
      import("./config/engine-settings.ts"),
    ]);
    const settings = engineSettings(await this.settings());
    const engine = createEngine({
      execute: false,
      owner: ownerName(),
      logger: this.#logger(),
      ...settings,
      ...options,
      store,
    });
    this.#engines.push(engine);
    return engine;
  }

  /** Finds what an address on the command line names. */
  async addresses(): Promise<Addresses> {
    const store = await this.store();
    return new Addresses(store, this.where, async () => (await this.engine()).checkpoints);
  }

  /** Finds code: by file, by name, or what a stored run goes on with. */
  async workflows(said: Said = {}): Promise<Workflows> {
    const { Workflows } = await import("./workflows.ts");
    return new Workflows(await this.settings(), this.host, (end) => this.#ends.push(end), said);
  }

  /** The code that a stored run goes on with; `file` where somebody named it, `changed` to take it as it is now. */
  async codeOf(
    run: Pick<RunRow, "id" | "workflow" | "version">,
    wanted: { file?: string | undefined; changed?: boolean } = {},
  ): Promise<Code> {
    const store = await this.store();
    const engine = await this.engine();
    // Loading code executes it: what came from elsewhere says which, and nobody here may have seen it yet.
    if (await engine.transfer.isHeld(run.id)) throw new HoldfastError("HF-3060", { run: run.id });
    const memory = async () => (await engine.checkpoints.state(run.id)).memory;
    return (await this.workflows()).ofRun({ store, run, memory }, wanted);
  }

  /** Who is at the keyboard: as configured, or the user of this machine. */
  async actor(): Promise<string> {
    return (await this.settings()).values.actor ?? userName();
  }

  /** What becomes of a run that can go on now: who has it, or how to go on with it. */
  async goesOn({ id, claim }: Pick<RunRow, "id" | "claim">): Promise<string> {
    const owner = ownerOf({ claim }, await (await this.store()).now());
    if (owner && !owner.isDead) return `It goes on in ${owner.name}.`;
    return `Go on: ${this.cli(`resume ${id}`)}   (a process of yours that works on this store takes it up by itself)`;
  }

  /** Runs of this version go on with this file, wherever they were started from. */
  async rememberCode({ workflow, file }: Code): Promise<void> {
    if (file === undefined) return;
    const { root } = await this.settings();
    const shown = (await this.workflows()).remembered(file);
    rememberCode(root, workflow.name, workflow.version, shown);
  }

  /** Who does this, and why; `said`: what counts as the reason where none is given. Refused without a reason where one is needed. */
  async act(verb: string, said?: string): Promise<Act & { actor: string }> {
    const { values } = await this.settings();
    const { reason = said } = this.globals;
    const actor = await this.actor();
    if (reason === undefined && (values.require_reason ?? values.actor !== undefined))
      throw new HoldfastError("HF-4312", { verb, actor });
    return { actor, ...defined({ reason }) };
  }

  /** Before what cannot be undone: `what` says how much of what. A person is asked, a script says `--yes`, an agent needs consent. */
  async confirm(verb: string, what: string): Promise<void> {
    const { values } = await this.settings();
    const { agent } = this.out;
    if (agent !== undefined && values.agent_consent && !this.host.env["HOLDFAST_AGENT_CONSENT"])
      throw new HoldfastError("HF-4313", { verb, count: what, agent });
    if (this.globals.yes) return;
    if (!this.host.canAsk || this.out.isJson) throw new HoldfastError("HF-4314", { verb, count: what });
    const answer = await this.host.ask(`${verb}: ${what}. Go on? [y/N] `);
    if (!/^y(es)?$/i.test(answer ?? "")) throw new HoldfastError("HF-4314", { verb, count: what });
  }

  /** What the engine has to say beside the run itself; values and keys are never in it. */
  #logger(): Logger {
    const tell = (message: string, fields?: Readonly<Record<string, unknown>>): string =>
      [message, ...Object.entries(fields ?? {}).map(([key, value]) => `${key}=${String(value)}`)].join(" ");
    return {
      debug: () => undefined,
      info: (message, fields) => this.out.detail(tell(message, fields)),
      warn: (message, fields) => this.out.warn(tell(message, fields)),
      error: (message, fields) => this.out.warn(tell(message, fields)),
    };
  }

  /** What is still to be done when the command is over, before its store is closed. */
  atEnd(end: () => Promise<void>): void {
    this.#ends.push(end);
  }

  async close(): Promise<void> {
    for (const engine of this.#engines) await engine.close({ drainMs: 0 });
    for (const end of this.#ends) await end();
    // A store that could not be opened has been told of already.
    await (await this.#store?.catch(() => undefined))?.close();
  }
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "unknown";
  }
}
