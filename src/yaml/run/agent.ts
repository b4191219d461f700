import type { AgentResult, AgentSpec } from "../../agent/agent-spec.ts";
import { runAgent } from "../../agent/run-agent.ts";
import type { AgentTool } from "../../agent/tool.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { RetryPolicy } from "../../core/options.ts";
import { outputSchema } from "../output.ts";
import { type AgentOf, isEffort } from "../schema/agents.ts";
import { render } from "../template/template.ts";
import type { Plain } from "../template/value.ts";
import { talkAbout } from "./dialog.ts";
import type { FlowRun } from "./machine.ts";

type ModelAgent = AgentOf<"agent">;

/** Runs a model agent. Every model call is saved, and so is the validator's verdict. */
export async function runModelAgent(run: FlowRun, agent: ModelAgent, data: Plain): Promise<unknown> {
  const spec = await specOf(run, agent, data);
  const seconds = Math.min(
    agent.timeout_seconds ?? Number.POSITIVE_INFINITY,
    agent.max_session_seconds ??
      run.flow.spec.workflow.runtime.max_session_seconds ??
      Number.POSITIVE_INFINITY,
  );
  if (!agent.validator && !agent.dialog && seconds === Number.POSITIVE_INFINITY) return ask(run, agent, spec);
  const limit = seconds === Number.POSITIVE_INFINITY ? {} : { timeoutMs: seconds * 1_000 };
  return run.ctx.step(agent.name, () => askAndCheck(run, agent, spec), { retry: false, ...limit });
}

async function askAndCheck(run: FlowRun, agent: ModelAgent, spec: AgentSpec): Promise<unknown> {
  const checked = await askUntilValid(run, agent, spec);
  if (!agent.dialog) return checked;
  const said = await talkAbout(run, agent, spec, agent.dialog.trigger_prompt, checked);
  return said === undefined ? checked : ask(run, agent, { ...spec, prompt: spec.prompt + said });
}

async function askUntilValid(run: FlowRun, agent: ModelAgent, spec: AgentSpec): Promise<unknown> {
  const first = await ask(run, agent, spec);
  if (!agent.validator) return first;
  const issues = await judge(run, agent, spec, first);
  if (issues.length === 0 || agent.validator.max_retries === 0) return first;
  return ask(run, agent, { ...spec, prompt: spec.prompt + feedback(issues) });
}

async function ask(run: FlowRun, agent: ModelAgent, spec: AgentSpec): Promise<unknown> {
  const session = agent.session_key ? (run.sessions.get(agent.session_key) ?? []) : undefined;
  const before = session && session.length > 0 ? { messages: session } : {};
  const result = await runAgent(run.ctx, agent.name, { ...spec, ...before });
  count(run, result);
  if (agent.session_key)
    run.sessions.set(agent.session_key, [
      ...(session ?? []),
      { role: "user", text: spec.prompt },
      { role: "assistant", text: result.text },
    ]);
  return spec.output ? result.output : { result: result.text };
}

function count({ ledger }: FlowRun, { usage }: AgentResult): void {
  ledger.costUsd += usage.costUsd ?? 0;
}

const hasSchema = ({ output, output_mode: mode }: ModelAgent): boolean =>
  mode !== "raw" && output !== null && output !== undefined && Object.keys(output).length > 0;

async function specOf(run: FlowRun, agent: ModelAgent, data: Plain): Promise<AgentSpec> {
  const { flow, machine } = run;
  const { runtime, checkpoint } = flow.spec.workflow;
  const at = (key: string): string => `${agent.name}.${key}`;
  const workingDir = agent.working_dir ?? runtime.working_dir;
  const where = workingDir ? render(workingDir, data, at("working_dir")) : undefined;
  const tools = await machine.toolsFor(flow, agent.name, agent.tools, where);
  const maxTurns = agent.max_agent_iterations ?? runtime.max_agent_iterations;
  const effort = agent.reasoning?.effort ?? runtime.default_reasoning_effort;
  const most = runtime.tool_output?.enabled === false ? undefined : runtime.tool_output?.max_chars;
  const model = agent.model ?? runtime.default_model ?? machine.model;
  return {
    provider: machine.provider(flow, agent),
    model: render(model, data, at("model")),
    prompt: [...skillsOf(run, agent), ...run.instructions, render(agent.prompt, data, at("prompt"))].join(
      "\n\n",
    ),
    visit: 1 + run.state.history.filter((name) => name === agent.name).length,
    prices: { ...machine.prices, ...pricesOf(run) },
    ...(agent.system_prompt ? { system: render(agent.system_prompt, data, at("system_prompt")) } : {}),
    ...(tools.length > 0
      ? { tools: most === undefined ? tools : tools.map((tool) => limited(tool, most)) }
      : {}),
    ...(hasSchema(agent) ? { output: outputSchema(agent.output ?? {}) } : {}),
    ...(effort
      ? { reasoning: reasoningOf(render(effort, data, at("reasoning.effort")), at("reasoning.effort")) }
      : {}),
    ...(typeof runtime.temperature === "number" ? { temperature: runtime.temperature } : {}),
    ...(typeof runtime.max_tokens === "number" ? { maxTokens: runtime.max_tokens } : {}),
    ...(typeof runtime.timeout === "number" ? { timeoutMs: runtime.timeout * 1_000 } : {}),
    ...(typeof maxTurns === "number" ? { maxTurns } : {}),
    ...(checkpoint.on_interrupted === "ask" ? { onInterrupt: "ask" as const } : {}),
    ...(agent.retry ? { retry: retryOf(agent.retry) } : {}),
    ...(typeof agent.retry?.max_parse_recovery_attempts === "number"
      ? { reask: agent.retry.max_parse_recovery_attempts }
      : {}),
  };
}

