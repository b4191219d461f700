import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { MockLanguageModelV3 } from "ai/test";

const ANSWER =
  "Sunlight holds every colour. Air scatters blue light far more than red light, so blue reaches your eyes from " +
  "everywhere above you. At sunset the light comes a longer way, most of the blue is gone, and red is left.";
const WORD_MS = Number(process.env["WORD_MS"] ?? 50);
/** A model that gets stuck says no more than these words, and waits. */
const STUCK_AFTER = Number(process.env["STUCK_AFTER"] ?? Number.POSITIVE_INFINITY);
const DAY_MS = 86_400_000;

type Answer = Awaited<ReturnType<MockLanguageModelV3["doStream"]>>;
type Part = Answer["stream"] extends ReadableStream<infer P> ? P : never;

/** A scripted model that says its answer word by word, and says the same to everybody. */
export const model = new MockLanguageModelV3({
  doStream: () => Promise.resolve({ stream: ReadableStream.from(words()) as Answer["stream"] }),
});

async function* words(): AsyncGenerator<Part> {
  appendFileSync("calls.log", "model\n");
  const isFirst = readFileSync("calls.log", "utf8") === "model\n";
  yield { type: "stream-start", warnings: [] };
  yield { type: "text-start", id: "1" };
  for (const [index, word] of ANSWER.split(/(?<= )/).entries()) {
    // Crash it here.
    if (isFirst && index === 15) process.kill(process.pid, "SIGKILL");
    yield { type: "text-delta", id: "1", delta: word };
    await pause(index + 1 < STUCK_AFTER ? WORD_MS : DAY_MS);
  }
  yield { type: "text-end", id: "1" };
  const inputTokens = { total: 6, noCache: 6, cacheRead: 0, cacheWrite: 0 };
  const outputTokens = { total: 43, text: 43, reasoning: 0 };
  yield {
    type: "finish",
    finishReason: { unified: "stop", raw: "stop" },
    usage: { inputTokens, outputTokens },
  };
}
