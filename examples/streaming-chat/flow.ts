import { streamText } from "ai";
import { workflow } from "holdfast";
import { durable, saveUIMessages } from "holdfast/adapters/ai-sdk";
import { model } from "./model.ts";

/** One answer. It is written into the run's stream `answer`, where pages find it again after a reload. */
export const chat = workflow("chat", async (ctx, { question }: { question: string }) => {
  const result = streamText({ ...durable(ctx, { model }), prompt: question });
  await saveUIMessages(ctx, "answer", result.toUIMessageStream());
  return result.text;
});
