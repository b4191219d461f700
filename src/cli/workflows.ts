import { existsSync } from "node:fs";
import { extname, isAbsolute, relative, resolve } from "node:path";
import type { Workflow } from "../core/context.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import { isSavedByProgram } from "../core/outside-workflows.ts";
import type { Store } from "../core/store/contract.ts";
import type { RunRow } from "../core/types.ts";
import { isWorkflow } from "../core/workflow.ts";
import type { CheckpointSettings } from "../yaml/index.ts";
import { knownCode } from "./code-memory.ts";
import type { Settings } from "./config/settings.ts";
import { wrap } from "./format.ts";
import type { Host } from "./host.ts";
import { loadModule } from "./modules.ts";
import { type OnFailure, readOrigin } from "./run-origin.ts";
import { readYaml, restoreYaml, type YamlPart } from "./yaml-code.ts";

/** Loaded code: the requested workflow, and those loaded with it, which it may start. */
export interface Code {
  readonly workflow: Workflow;
  readonly all: readonly Workflow[];
  /** Absolute; `undefined` for a workflow defined in the configuration itself. */
  readonly file: string | undefined;
  readonly yaml?: YamlPart;
}

/** How the code asks for its runs to be kept: as its file says, or as its team says. */
export function keepingOf({
  workflow,
  yaml,
}: Pick<Code, "workflow" | "yaml">): CheckpointSettings | undefined {
  if (yaml) return yaml.checkpoint;
  const { notes: _, saving = true, path, ...rest } = workflow.settings ?? { notes: [] };
  const settings = { ...rest, ...defined({ path: path?.replaceAll("{TASK}", workflow.name) }) };
  if (saving && Object.keys(settings).length === 0) return undefined;
  return { saving, onFailure: "pause", ...settings };
}

/** The parts of a run needed to find its code. */
interface Stored {
  readonly store: Store;
  readonly run: Pick<RunRow, "id" | "workflow" | "version">;
  /** The run's memory: a YAML run has its file there. */
  readonly memory: () => Promise<Readonly<Record<string, unknown>>>;
}

interface Wanted {
  /** The file that was named. */
  readonly file?: string | undefined;
  /** The file as it is now, not as it was when the run was started. */
  readonly changed?: boolean;
}

type Surroundings = Pick<Host, "cwd" | "env"> & Partial<Pick<Host, "stderr">>;

const MODULES = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"];
const YAML = [".yaml", ".yml"];

const isYaml = (path: string): boolean => YAML.includes(extname(path));
/** `flow.ts:name`, as in other tools. */
const IN_FILE = /^(.+\.(?:[cm]?[jt]s|ya?ml)):([^:\\/]+)$/;

const isFile = (text: string): boolean => [...MODULES, ...YAML].includes(extname(text.split("#")[0] ?? ""));

/** Command-line options for reading a workflow file. */
export type Said = NonNullable<Parameters<typeof readYaml>[1]["said"]>;

/** Finds workflows by file (`flow.ts`, `flow.ts#name`) or by name. */
export class Workflows {
  readonly #settings: Settings;
  readonly #host: Surroundings;
  readonly #given: Parameters<typeof readYaml>[1];

  /** `onEnd` receives functions to call once the workflows aren't needed any more. */
  constructor(
    settings: Settings,
    host: Surroundings,
    onEnd: (end: () => Promise<void>) => void = () => undefined,
    said: Said = {},
  ) {
    this.#settings = settings;
    this.#host = host;
    this.#given = { values: settings.values, root: settings.root, env: host.env, onEnd, said };
  }

