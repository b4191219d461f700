import { didYouMean } from "../core/nearest.ts";
import type { Unit } from "./graph.ts";
import type { Path, Problems } from "./problems.ts";
import type { AnyAgent, Route } from "./schema/agents.ts";
import type { WorkflowFile } from "./schema/workflow.ts";
import { analyse } from "./template/analyse.ts";
import { parseTemplate } from "./template/parse.ts";
import { conditionProblem, isTemplate } from "./template/template.ts";

const ALWAYS = ["workflow", "context"];
const OF_WORKFLOW = ["input", "name", "dir", "file", "description"];
const OF_CONTEXT = ["iteration", "history"];
const OF_GROUP = ["outputs", "errors", "count", "type"];

/** Checks every template of a workflow against the names that exist. */
export function checkReferences(
  spec: WorkflowFile,
  units: ReadonlyMap<string, Unit>,
  problems: Problems,
): void {
  const check = new Check(spec, units, problems);
  for (const [index, agent] of spec.agents.entries()) check.agent(agent, ["agents", index], []);
  for (const [index, group] of spec.for_each.entries()) {
    const loop = [group.as, "_index", ...(group.key_by ? ["_key"] : [])];
    check.agent(group.agent, ["for_each", index, "agent"], loop);
    check.source(group.source, ["for_each", index, "source"]);
    check.routes(group.routes, ["for_each", index]);
  }
  for (const [index, group] of spec.parallel.entries()) {
    check.routes(group.routes, ["parallel", index]);
    check.siblings(group.agents, group.name);
  }
  for (const [key, template] of Object.entries(spec.output)) check.template(template, ["output", key]);
  for (const [key, template] of Object.entries(spec.workflow.hooks ?? {}))
    if (template) check.template(template, ["workflow", "hooks", key], ["result", "error"]);
  // Nothing has run when a run gets its key.
  const key = spec.workflow.start?.key;
  if (key) new Check(spec, new Map(), problems).template(key, ["workflow", "start", "key"]);
}

class Check {
  readonly #spec: WorkflowFile;
  readonly #units: ReadonlyMap<string, Unit>;
  readonly #problems: Problems;

  constructor(spec: WorkflowFile, units: ReadonlyMap<string, Unit>, problems: Problems) {
    this.#spec = spec;
    this.#units = units;
    this.#problems = problems;
  }

  agent(agent: AnyAgent, path: Path, loop: readonly string[]): void {
    for (const [at, template] of templatesOf(agent)) this.template(template, [...path, ...at], loop);
    for (const [index, reference] of agent.input.entries())
      this.#input(reference, [...path, "input", index], loop);
    if (agent.type === "questions" && agent.source) this.source(agent.source, [...path, "source"]);
    if (agent.type !== "terminate") this.routes(agent.routes, path);
  }

  routes(routes: readonly Route[], path: Path): void {
    for (const [index, { when, output = {} }] of routes.entries()) {
      const at = [...path, "routes", index];
      if (when && isTemplate(when)) this.template(when, [...at, "when"], ["output"]);
      else if (when) {
        const problem = conditionProblem(when);
        if (problem !== undefined)
          this.#problems.error([...at, "when"], `The condition does not parse: ${problem}.`);
      }
      for (const [key, template] of Object.entries(output))
        this.template(template, [...at, "output", key], ["output"]);
    }
  }

  template(template: string, path: Path, also: readonly string[] = []): void {
    if (!isTemplate(template)) return;
    const parsed = parseTemplate(template);
    if ("problem" in parsed)
      return this.#problems.error(path, `The template does not parse: ${parsed.problem}.`);
    const { roots, paths, problems } = analyse(parsed.body);
    const isLong = template.trimEnd().includes("\n");
    for (const [problem, line] of problems)
      this.#problems.error(path, isLong ? `${problem} (line ${line} of the template)` : problem);
    for (const root of roots)
      if (!ALWAYS.includes(root) && !this.#units.has(root) && !also.includes(root))
        this.#problems.error(
          path,
          `The template asks for ${root}, which doesn't exist.${didYouMean(root, [...ALWAYS, ...this.#units.keys(), ...also])}`,
        );
    for (const one of paths) if (!also.includes(one[0] as string)) this.#path(one, path);
  }

