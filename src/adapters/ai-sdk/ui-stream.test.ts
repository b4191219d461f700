import { randomUUID } from "node:crypto";
import {
  AbstractChat,
  type ChatState,
  DefaultChatTransport,
  stepCountIs,
  streamText,
  tool,
  type UIMessage,
} from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createLab, hangs, signalled } from "../../../test/support/lab.ts";
import { type Engine, workflow } from "../../index.ts";
import { chatRoutes } from "./chat-routes.ts";
import { durable } from "./durable.ts";
import { saveUIMessages } from "./ui-stream.ts";

/** The state of `useChat`, without React. */
class State implements ChatState<UIMessage> {
  status: ChatState<UIMessage>["status"] = "ready";
  error: Error | undefined;
  messages: UIMessage[] = [];
  pushMessage = (message: UIMessage): void => void (this.messages = [...this.messages, message]);
  popMessage = (): void => void (this.messages = this.messages.slice(0, -1));
  replaceMessage = (index: number, message: UIMessage): void =>
    void (this.messages = this.messages.map((one, at) => (at === index ? message : one)));
  snapshot = <T>(thing: T): T => structuredClone(thing);
}

class Chat extends AbstractChat<UIMessage> {}

const textOf = (message: UIMessage | undefined): string =>
  (message?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");

/** A model that says these words, and stops in the middle when told so. */
function speaker(
  words: (call: number) => readonly string[],
  stopAfter: (call: number) => number | undefined,
) {
  const stopped = signalled();
  let calls = 0;
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const model = {
    specificationVersion: "v3" as const,
    provider: "test",
    modelId: "speaker",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("not asked")),
    async doStream() {
      const call = ++calls;
      async function* parts() {
        yield { type: "stream-start", warnings: [] };
        yield { type: "text-start", id: "1" };
        for (const [index, word] of words(call).entries()) {
          if (index === stopAfter(call)) {
            stopped.resolve();
            await hangs();
          }
          yield { type: "text-delta", id: "1", delta: `${word} ` };
        }
        yield { type: "text-end", id: "1" };
        yield { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage };
      }
      return { stream: ReadableStream.from(parts()) };
    },
  };
  return { model: model as never, stopped: stopped.promise, calls: () => calls };
}

/** A model that says something and calls a tool, both in pieces, and then says what came of it. */
function clerk(): never {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const text = (id: string, pieces: readonly string[]) => [
    { type: "text-start", id },
    ...pieces.map((delta) => ({ type: "text-delta", id, delta })),
    { type: "text-end", id, providerMetadata: { test: { signed: true } } },
  ];
  const input = ['{"order":', '"7"}'];
  const call = [
    { type: "tool-input-start", id: "call-1", toolName: "look" },
    ...input.map((delta) => ({ type: "tool-input-delta", id: "call-1", delta })),
    { type: "tool-input-end", id: "call-1" },
    { type: "tool-call", toolCallId: "call-1", toolName: "look", input: input.join("") },
  ];
  return new MockLanguageModelV3({
    async doStream({ prompt }: { prompt: readonly { role: string }[] }) {
      const isLast = prompt.some(({ role }) => role === "tool");
      const parts = isLast
        ? text("msg-2", ["It was ", "sent."])
        : [...text("msg-1", ["Let ", "me ", "see. "]), ...call];
      const unified = isLast ? "stop" : "tool-calls";
      const finish = { type: "finish", finishReason: { unified, raw: unified }, usage };
      return { stream: ReadableStream.from([{ type: "stream-start", warnings: [] }, ...parts, finish]) };
    },
  } as never) as never;
}

function setup(words: (call: number) => readonly string[], stopAfter: (call: number) => number | undefined) {
  const lab = createLab();
  const { model, stopped, calls } = speaker(words, stopAfter);
  const flow = workflow("chat", async (ctx, { prompt }: { prompt: string }) => {
    const result = streamText({ ...durable(ctx, { model }), prompt });
    await saveUIMessages(ctx, "answer", result.toUIMessageStream());
    return result.text;
  });
  const engine = lab.engine([flow]);
  const reader = lab.engine([flow], { execute: false });
  const routes = chatRoutes(reader, flow, { input: () => ({ prompt: "?" }) });
  const fetch = (asked: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const url = new URL(asked instanceof Request ? asked.url : asked, "http://x");
    return (init?.method === "POST" ? routes.POST : routes.GET)(new Request(url, init));
  };
  const opened = (messages: UIMessage[] = []) => {
    let isVoid = false;
    const state = new State();
    state.messages = messages;
    const chat: Chat = new Chat({
      id: "c1",
      state,
      transport: new DefaultChatTransport({ api: "/api/chat", fetch: fetch as typeof globalThis.fetch }),
      // The rule for pages: drop the half message, and get the answer again.
      onData: (part) => void (isVoid ||= part.type === "data-restarted"),
      onFinish: () => {
        if (!isVoid) return;
        isVoid = false;
        setTimeout(() => void chat.regenerate({ body: { again: true } }));
      },
    });
    return { chat, state };
  };
  return { lab, engine, flow, opened, stopped, calls };
}

