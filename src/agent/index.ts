export {
  type JsonSchema,
  type Message,
  ModelError,
  type ModelErrorDetail,
  type ModelErrorKind,
  type ModelProvider,
  type ModelReply,
  type ModelRequest,
  type Reasoning,
  type ToolCall,
  type ToolSpec,
} from "./model.ts";
export type { ModelPrice } from "./model-calls.ts";
export {
  type AgentResult,
  type AgentSpec,
  type AgentUsage,
  runAgent,
} from "./run-agent.ts";
export { checkSchema, problemsOf } from "./schema.ts";
export type { Script, ScriptedReply } from "./script.ts";
export { type ScriptedCall, type ScriptedOptions, scriptedProvider } from "./scripted.ts";
export { type AgentTool, type ToolError, type ToolRun, toolError } from "./tool.ts";
