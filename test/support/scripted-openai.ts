import { type Model, type ModelRequest, type ModelResponse, type StreamEvent, Usage } from "@openai/agents";

/** What a model says in one turn: a text, or calls. */
export type OpenAiSaid = string | readonly (readonly [tool: string, input: unknown])[];

/** A model of the OpenAI Agents SDK that says what a function gives it for the number of answers before. */
export class ScriptedModel implements Model {
  readonly model: string;
  readonly requests: ModelRequest[] = [];
  readonly #say: (turn: number, request: ModelRequest) => OpenAiSaid | Promise<OpenAiSaid>;

  constructor(
    say: (turn: number, request: ModelRequest) => OpenAiSaid | Promise<OpenAiSaid>,
    name = "scripted",
  ) {
    this.#say = say;
    this.model = name;
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    this.requests.push(request);
    const turn = answersIn(request);
    const said = await this.#say(turn, request);
    const usage = new Usage({ requests: 1, inputTokens: 3, outputTokens: 2, totalTokens: 5 });
    if (typeof said === "string") {
      const content = [{ type: "output_text" as const, text: said }];
      return { usage, output: [{ type: "message", role: "assistant", status: "completed", content }] };
    }
    return {
      usage,
      output: said.map(([name, input], index) => ({
        type: "function_call" as const,
        callId: `call_${turn}_${index}`,
        name,
        status: "completed" as const,
        arguments: typeof input === "string" ? input : JSON.stringify(input),
      })),
    };
  }

  // oxlint-disable-next-line require-yield -- streams aren't part of these tests
  async *getStreamedResponse(): AsyncIterable<StreamEvent> {
    throw new Error("not streamed");
  }
}

/** How many answers of a model the conversation holds. */
function answersIn({ input }: ModelRequest): number {
  if (typeof input === "string") return 0;
  let answers = 0;
  let wasCall = false;
  for (const item of input) {
    const isCall = item.type === "function_call";
    if ((isCall && !wasCall) || ("role" in item && item.role === "assistant")) answers++;
    wasCall = isCall;
  }
  return answers;
}
