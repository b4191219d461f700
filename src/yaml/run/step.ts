import { HoldfastError } from "../../core/errors.ts";
import { type InputFields, parseInputs } from "../inputs.ts";
import { checkOutput, mapped } from "../output.ts";
import type { AgentOf, AnyAgent } from "../schema/agents.ts";
import { render } from "../template/template.ts";
import type { Plain } from "../template/value.ts";
import { runModelAgent } from "./agent.ts";
import { askGate, runScript, setValue, wait } from "./local.ts";
import { type FlowRun, metaOf } from "./machine.ts";
import { askQuestions } from "./questions.ts";
import { listAt } from "./source-list.ts";
import { FlowState } from "./state.ts";

export interface Executed {
  readonly output: unknown;
  readonly next?: string;
}

/** The values that an agent's templates may use. */
export const seenBy = ({ state, flow }: FlowRun, agent: AnyAgent): Plain =>
  state.seenBy(agent.input, flow.spec.workflow.context.mode, agent.type !== "agent");

/** Runs an agent outside of groups, as steps of the run. */
export async function executeAgent(
  run: FlowRun,
  agent: Exclude<AnyAgent, { type: "terminate" }>,
): Promise<Executed> {
  switch (agent.type) {
    case "agent":
      return { output: await runModelAgent(run, agent, seenBy(run, agent)) };
    case "human_gate":
      return askGate(run, agent, run.state.all());
    case "questions": {
      const source = agent.source ? listAt(run, agent.source, agent.name) : [];
      const output = await askQuestions(run, agent, run.state.all(), source);
      return output["outcome"] === "aborted" ? { output, next: agent.abort_route ?? "$end" } : { output };
    }
    case "script":
      return { output: await runScript(run, agent, seenBy(run, agent)) };
    case "set": {
      const data = seenBy(run, agent);
      return { output: await run.ctx.step(agent.name, () => setValue(agent, data)) };
    }
    case "wait":
      return { output: await wait(run, agent, seenBy(run, agent)) };
    case "workflow": {
      const data = seenBy(run, agent);
      return { output: await run.ctx.step(agent.name, () => runSub(run, agent, data), { retry: false }) };
    }
  }
}

const MOST_DEPTH = 10;

/** Runs a workflow inside another: its steps belong to the same run, under the agent that starts it. */
export async function runSub(run: FlowRun, agent: AgentOf<"workflow">, data: Plain): Promise<Plain> {
  const flow = run.flow.subs.get(agent);
  const [depth, limit] = [run.depth + 1, Math.min(agent.max_depth ?? MOST_DEPTH, MOST_DEPTH)];
  if (!flow || depth > limit) throw new HoldfastError("HF-4013", { step: agent.name, depth, limit });
  const { input } = flow.spec.workflow;
  const inputs = parseInputs(input, givenTo(agent, input, data));
  const output = await run.enter({
    ...run,
    flow,
    depth,
    state: new FlowState(inputs, metaOf(flow, run.machine)),
    instructions: [...run.instructions, ...flow.instructions],
  });
  checkOutput(agent.name, agent.output, output);
  return output;
}

/** The mapped inputs; without a mapping, the outer workflow's inputs that this one declares. */
function givenTo(agent: AgentOf<"workflow">, fields: InputFields, data: Plain): Plain {
  if (agent.input_mapping) {
    return Object.fromEntries(
      Object.entries(agent.input_mapping).map(([key, template]) => {
        const place = `${agent.name}.input_mapping.${key}`;
        const text = render(template, data, place);
        const isText = Object.hasOwn(fields, key) && fields[key]?.type === "string";
        return [key, isText ? text : mapped(text, place)];
      }),
    );
  }
  const outer = (data["workflow"] as { input: Plain }).input;
  const isOpen = Object.keys(fields).length === 0;
  return Object.fromEntries(Object.entries(outer).filter(([key]) => isOpen || Object.hasOwn(fields, key)));
}
