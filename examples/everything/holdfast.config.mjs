import { appendFileSync } from "node:fs";
import { scriptedProvider } from "holdfast/agent";
import { defineConfig } from "holdfast/config";

/** The answers, and what each of them costs. */
const usage = { inputTokens: 1_000, outputTokens: 500, costUsd: 0.01 };
const agents = {
  reviewer: [
    { when: "pay.ts", json: { findings: 2 }, usage },
    { json: { findings: 1 }, usage },
  ],
  security: [{ text: "The one in pay.ts.", usage }],
  style: [{ text: "The one in mail.ts.", usage }],
  draft: [{ text: "4 findings, 1 of them dangerous.", usage }],
  title: [{ text: "What we found", usage }],
};

export const config = defineConfig({
  claim: "2s",
  providers: {
    offline: scriptedProvider(
      { agents },
      { onCall: ({ agent }) => appendFileSync("calls.log", `${agent}\n`) },
    ),
  },
});
