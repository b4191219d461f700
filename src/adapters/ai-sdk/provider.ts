import type { ModelProvider, ModelRequest } from "../../agent/model.ts";
import { checkObject } from "../../core/check-options.ts";
import { HoldfastError } from "../../core/errors.ts";
import { modelError } from "./failure.ts";
import type { Generated, LanguageModel } from "./language-model.ts";
import { callOptions, replyOf } from "./prompt.ts";

/**
 * Uses AI SDK models as a provider for agents: one that answers for any model name, or several by name. Each is called
 * once per step: retries, tools and the loop belong to the agent, so that they are durable.
 *
 * @example
 * ```ts
 * import { createOpenAI } from "@ai-sdk/openai";
 * import { aiSdkProvider } from "holdfast/adapters/ai-sdk";
 *
 * const openai = createOpenAI({ apiKey: "…" });
 * export const provider = aiSdkProvider({ fast: openai("gpt-5-mini"), careful: openai("gpt-5") });
 * ```
 */
export function aiSdkProvider(
  models: LanguageModel | Readonly<Record<string, LanguageModel>>,
): ModelProvider {
  if (typeof models !== "function") checkObject("models", models, "a model, or models by name");
  const named = isModel(models) ? undefined : new Map(Object.entries(models));
  for (const [name, model] of named ?? [["", models as LanguageModel]]) checkModel(name, model);
  return {
    name: "ai-sdk",
    async generate(request) {
      const model = named ? named.get(request.model) : (models as LanguageModel);
      if (model) return askModel(model, request);
      const known = [...(named?.keys() ?? [])].join(", ");
      throw new HoldfastError("HF-4106", {
        model: request.model,
        problem: "there is none of that name",
        known,
      });
    },
  };
}

const isModel = (value: object): value is LanguageModel =>
  "doGenerate" in value && typeof value.doGenerate === "function";

const UNDERSTOOD = ["v3", "v4"];

export function checkModel(name: string, model: unknown): asserts model is LanguageModel {
  const isObject = typeof model === "object" && model !== null;
  const version = isObject && isModel(model) ? model.specificationVersion : undefined;
  if (version !== undefined && UNDERSTOOD.includes(version)) return;
  const problem =
    version === undefined
      ? "it is not a language model of the AI SDK"
      : `it speaks version ${version} of the model specification, and ${UNDERSTOOD.join(" and ")} are understood`;
  throw new HoldfastError("HF-4106", { model: name, problem, known: "models of AI SDK 6 and 7" });
}

/** Calls a model once. */
export async function askModel(
  model: LanguageModel,
  request: ModelRequest,
): ReturnType<ModelProvider["generate"]> {
  try {
    const generated = (await model.doGenerate(callOptions(model, request) as never)) as Generated;
    return replyOf(model, generated);
  } catch (error) {
    throw modelError(error, request.signal);
  }
}
