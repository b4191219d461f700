export type { ModelPrice } from "../core/prices.ts";
export type { AgentResult, AgentSpec, AgentUsage, HandedOver, Handoff } from "./agent-spec.ts";
export type { Compaction } from "./compaction.ts";
export type { AgentTools, SdkTool } from "./given-tools.ts";
export type { AgentMemory, MemoryRecord } from "./memory.ts";
export { messagesAt } from "./messages-at.ts";
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
export { type PromptInput, type PromptWorkflowOptions, promptWorkflow } from "./prompt-workflow.ts";
export { runAgent } from "./run-agent.ts";
export { checkSchema, problemsOf } from "./schema.ts";
export type { Script, ScriptedReply } from "./script.ts";
export { type ScriptedCall, type ScriptedOptions, scriptedProvider } from "./scripted.ts";
export { type AgentTool, type ToolError, type ToolRun, toolError } from "./tool.ts";
export { type TranscriptOptions, transcript } from "./transcript.ts";
