import type * as openAiAgents from "@openai/agents";
import { HoldfastError } from "../../core/errors.ts";
import { loadPackage } from "../load-package.ts";

export type Package = typeof openAiAgents;

/** The SDK, and the text that its tools return in place of an error. */
export interface Sdk {
  readonly agents: Package;
  readonly failureText: string;
}

let loading: Promise<Sdk> | undefined;

/** The OpenAI Agents SDK, loaded when it is first needed. */
export function agentsSdk(): Promise<Sdk> {
  loading ??= load();
  loading.catch(() => (loading = undefined));
  return loading;
}

async function load(): Promise<Sdk> {
  const agents = await loadPackage(
    "@openai/agents",
    "The adapter for OpenAI agents",
    () => import("@openai/agents"),
  );
  return { agents, failureText: await failureTextOf(agents) };
}

/**
 * Tools of the SDK swallow what they throw and return a text instead, unless they are told otherwise. That text is
 * asked for, not assumed: a failure that isn't recognised would count as a result.
 */
async function failureTextOf({ tool, RunContext }: Package): Promise<string> {
  const probe = tool({
    name: "probe",
    description: "Throws.",
    parameters: { type: "object", properties: {}, required: [], additionalProperties: false },
    strict: true,
    execute: () => Promise.reject(new Error("probe")),
  });
  const said: unknown = await probe.invoke(new RunContext() as never, "{}");
  if (typeof said === "string" && said !== "") return said;
  throw new HoldfastError("HF-4611", { problem: "a tool that throws returns no text" });
}
