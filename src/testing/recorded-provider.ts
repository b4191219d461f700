import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  ModelError,
  type ModelErrorDetail,
  type ModelProvider,
  type ModelReply,
  type ModelRequest,
} from "../agent/model.ts";
import { checkKeys, checkText } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";
import { dataDigest } from "../core/values/codec.ts";

/** One recorded call. The request is kept as its digest: fixtures hold answers, not prompts. */
interface Recording {
  readonly request: string;
  /** For people who read the file. */
  readonly of: string;
  readonly reply?: ModelReply;
  readonly error?: Pick<ModelErrorDetail, "kind" | "status" | "retryAfterMs"> & { readonly message: string };
}

/**
 * A model provider that is recorded once and replayed for ever. What the file has is answered from it; anything else is
 * asked of the live provider and written down. Without a live provider it is refused (HF-4605): in CI give none. A
 * request is the same if its model, system text, messages, tools and settings are; the nth time it is made it gets the
 * nth answer.
 *
 * @example
 * ```ts
 * import { modelProviders } from "holdfast/adapters/ai-sdk";
 * import { recordedProvider } from "holdfast/testing";
 *
 * const live = process.env["RECORD"] ? modelProviders({ openai: {} }) : undefined;
 * export const provider = recordedProvider("./fixtures/clerk.json", { live });
 * ```
 */
export function recordedProvider(
  file: string,
  options: { readonly live?: ModelProvider | undefined } = {},
): ModelProvider {
  checkText("file", file, 1);
  checkKeys(options, ["live"]);
  const { live } = options;
  const recordings = readFile(file);
  const times = new Map<string, number>();
  return {
    name: live?.name ?? "recorded",
    ...(live?.resolve
      ? { resolve: (model: string) => live.resolve?.(model) ?? { provider: live.name, model } }
      : {}),
    async generate(request) {
      const digest = digestOf(request);
      const nth = times.get(digest) ?? 0;
      const known = recordings.filter((one) => one.request === digest)[nth];
      if (known) {
        times.set(digest, nth + 1);
        return played(known);
      }
      const of = `${request.agent}, turn ${request.turn}`;
      if (!live) throw new HoldfastError("HF-4605", { of, file });
      const made = await recorded(live, request, { request: digest, of });
      times.set(digest, nth + 1);
      recordings.push(made);
      mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
      writeFileSync(file, `${JSON.stringify(recordings, null, 2)}\n`);
      return played(made);
    },
  };
}

function readFile(file: string): Recording[] {
  if (!existsSync(file)) return [];
  try {
    const read: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (Array.isArray(read)) return read as Recording[];
  } catch (error) {
    throw new HoldfastError("HF-4606", { file }, { cause: error });
  }
  throw new HoldfastError("HF-4606", { file });
}

const digestOf = ({
  model,
  system,
  messages,
  tools,
  schema,
  temperature,
  maxTokens,
  reasoning,
}: ModelRequest): string =>
  dataDigest(
    JSON.parse(JSON.stringify({ model, system, messages, tools, schema, temperature, maxTokens, reasoning })),
  );

async function recorded(
  live: ModelProvider,
  request: ModelRequest,
  head: Pick<Recording, "request" | "of">,
): Promise<Recording> {
  try {
    return { ...head, reply: await live.generate(request) };
  } catch (error) {
    // Another failure, such as an abort, says nothing about the model.
    if (!ModelError.is(error)) throw error;
    const { kind, status, retryAfterMs, message } = error;
    return { ...head, error: { kind, status, retryAfterMs, message } };
  }
}

function played({ reply, error }: Recording): ModelReply {
  if (error) throw new ModelError(error.message, error);
  return structuredClone(reply as ModelReply);
}
