import { HoldfastError } from "../core/errors.ts";
import { type ParseOptions, parseYaml } from "./parse.ts";
import { inOrder, type Path, Positions, type Problem, Problems, TooManyProblems } from "./problems.ts";
import type { AnyAgent } from "./schema/agents.ts";
import { readSchema } from "./schema/read.ts";
import type { WorkflowFile } from "./schema/workflow.ts";
import { FileProblem, type FileText } from "./source.ts";
import { eachAgent, validate } from "./validate.ts";

/** A workflow file that has been read and checked, with everything it refers to. */
export interface Flow {
  /** Its file. A workflow written inside another has the other's file. */
  readonly file: string;
  readonly spec: WorkflowFile;
  /** The texts of its instruction files. */
  readonly instructions: readonly string[];
  /** The texts of its skills, by folder as named in the file. */
  readonly skills: ReadonlyMap<string, string>;
  /** The sub-workflows of its agents. */
  readonly subs: ReadonlyMap<AnyAgent, Flow>;
}

export interface Checked {
  readonly flow?: Flow;
  readonly problems: readonly Problem[];
}

/** The workflow and those inside it, each once, always in the same order. */
export function* everyFlow(flow: Flow, seen = new Set<Flow>()): Generator<Flow> {
  if (seen.has(flow)) return;
  seen.add(flow);
  yield flow;
  for (const sub of flow.subs.values()) yield* everyFlow(sub, seen);
}

/** Reads and checks a workflow file and every file it names. */
export async function readFlow(main: FileText, options: ParseOptions): Promise<Checked> {
  const reading = new Reading(options);
  const flow = await reading.file(main);
  const problems = inOrder(reading.problems);
  return flow && !problems.some(({ severity }) => severity === "error") ? { flow, problems } : { problems };
}

class Reading {
  readonly problems: Problem[] = [];
  readonly #options: ParseOptions;
  /** A workflow may start itself, so each file is read once. */
  readonly #flows = new Map<string, Flow | undefined>();

  constructor(options: ParseOptions) {
    this.#options = options;
  }

  async file(file: FileText): Promise<Flow | undefined> {
    if (this.#flows.has(file.name)) return this.#flows.get(file.name);
    this.#flows.set(file.name, undefined);
    const positions = new Positions(file.name);
    const problems = new Problems(positions);
    try {
      const data = await parseYaml(file, positions, problems, this.#options);
      return problems.failed ? undefined : await this.#flow(data, problems, file.name);
    } catch (error) {
      if (HoldfastError.is(error, "HF-1040")) problems.last([], `${error.message} ${error.fix}`);
      else if (!(error instanceof TooManyProblems)) throw error;
      return undefined;
    } finally {
      this.problems.push(...problems.found);
    }
  }

  async #flow(data: unknown, problems: Problems, file: string): Promise<Flow | undefined> {
    const spec = readSchema(data, problems);
    if (!spec) return undefined;
    await this.#options.pause?.();
    validate(spec, problems);
    await this.#options.pause?.();
    const subs = new Map<AnyAgent, Flow>();
    const skills = this.#skills(spec, file, problems);
    const flow: Flow = { file, spec, instructions: this.#instructions(spec, file, problems), skills, subs };
    if (!this.#flows.get(file)) this.#flows.set(file, flow);
    for (const [path, agent] of eachAgent(spec)) {
      if (agent.type !== "workflow") continue;
      const at = [...path, "workflow"];
      const sub =
        typeof agent.workflow === "string"
          ? await this.#reference(agent.workflow, at, file, problems)
          : await this.#flow(agent.workflow, problems.below(at), file);
      if (!sub) continue;
      subs.set(agent, sub);
      warnLimits(sub, at, problems);
      checkMapping(agent, sub, path, problems);
    }
    return flow;
  }

  async #reference(
    reference: string,
    path: Path,
    from: string,
    problems: Problems,
  ): Promise<Flow | undefined> {
    const file = this.#read(reference, path, from, problems);
    if (!file) return undefined;
    const flow = await this.file(file);
    if (!flow && !this.problems.some((one) => one.file === file.name))
      problems.error(path, `${reference} is not a valid workflow.`);
    return flow;
  }

  #read(reference: string, path: Path, from: string, problems: Problems): FileText | undefined {
    try {
      this.#options.budget.spend("reads");
      return this.#options.files.read(reference, from);
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      problems.error(path, `${error.message}.`);
      return undefined;
    }
  }

  #skills(spec: WorkflowFile, from: string, problems: Problems): Map<string, string> {
    const skills = new Map<string, string>();
    const read = (entries: readonly string[] | null | undefined, path: Path): void => {
      for (const [index, entry] of (entries ?? []).entries()) {
        const at = [...path, "skills", index];
        if (skills.has(entry)) continue;
        if (!isFolder(entry)) {
          problems.error(
            at,
            `The skill ${entry} comes with Conductor; name a folder with a SKILL.md, such as ./skills/${entry}.`,
          );
          continue;
        }
        const file = this.#read(`${entry.replace(/\/+$/, "")}/SKILL.md`, at, from, problems);
        if (!file) continue;
        this.#options.budget.spend("bytes", file.text.length);
        skills.set(entry, file.text.trim());
      }
    };
    read(spec.workflow.runtime.skills, ["workflow", "runtime"]);
    for (const [path, agent] of eachAgent(spec)) if (agent.type === "agent") read(agent.skills, path);
    return skills;
  }

  #instructions(spec: WorkflowFile, from: string, problems: Problems): string[] {
    return spec.workflow.instructions.flatMap((reference, index) => {
      const file = this.#read(reference, ["workflow", "instructions", index], from, problems);
      if (file) this.#options.budget.spend("bytes", file.text.length);
      return file ? [file.text.trim()] : [];
    });
  }
}

/** Distinguishes folders from names by the dialect's rule. */
const isFolder = (entry: string): boolean => /^[.~]|[/\\]/.test(entry);

/** Warns about limits in sub-workflows: time and money are limited for a run as a whole. */
function warnLimits({ spec: { workflow } }: Flow, path: Path, problems: Problems): void {
  const { timeout_seconds: seconds, budget_usd: usd } = workflow.limits;
  if (typeof seconds !== "number" && typeof usd !== "number") return;
  problems.warning(
    path,
    `timeout_seconds and budget_usd of ${workflow.name} do not hold here: those of the outermost workflow do.`,
  );
}

function checkMapping(
  agent: {
    readonly name: string;
    readonly input_mapping?: Readonly<Record<string, string>> | null | undefined;
  },
  sub: Flow,
  path: Path,
  problems: Problems,
): void {
  if (!agent.input_mapping) return;
  const inputs = sub.spec.workflow.input;
  for (const key of Object.keys(agent.input_mapping))
    if (Object.keys(inputs).length > 0 && !Object.hasOwn(inputs, key))
      problems.error([...path, "input_mapping", key], `${sub.spec.workflow.name} has no input ${key}.`);
  for (const [key, { required, default: fallback }] of Object.entries(inputs))
    if (required && fallback === undefined && !Object.hasOwn(agent.input_mapping, key))
      problems.error([...path, "input_mapping"], `${sub.spec.workflow.name} needs the input ${key}.`);
}
