export { type AiSdkOptions, type DurableOptions, durable, type PreparedStep } from "./durable.ts";
export { callOf, type DurableToolOptions } from "./durable-tools.ts";
export type { LanguageModel } from "./language-model.ts";
export { type ModelProvidersOptions, modelProviders, type ProviderSettings } from "./models.ts";
export { aiSdkProvider } from "./provider.ts";
