import { costOf, MODEL_RETRY, modelLimits, refuseUnpriced } from "../../agent/model-calls.ts";
import type { StepCall, StepOptions } from "../../core/context.ts";
import { defined } from "../../core/defined.ts";
import { retryPolicy } from "../../core/run/retry.ts";
import { dataDigest } from "../../core/values/codec.ts";
import type { ModelCallSettings } from "../model-call-settings.ts";
import type { Hear, Talk } from "../talk.ts";
import { modelError } from "./failure.ts";
import type { LanguageModel } from "./language-model.ts";
import { collect, type SavedReply, type StreamPart, savedReply, streamOf } from "./saved-reply.ts";

/** The SDK's call options, as far as they are read here; the model gets all of them. */
interface CallOptions {
  readonly prompt: unknown;
  readonly tools?: unknown;
  readonly maxOutputTokens?: number;
  readonly abortSignal?: AbortSignal;
}

/** A full model of the AI SDK, with what is needed to stand in for it. */
interface FullModel extends LanguageModel {
  readonly supportedUrls?: unknown;
  doStream?(options: never): PromiseLike<unknown>;
}

/** A model whose every call is a step. It answers from the journal what it has answered before. */
export function durableModel(talk: Talk, model: LanguageModel, settings: ModelCallSettings): LanguageModel {
  const full: FullModel = model;
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    get supportedUrls() {
      return full.supportedUrls;
    },
    doGenerate: (options: CallOptions) =>
      ask(talk, model, settings, options, async (call, hear) => {
        const reply = savedReply(await model.doGenerate(merged(options, call) as never));
        return { ...reply, content: reply.content.map(hear) };
      }),
    async doStream(options: CallOptions) {
      return { stream: await streamed(talk, full, settings, options) };
    },
  } as LanguageModel;
}

/** The SDK's options with a signal that also ends when the run must stop. */
const merged = (options: CallOptions, { signal }: StepCall): CallOptions => ({
  ...options,
  abortSignal: options.abortSignal ? AbortSignal.any([options.abortSignal, signal]) : signal,
});

async function ask(
  talk: Talk,
  model: LanguageModel,
  { retry, timeoutMs, prices }: ModelCallSettings,
  options: CallOptions,
  call: (made: StepCall, hear: Hear) => Promise<SavedReply>,
): Promise<SavedReply> {
  const { ctx, name } = talk;
  const turn = talk.nextTurn();
  let isAsked = false;
  const work = async (made: StepCall): Promise<SavedReply> => {
    isAsked = true;
    try {
      const reply = await call(made, talk.listen(turn));
      const { inputTokens, outputTokens } = tokensOf(reply);
      const used = reply.response?.modelId ?? model.modelId;
      const costUsd = await costOf(ctx, { inputTokens, outputTokens }, [model.modelId, used], prices);
      ctx.usage({ tokens: inputTokens + outputTokens, model: used, ...defined({ costUsd }) });
      return reply;
    } catch (error) {
      throw modelError(error, made.signal);
    }
  };
  const how: StepOptions<SavedReply> = {
    effect: "repeatable",
    input: { model: model.modelId, prompt: dataDigest(JSON.parse(JSON.stringify(options.prompt))) },
    limit: modelLimits(
      { provider: model.provider.split(".")[0] ?? model.provider, model: model.modelId },
      { characters: JSON.stringify(options.prompt).length, maxTokens: options.maxOutputTokens },
    ),
    retry: retryPolicy(retry, MODEL_RETRY),
    ...defined({ timeoutMs }),
  };
  const reply = await talk.inScope(() => ctx.step(`${name}.${turn}.model`, work, how));
  const models = [model.modelId, reply.response?.modelId ?? ""];
  const known = await talk.inScope(() => costOf(ctx, tokensOf(reply), models, prices));
  await talk.inScope(() => refuseUnpriced(ctx, name, model.modelId, known));
  if (!isAsked) reply.content.forEach(talk.listen(turn));
  return reply;
}

const tokensOf = ({ usage }: SavedReply): { inputTokens: number; outputTokens: number } => ({
  inputTokens: usage?.inputTokens?.total ?? 0,
  outputTokens: usage?.outputTokens?.total ?? 0,
});

/**
 * A stream that is live the first time and comes from the journal afterwards. A call that fails before its first part
 * is tried again; one that is cut later has already been read, so the failure is final and a resume asks again.
 */
async function streamed(
  talk: Talk,
  model: FullModel,
  settings: ModelCallSettings,
  options: CallOptions,
): Promise<ReadableStream<StreamPart>> {
  const out = new LiveStream();
  const reply = ask(talk, model, settings, options, async (call, hear) => {
    const answer = (await model.doStream?.(merged(options, call) as never)) as {
      stream: ReadableStream<StreamPart>;
    };
    try {
      return await collect(answer.stream, hear, (part) => out.put(part));
    } catch (error) {
      const failed = modelError(error, call.signal);
      throw out.hasBegun ? Object.assign(toError(failed), { retryable: false }) : failed;
    }
  });
  const ended = reply.then(
    (saved) => out.end(saved),
    (error: unknown) => {
      if (!out.hasBegun) throw error;
      out.fail(error);
    },
  );
  await Promise.race([out.begun, ended]);
  ended.catch(() => undefined);
  return out.stream;
}

const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/** The reader's side of a call: parts as they come, or all of them from the journal. */
class LiveStream {
  readonly begun: Promise<void>;
  readonly stream: ReadableStream<StreamPart>;
  hasBegun = false;
  #begin = (): void => undefined;
  #controller: ReadableStreamDefaultController<StreamPart> | undefined;

  constructor() {
    this.begun = new Promise((resolve) => (this.#begin = resolve));
    this.stream = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      // A reader that leaves doesn't end the call: its answer is still saved.
      cancel: () => {
        this.#controller = undefined;
      },
    });
  }

  put(part: StreamPart): void {
    this.hasBegun = true;
    this.#begin();
    this.#controller?.enqueue(part);
  }

  end(reply: SavedReply): void {
    if (!this.hasBegun) for (const part of streamOf(reply)) this.put(part);
    this.#controller?.close();
  }

  /** Breaks the stream. An error as a part of it would end it well, and half an answer would count as one. */
  fail(error: unknown): void {
    this.#controller?.error(error);
  }
}
