export type { LanguageModel } from "./language-model.ts";
export { type ModelProvidersOptions, modelProviders, type ProviderSettings } from "./models.ts";
export { aiSdkProvider } from "./provider.ts";
