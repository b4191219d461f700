export type { DurableToolOptions } from "../durable-tool-options.ts";
export {
  type ChatMessage,
  type ChatRequest,
  type ChatRoutes,
  type ChatRoutesOptions,
  chatRoutes,
} from "./chat-routes.ts";
export { type AiSdkOptions, type DurableOptions, durable, type PreparedStep } from "./durable.ts";
export { callOf } from "./durable-tools.ts";
export type { LanguageModel } from "./language-model.ts";
export { type ModelProvidersOptions, modelProviders, type ProviderSettings } from "./models.ts";
export { aiSdkProvider } from "./provider.ts";
export { saveUIMessages, uiMessageResponse } from "./ui-stream.ts";