  #path([root = "", ...rest]: readonly string[], path: Path): void {
    const refuse = (name: string, known: readonly string[], of: string): void => {
      if (!known.includes(name))
        this.#problems.error(path, `${of} has no ${name}.${didYouMean(name, known)}`);
    };
    const [first, second] = rest;
    if (first === undefined) return;
    if (root === "workflow") {
      refuse(first, OF_WORKFLOW, "workflow");
      const inputs = Object.keys(this.#spec.workflow.input);
      if (first === "input" && second !== undefined && inputs.length > 0)
        refuse(second, inputs, "workflow.input");
    }
    if (root === "context") refuse(first, OF_CONTEXT, "context");
    const unit = this.#units.get(root);
    if (unit?.kind === "agent") {
      refuse(first, ["output"], `Agent ${root}`);
      if (second !== undefined) this.#field(unit.agent, second, path);
    } else if (unit) refuse(first, OF_GROUP, `Group ${root}`);
  }

  /** An output may hold undeclared fields, but an undeclared field is usually a typo. */
  #field(agent: AnyAgent, field: string, path: Path): void {
    if (agent.type !== "agent") return;
    const known = agent.output ? Object.keys(agent.output) : ["result"];
    if (known.length > 0 && !known.includes(field))
      this.#problems.warning(
        path,
        `The output of ${agent.name} declares no ${field}.${didYouMean(field, known)}`,
      );
  }

  #input(reference: string, path: Path, loop: readonly string[]): void {
    const [root = "", second, third] = reference.replace(/\?$/, "").split(".");
    if (second === undefined)
      return this.#problems.error(
        path,
        `${reference} must be a path such as planner.output or workflow.input.topic.`,
      );
    if (root === "workflow")
      return this.#path(["workflow", second, ...(third === undefined ? [] : [third])], path);
    if (!this.#units.has(root) && !loop.includes(root))
      this.#problems.error(
        path,
        `There is no agent or group ${root}.${didYouMean(root, [...this.#units.keys(), ...loop])}`,
      );
  }

  source(source: string, path: Path): void {
    this.#input(source, path, []);
  }

  /** Members of a group run at the same time, so none sees another's output. */
  siblings(members: readonly string[], group: string): void {
    const names = new Set(members);
    for (const name of names) {
      const unit = this.#units.get(name);
      if (unit?.kind !== "agent") continue;
      for (const [path, roots] of this.#rootsOf(unit.agent)) {
        const other = roots.find((root) => names.has(root));
        if (other !== undefined)
          this.#problems.error(path, `${other} runs at the same time in ${group}: ${name} cannot see it.`);
      }
    }
  }

  readonly #roots = new Map<AnyAgent, readonly (readonly [Path, readonly string[]])[]>();

  /** The names that an agent's templates use, computed once no matter how many groups the agent is in. */
  #rootsOf(agent: AnyAgent): readonly (readonly [Path, readonly string[]])[] {
    const known = this.#roots.get(agent);
    if (known) return known;
    const index = this.#spec.agents.indexOf(agent);
    const found = [...templatesOf(agent)].flatMap(([at, template]) => {
      const parsed = isTemplate(template) ? parseTemplate(template) : undefined;
      if (!parsed || "problem" in parsed) return [];
      return [[["agents", index, ...at], analyse(parsed.body).roots] as const];
    });
    this.#roots.set(agent, found);
    return found;
  }
}

/** The templates of an agent, with their paths. Routes are left out because they see more. */
function* templatesOf(agent: AnyAgent): Generator<readonly [Path, string]> {
  for (const key of PLAIN) {
    const given = (agent as Readonly<Record<string, unknown>>)[key];
    if (typeof given === "string") yield [[key], given];
  }
  for (const key of MAPPED) {
    const given = (agent as Readonly<Record<string, unknown>>)[key];
    if (typeof given !== "object" || given === null) continue;
    for (const [name, template] of Object.entries(given))
      if (typeof template === "string") yield [[key, Array.isArray(given) ? Number(name) : name], template];
  }
  if (agent.type === "agent" && agent.reasoning) yield [["reasoning", "effort"], agent.reasoning.effort];
  if (agent.type !== "questions") return;
  for (const [index, { text, hint, choices }] of (agent.questions ?? []).entries()) {
    yield [["questions", index, "text"], text];
    if (hint) yield [["questions", index, "hint"], hint];
    for (const [place, choice] of (choices ?? []).entries())
      yield [["questions", index, "choices", place], choice];
  }
}

const PLAIN = [
  "prompt",
  "system_prompt",
  "model",
  "working_dir",
  "command",
  "stdin",
  "value",
  "duration",
  "reason",
];
const MAPPED = ["args", "values", "input_mapping", "output_template"];
