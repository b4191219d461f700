import { appendFileSync } from "node:fs";
import { scriptedProvider } from "holdfast/agent";
import { defineConfig } from "holdfast/config";

// Crash it here: one of the four fails the first time.
const finances = [{ error: { status: 500, message: "The model is down" } }, { text: "Enough for 9 months." }];

export const config = defineConfig({
  providers: {
    offline: scriptedProvider(
      { agents: { finances } },
      { onCall: ({ agent }) => appendFileSync("calls.log", `${agent}\n`) },
    ),
  },
});