/** The texts of the agent's skills, or the workflow's when it names none. */
function skillsOf({ flow }: FlowRun, { skills }: ModelAgent): string[] {
  const named = skills ?? flow.spec.workflow.runtime.skills ?? [];
  const texts = named.map((entry) => {
    const name = entry
      .replace(/[/\\]+$/, "")
      .split(/[/\\]/)
      .at(-1);
    return `<skill name="${name}">\n${flow.skills.get(entry) ?? ""}\n</skill>`;
  });
  return texts.length === 0 ? [] : [`<skills>\n${texts.join("\n")}\n</skills>`];
}

function pricesOf({ flow }: FlowRun): AgentSpec["prices"] & object {
  return Object.fromEntries(
    Object.entries(flow.spec.workflow.cost.pricing).map(([model, price]) => [
      model,
      { input: price.input_per_mtok, output: price.output_per_mtok },
    ]),
  );
}

function reasoningOf(effort: string, place: string): "low" | "medium" | "high" {
  if (!isEffort(effort))
    throw new HoldfastError("HF-4016", { place, value: effort, expected: "low, medium, high, xhigh or max" });
  return effort === "xhigh" || effort === "max" ? "high" : effort;
}

const CAP_MS = 30_000;

function retryOf(retry: NonNullable<ModelAgent["retry"]>): RetryPolicy {
  const baseMs = retry.delay_seconds * 1_000;
  const maxMs = Math.max(CAP_MS, baseMs);
  return {
    attempts: retry.max_attempts,
    baseMs,
    factor: retry.backoff === "fixed" ? 1 : 2,
    maxMs,
    maxWaitMs: maxMs * retry.max_attempts,
  };
}

/** Wraps a tool so that its results are truncated to the file's limit. */
function limited(tool: AgentTool, most: number): AgentTool {
  return {
    ...tool,
    async run(input: never, call) {
      const result = await tool.run(input, call);
      if (typeof result !== "string" || result.length <= most) return result;
      return `${result.slice(0, most)}\n[The rest of ${result.length} characters is left out.]`;
    },
  };
}

const VERDICT = {
  type: "object",
  properties: { passed: { type: "boolean" }, issues: { type: "array", items: { type: "string" } } },
  required: ["passed", "issues"],
} as const;

const MOST_OF_PROMPT = 6_000;
const MOST_OF_OUTPUT = 8_000;
const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most)}… [cut]`;

/** Asks a second model what is wrong with an answer. If that model fails, the answer is accepted. */
async function judge(
  run: FlowRun,
  agent: ModelAgent,
  spec: AgentSpec,
  answer: unknown,
): Promise<readonly string[]> {
  const { criteria = "", model } = agent.validator ?? {};
  const { tools: _, output: __, reasoning: ___, ...same } = spec;
  try {
    const verdict = await runAgent<{ passed: boolean; issues: string[] }>(
      run.ctx,
      `${agent.name} (validator)`,
      {
        ...same,
        model: model ?? spec.model,
        system: `You check the work of another agent against criteria. Say whether every one of them is met, and name each problem so that it can be mended.\n\nCriteria:\n${criteria}`,
        prompt: `The agent ${agent.name} was given this task:\n<task>\n${cut(spec.prompt, MOST_OF_PROMPT)}\n</task>\n\nIt answered:\n<answer>\n${cut(JSON.stringify(answer, undefined, 2), MOST_OF_OUTPUT)}\n</answer>`,
        output: VERDICT,
      },
    );
    count(run, verdict);
    const { passed, issues } = verdict.output;
    if (passed) return [];
    run.ctx.decide({
      agent: agent.name,
      type: "validation",
      description: "the answer did not pass",
      rationale: issues.join("; "),
    });
    return issues.length > 0 ? issues : ["It does not meet the criteria."];
  } catch (error) {
    if (run.ctx.abortSignal.aborted) throw error;
    const rationale = error instanceof Error ? error.message : String(error);
    run.ctx.decide({
      agent: agent.name,
      type: "validation",
      description: "the validator failed; the answer stands",
      rationale,
    });
    return [];
  }
}

const feedback = (issues: readonly string[]): string =>
  `\n\n## Validation feedback\nYour last answer didn't pass. Fix this and answer again:\n${issues.map((issue) => `- ${issue}`).join("\n")}\n`;
