import type { Model, ModelRequest, ModelResponse, StreamEvent } from "@openai/agents";
import { kindOfStatus, ModelError } from "../../agent/model.ts";
import { costOf, MODEL_RETRY, modelLimits, refuseUnpriced } from "../../agent/model-calls.ts";
import { storable } from "../../agent/render.ts";
import type { StepCall } from "../../core/context.ts";
import { defined } from "../../core/defined.ts";
import { retryPolicy } from "../../core/run/retry.ts";
import { dataDigest } from "../../core/values/codec.ts";
import type { ModelCallSettings } from "../model-call-settings.ts";
import type { Talk } from "../talk.ts";
import type { Package } from "./package.ts";

/** An answer as the journal keeps it: plain data, without the raw body, which repeats the conversation. */
interface SavedResponse {
  readonly output: ModelResponse["output"];
  readonly responseId?: string;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

/** The model of one agent, whose every call is a step. It answers from the journal what it has answered before. */
export class DurableModel implements Model {
  readonly #talk: Talk;
  readonly #name: string;
  readonly #inner: () => Promise<Model>;
  readonly #settings: ModelCallSettings;
  readonly #usage: Package["Usage"];

  constructor(
    talk: Talk,
    model: { readonly name: string; readonly get: () => Promise<Model> },
    settings: ModelCallSettings,
    usage: Package["Usage"],
  ) {
    this.#talk = talk;
    this.#name = model.name;
    this.#inner = model.get;
    this.#settings = settings;
    this.#usage = usage;
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    return this.#response(
      await this.#ask(request, async (model, asked) => saved(await model.getResponse(asked))),
    );
  }

  /** Streams what the model says; what was said before the last crash comes from the journal in one piece. */
  async *getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent> {
    const events = new EventQueue();
    const asked = this.#ask(request, async (model, own) => {
      let response: SavedResponse | undefined;
      for await (const event of model.getStreamedResponse(own)) {
        if (event.type !== "response_done") events.put(event);
        else response = saved(event.response as unknown as ModelResponse & { readonly id?: string });
      }
      if (!response) throw new TypeError("The model's stream ended before it was finished.");
      return response;
    });
    asked.then(
      () => events.end(),
      (error: unknown) => events.end(error),
    );
    yield* events.all();
    const { output, responseId, usage } = await asked;
    const { inputTokens, outputTokens } = usage;
    const counted = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
    yield {
      type: "response_done",
      response: { id: responseId ?? "", output, usage: counted },
    } as StreamEvent;
  }

  #response({ output, responseId, usage }: SavedResponse): ModelResponse {
    const { inputTokens, outputTokens } = usage;
    const counted = { requests: 1, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
    return { output, usage: new this.#usage(counted), ...defined({ responseId }) };
  }

  async #ask(
    request: ModelRequest,
    call: (model: Model, request: ModelRequest) => Promise<SavedResponse>,
  ): Promise<SavedResponse> {
    const talk = this.#talk;
    const { ctx, name } = talk;
    const { retry, timeoutMs, prices } = this.#settings;
    const turn = talk.nextTurn();
    const work = async (made: StepCall): Promise<SavedResponse> => {
      const signal = request.signal ? AbortSignal.any([request.signal, made.signal]) : made.signal;
      try {
        const given = await call(await this.#inner(), { ...request, signal });
        const reply = { ...given, output: heard(talk, turn, given.output) };
        const { inputTokens, outputTokens } = reply.usage;
        const costUsd = await costOf(ctx, reply.usage, [this.#name], prices);
        ctx.usage({ tokens: inputTokens + outputTokens, model: this.#name, ...defined({ costUsd }) });
        return reply;
      } catch (error) {
        throw modelError(error);
      }
    };
    const asked = JSON.stringify([request.systemInstructions, request.input]);
    const reply = await talk.inScope(() =>
      ctx.step(`${name}.${turn}.model`, work, {
        effect: "repeatable",
        input: { model: this.#name, prompt: dataDigest(JSON.parse(asked)) },
        limit: modelLimits({ provider: "openai", model: this.#name }, { characters: asked.length }),
        retry: retryPolicy(retry, MODEL_RETRY),
        ...defined({ timeoutMs }),
      }),
    );
    heard(talk, turn, reply.output);
    const known = await talk.inScope(() => costOf(ctx, reply.usage, [this.#name], prices));
    await talk.inScope(() => refuseUnpriced(ctx, name, this.#name, known));
    return reply;
  }
}

function saved(response: ModelResponse & { readonly id?: string }): SavedResponse {
  const { output, usage, responseId = response.id } = response;
  return {
    output: storable(JSON.parse(JSON.stringify(output))) as SavedResponse["output"],
    usage: { inputTokens: usage?.inputTokens ?? 0, outputTokens: usage?.outputTokens ?? 0 },
    ...defined({ responseId: responseId === "" ? undefined : responseId }),
  };
}

/** Notes which tools the answer asks for. Their ids are made unique in the conversation. */
function heard(talk: Talk, turn: number, output: SavedResponse["output"]): SavedResponse["output"] {
  const hear = talk.listen(turn);
  return output.map((item) => {
    if (item.type !== "function_call") return item;
    const { toolCallId } = hear({ type: "tool-call", toolName: item.name, toolCallId: item.callId });
    return toolCallId === item.callId ? item : { ...item, callId: toolCallId };
  });
}

/** The reason why a call failed: it decides whether it is made again. */
function modelError(error: unknown): unknown {
  const { status, headers } = (typeof error === "object" && error !== null ? error : {}) as {
    readonly status?: unknown;
    readonly headers?: { get?(name: string): string | null };
  };
  if (!(error instanceof Error) || typeof status !== "number") return error;
  const seconds = Number(headers?.get?.("retry-after") ?? Number.NaN);
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : undefined;
  return new ModelError(error.message, { kind: kindOfStatus(status), status, retryAfterMs, cause: error });
}

/** Events on their way to the reader of a stream. */
class EventQueue {
  readonly #waiting: StreamEvent[] = [];
  #ended = false;
  #error: Error | undefined;
  #wake = (): void => undefined;

  put(event: StreamEvent): void {
    this.#waiting.push(event);
    this.#wake();
  }

  end(error?: unknown): void {
    this.#ended = true;
    if (error !== undefined)
      this.#error = error instanceof Error ? error : new Error("The stream failed.", { cause: error });
    this.#wake();
  }

  async *all(): AsyncGenerator<StreamEvent> {
    for (;;) {
      while (this.#waiting.length > 0) yield this.#waiting.shift() as StreamEvent;
      if (this.#ended) break;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    if (this.#error) throw this.#error;
  }
}
