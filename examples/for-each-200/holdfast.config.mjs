import { appendFileSync } from "node:fs";
import { scriptedProvider } from "holdfast/agent";
import { defineConfig } from "holdfast/config";

// Crash it here: the process dies at invoice 117, the first time.
const checker = [
  { when: "Check invoice 117.", crash: true },
  { when: "Check invoice 117.", json: { ok: false } },
  { json: { ok: true }, delayMs: 5 },
];

export const config = defineConfig({
  claim: "2s",
  providers: {
    offline: scriptedProvider(
      { agents: { checker } },
      {
        onCall: ({ attempt }) => appendFileSync("calls.log", `attempt ${attempt}\n`),
        crash: () => process.kill(process.pid, "SIGKILL"),
      },
    ),
  },
});
