import { HoldfastError } from "../../core/errors.ts";
import { WAIT_RULE, waitMs } from "../duration.ts";
import { bound, checkOutput, fromJson } from "../output.ts";
import type { AgentOf } from "../schema/agents.ts";
import { render } from "../template/template.ts";
import { isPlain, type Plain } from "../template/value.ts";
import type { FlowRun, ScriptResult } from "./machine.ts";

/** Computes the value of a set step. It is computed from the state and makes no call. */
export function setValue(agent: AgentOf<"set">, data: Plain): unknown {
  const value = agent.values
    ? Object.fromEntries(
        Object.entries(agent.values).map(([key, template]) => {
          const place = `${agent.name}.values.${key}`;
          return [key, bound(render(template, data, place), "auto", place)];
        }),
      )
    : bound(
        render(agent.value ?? "", data, `${agent.name}.value`),
        agent.output_type ?? "auto",
        `${agent.name}.value`,
      );
  checkOutput(agent.name, agent.output, value);
  return value;
}

export async function wait({ ctx }: FlowRun, agent: AgentOf<"wait">, data: Plain): Promise<unknown> {
  const place = `${agent.name}.duration`;
  const given = render(String(agent.duration), data, place);
  const ms = waitMs(given);
  if (ms === undefined) throw new HoldfastError("HF-4016", { place, value: given, expected: WAIT_RULE });
  await ctx.sleep(agent.name, ms);
  return { waited_seconds: ms / 1_000 };
}

/** Runs a command. Its output and exit code are the step's outcome, whatever the exit code is. */
export async function runScript(
  { ctx, machine }: FlowRun,
  agent: AgentOf<"script">,
  data: Plain,
): Promise<unknown> {
  const at = (key: string): string => `${agent.name}.${key}`;
  const command = render(agent.command, data, at("command"));
  const args = agent.args.map((arg, index) => render(arg, data, at(`args[${index}]`)));
  const stdin = typeof agent.stdin === "string" ? { stdin: render(agent.stdin, data, at("stdin")) } : {};
  const workingDir = agent.working_dir
    ? { workingDir: render(agent.working_dir, data, at("working_dir")) }
    : {};
  const result = await ctx.step(
    agent.name,
    ({ key, signal }) =>
      machine.scripts({
        step: agent.name,
        command,
        args,
        env: { ...agent.env, HOLDFAST_IDEMPOTENCY_KEY: key },
        inherit: agent.inherit_env,
        signal,
        ...stdin,
        ...workingDir,
      }),
    {
      effect: agent.effect,
      input: { command, args, ...stdin },
      retry: false,
      ...(typeof agent.timeout === "number" ? { timeoutMs: agent.timeout * 1_000 } : {}),
    },
  );
  return scriptOutput(agent, result);
}

/**
 * Merges the fields of a JSON object that a script printed into its output. With a declared output, the script must
 * print one.
 */
function scriptOutput(agent: AgentOf<"script">, result: ScriptResult): unknown {
  const printed = fromJson(result.stdout, `${agent.name}.stdout`);
  if (agent.output && !isPlain(printed))
    throw new HoldfastError("HF-4007", {
      step: agent.name,
      problems: "it must print one JSON object and nothing else",
    });
  const output = isPlain(printed) ? { ...result, ...printed } : { ...result };
  checkOutput(agent.name, agent.output, output);
  return output;
}

/** Waits for a person, who chooses the route. */
export async function askGate(
  { ctx }: FlowRun,
  agent: AgentOf<"human_gate">,
  data: Plain,
): Promise<{ readonly output: unknown; readonly next: string }> {
  const options = agent.options.map(({ label, value, prompt_for: asksFor }) => ({
    value,
    label: render(label, data, `${agent.name}.options`),
    ...(asksFor ? { asks_for: asksFor } : {}),
  }));
  const answer = await ctx.gate(agent.name, {
    show: { prompt: render(agent.prompt, data, `${agent.name}.prompt`), options },
    choices: options.map(({ value }) => value),
    text: options.some((one) => "asks_for" in one),
  });
  const chosen = agent.options.find(({ value }) => value === answer.choice) ?? agent.options[0];
  const field = chosen?.prompt_for;
  return {
    output: {
      selected: answer.choice,
      additional_input: field ? { [field]: answer.text ?? "" } : {},
    },
    next: chosen?.route ?? "$end",
  };
}