async function until(lab: ReturnType<typeof createLab>, isDone: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2_000 && !isDone(); turn++) await lab.clock.advance(50);
  expect(isDone()).toBe(true);
}

const answered = (state: State, text: string): boolean =>
  state.status === "ready" && textOf(state.messages[1]) === text;

async function crashInTheMiddle(made: ReturnType<typeof setup>): Promise<Engine> {
  const { lab, engine, flow, stopped } = made;
  await lab.drive(engine.recover());
  await lab.drive(stopped);
  await lab.clock.advance(500);
  await lab.crash(engine);
  await lab.clock.advance(20_000);
  const next = lab.engine([flow]);
  await lab.drive(next.recover());
  return next;
}

describe("a chat on a run's stream", () => {
  it("shows the answer as it is made, and finds it again after a reload", async () => {
    const made = setup(
      () => ["to", "be", "or"],
      () => undefined,
    );
    const { lab, engine, opened } = made;
    const { chat, state } = opened();
    await lab.drive(engine.recover());
    void chat.sendMessage({ text: "?" });
    await until(lab, () => answered(state, "to be or "));
    expect(state.messages).toHaveLength(2);
    // A page that is loaded now has nothing to resume.
    const again = opened(state.messages.slice(0, 1));
    await lab.drive(again.chat.resumeStream());
    expect(again.state.messages).toHaveLength(1);
  });

  it("after a crash continues where the model says the same, without a word twice", async () => {
    const made = setup(
      () => ["to", "be", "or"],
      (call) => (call === 1 ? 2 : undefined),
    );
    const { chat, state } = made.opened();
    void chat.sendMessage({ text: "?" });
    await made.lab.clock.advance(100);
    await crashInTheMiddle(made);
    await until(made.lab, () => answered(state, "to be or "));
    expect([state.messages.length, made.calls()]).toEqual([2, 2]);
  });

  it("after a crash drops the half message where the model says something else", async () => {
    const words = (call: number) => (call === 1 ? ["the", "sun", "is"] : ["the", "moon"]);
    const made = setup(words, (call) => (call === 1 ? 2 : undefined));
    const { chat, state } = made.opened();
    void chat.sendMessage({ text: "?" });
    await made.lab.clock.advance(100);
    const reloaded = made.opened([{ id: "u", role: "user", parts: [] }]);
    void reloaded.chat.resumeStream();
    await crashInTheMiddle(made);
    await until(made.lab, () => answered(state, "the moon "));
    await until(made.lab, () => answered(reloaded.state, "the moon "));
    expect([state.messages.length, reloaded.state.messages.length]).toEqual([2, 2]);
  });

  it("after a crash in a tool continues behind the saved turn, which comes in one piece", async () => {
    const lab = createLab();
    const stopped = signalled();
    let calls = 0;
    const look = tool({
      inputSchema: z.object({ order: z.string() }),
      execute: async () => {
        if (++calls > 1) return "sent";
        stopped.resolve();
        return hangs();
      },
    });
    const flow = workflow("chat", async (ctx) => {
      const agent = durable(ctx, { model: clerk(), tools: { look } }, { tools: { look: "repeatable" } });
      const result = streamText({ ...agent, prompt: "?", stopWhen: stepCountIs(5) });
      await saveUIMessages(ctx, "answer", result.toUIMessageStream({ generateMessageId: randomUUID }));
      return result.text;
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "c1" }));
    await lab.drive(stopped.promise);
    await lab.clock.advance(500);
    const before = await engine.streams.part("c1", "answer");
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const next = lab.engine([flow]);
    await lab.drive(next.recover());
    expect(await lab.drive(next.result("c1"))).toBe("It was sent.");
    const { pieces, closed } = await next.streams.part("c1", "answer");
    expect(pieces.slice(0, before.pieces.length)).toEqual(before.pieces);
    expect([closed, pieces.filter(({ kind }) => kind === "restarted")]).toEqual([true, []]);
    const chunks = pieces.flatMap((piece) =>
      piece.kind === "item" ? [piece.value as { type: string; delta?: string }] : [],
    );
    expect(chunks.map(({ delta = "" }) => delta).join("")).toBe("Let me see. It was sent.");
    expect(chunks.filter(({ type }) => type === "tool-input-delta")).toHaveLength(2);
  });

  it("starts one run for a message, however often it is sent, and refuses what no chat sends", async () => {
    const lab = createLab();
    const flow = workflow("chat", (ctx) => ctx.gate("wait", { choices: ["yes"] }));
    const engine = lab.engine([flow], { execute: false });
    const { POST } = chatRoutes(engine, flow as never, { input: () => undefined as never });
    const body = JSON.stringify({ id: "c1", messages: [{ id: "m1", role: "user", parts: [] }] });
    const send = (text: string) => POST(new Request("http://x/api/chat", { method: "POST", body: text }));
    for (let times = 0; times < 3; times++) await (await lab.drive(send(body))).body?.cancel();
    expect((await engine.list()).runs).toHaveLength(1);
    for (const wrong of ["", "{}", "[]", '{"messages":[]}', '{"id":"c1","messages":[]}'])
      await expect(send(wrong)).rejects.toMatchObject({ code: "HF-1003" });
  });
});
