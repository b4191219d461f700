import { appendFileSync } from "node:fs";
import { scriptedProvider } from "holdfast/agent";
import { defineConfig } from "holdfast/config";

// Agent 9 meets a rate limit, more often than its retry policy allows; the third time it is answered.
const limit = { error: { status: 429, retryAfterMs: 200, message: "Too many requests" } };

export const config = defineConfig({
  providers: {
    offline: scriptedProvider(
      { agents: { reviewer: [limit, limit, { text: "It has one customer." }] } },
      { onCall: ({ agent }) => appendFileSync("calls.log", `${agent}\n`) },
    ),
  },
});