  /** Finds the workflow named after `run`. */
  async find(text: string): Promise<Code> {
    if (isFile(text)) return this.fromFile(text, this.#host.cwd);
    const found = await this.#configured(text);
    if (found) return found;
    const known = (await this.#listed()).map(({ workflow }) => workflow.name);
    const [, file, inside] = IN_FILE.exec(text) ?? [];
    if (file !== undefined)
      throw new HoldfastError("HF-4308", {
        name: text,
        why: "A workflow in a file is written as file#name.",
        fix: `holdfast run ${file}#${inside}`,
      });
    if (existsSync(resolve(this.#host.cwd, text)))
      throw new HoldfastError("HF-4308", {
        name: text,
        why: `It is a file or folder, but workflow files end in ${[...MODULES, ...YAML].join(", ")}.`,
        fix: "holdfast run <file.ts>, with the name of a file that exports a workflow, or of a YAML workflow",
      });
    throw new HoldfastError("HF-4308", {
      name: text,
      why:
        known.length === 0
          ? "The configuration lists none."
          : `The configuration lists: ${known.join(", ")}.`,
      fix:
        known.length === 0
          ? `Name its file: holdfast run <file.ts>\nOr list it under workflows in holdfast.config.ts.`
          : `holdfast run ${nearest(text, known)}`,
    });
  }

  /**
   * The code of a stored run: the given file, or the one it was started from, or what the configuration lists. A YAML
   * run continues with the file as it was at its start.
   */
  async ofRun(stored: Stored, wanted: Wanted = {}): Promise<Code> {
    const { file: remembered, onFailure } = await readOrigin(stored.store, stored.run.id);
    const code = await this.#codeOf(stored, wanted, remembered);
    return this.withOnFailure(code, onFailure);
  }

  async #codeOf(
    { run, memory }: Stored,
    { file, changed = false }: Wanted,
    remembered?: string,
  ): Promise<Code> {
    if (file !== undefined) return this.fromFile(`${file}#${run.workflow}`, this.#host.cwd);
    if (!changed && remembered !== undefined && isYaml(remembered)) {
      const saved = await restoreYaml(await memory(), this.#given);
      if (saved) return { ...saved, all: [saved.workflow], file: resolve(this.#settings.root, remembered) };
    }
    const { root } = this.#settings;
    const migrated = knownCode(root, run.workflow, run.version);
    if (migrated !== undefined) return this.fromFile(`${migrated}#${run.workflow}`, root);
    if (remembered !== undefined && existsSync(resolve(root, remembered)))
      return this.fromFile(`${remembered}#${run.workflow}`, root);
    const found = await this.#configured(run.workflow);
    if (found) return found;
    if (isSavedByProgram(run.workflow)) throw new HoldfastError("HF-4508", { run: run.id });
    const why =
      remembered === undefined
        ? `It was started by a program, and the configuration lists no workflow ${run.workflow}.`
        : `It was started from ${remembered}, which no longer exists.`;
    throw new HoldfastError("HF-4310", { run: run.id, workflow: run.workflow, why });
  }

  /** The code with its handling of a failed run: from the start command, its file, or the configuration. */
  withOnFailure(code: Code, said: OnFailure | undefined): Code {
    const { workflow, yaml } = code;
    const how = said ?? yaml?.checkpoint.onFailure ?? this.#settings.values.on_failure;
    if (how === "continue" && yaml?.checkpoint.onFailure !== "continue")
      throw new HoldfastError("HF-4309", {
        file: workflow.name,
        problem: "it can't continue after a failure",
        why: "Only a YAML workflow can take another route, and its file must say so.",
        fix: "Catch the error in the workflow, or set on_failure: continue in the YAML file.",
      });
    const changed = { ...workflow, compensateOnFailure: how === "rollback" || workflow.compensateOnFailure };
    return { ...code, workflow: changed, all: code.all.map((one) => (one === workflow ? changed : one)) };
  }

  /** How a file is stored with a run: relative to the project if inside, so that both can move. */
  remembered(file: string): string {
    const inside = relative(this.#settings.root, file);
    return inside.startsWith("..") || isAbsolute(inside) ? file : inside.replaceAll("\\", "/");
  }

  /** The workflow that is named, or the only one, or any. */
  async fromFile(text: string, base: string, unnamed: "only" | "any" = "only"): Promise<Code> {
    const [path = "", name] = text.split("#");
    const file = resolve(base, path);
    const codes = await this.#codesIn(file);
    const names = codes.map(({ workflow }) => workflow.name);
    const found =
      name === undefined
        ? unnamed === "any"
          ? codes[0]
          : only(codes)
        : codes.find(({ workflow }) => workflow.name === name);
    if (found) return found;
    const which = `${path}#${name === undefined ? names[0] : nearest(name, names)}`;
    throw new HoldfastError("HF-4309", {
      file: path,
      problem: name === undefined ? "it has several workflows" : `it has no workflow ${name}`,
      why: `It has: ${names.join(", ")}.`,
      fix: `holdfast run ${which}`,
    });
  }

  async #codesIn(file: string): Promise<readonly Code[]> {
    if (isYaml(file)) {
      const code = await readYaml(file, this.#given);
      return [{ ...code, all: [code.workflow], file }];
    }
    const onSlow = (line: string): void => {
      const { stderr } = this.#host;
      const room = stderr?.isTTY ? Math.max(20, stderr.columns - 3) : Number.POSITIVE_INFINITY;
      stderr?.write(`! ${wrap(line, room).join("\n  ")}\n`);
    };
    const all = [...new Set(Object.values(await loadModule(file, { onSlow })).filter(isWorkflow))];
    if (all.length > 0) return all.map((workflow) => ({ workflow, all, file }));
    throw new HoldfastError("HF-4309", {
      file: relative(this.#host.cwd, file),
      problem: "it exports no workflow",
      why: "Export what workflow(…) returns, under any name.",
      fix: 'export const hello = workflow("hello", async (ctx, input) => { … });',
    });
  }

  async #configured(name: string): Promise<Code | undefined> {
    return (await this.#listed()).find(({ workflow }) => workflow.name === name);
  }

  /** Every workflow that the configuration lists. */
  async #listed(): Promise<readonly Code[]> {
    const listed: Code[] = [];
    for (const one of this.#settings.values.workflows ?? []) {
      if (typeof one !== "string")
        listed.push({ workflow: one as Workflow, all: [one as Workflow], file: undefined });
      else listed.push(...(await this.#codesIn(resolve(this.#settings.root, one))));
    }
    return listed;
  }
}

const only = (codes: readonly Code[]): Code | undefined => (codes.length === 1 ? codes[0] : undefined);
