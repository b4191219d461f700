export type { CheckpointSettings } from "./checkpoint.ts";
export type { Inputs } from "./compile.ts";
export { type Executes, executesOf } from "./executes.ts";
export type { Graph, GraphEdge, GraphNode } from "./graph.ts";
export type { InputSpec } from "./inputs.ts";
export {
  type CheckOptions,
  type CheckResult,
  checkWorkflow,
  type LoadOptions,
  loadWorkflow,
  restoreWorkflow,
  type YamlWorkflow,
} from "./load.ts";
export { type Problem, problemText } from "./problems.ts";
export type { ProviderSettings, ProviderSource } from "./providers.ts";
export type { McpServer, ScriptRequest, ScriptResult, ScriptRunner } from "./run/machine.ts";
export type { InputField } from "./schema/fields.ts";
export { type ScriptOptions, scriptRunner } from "./script.ts";
export { DEFINITION_KEY, type Definition } from "./source.ts";
export type { McpConnect } from "./tools.ts";
