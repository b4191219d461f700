import { appendFileSync } from "node:fs";
import { scriptedProvider } from "holdfast/agent";
import { defineConfig } from "holdfast/config";

// Crash it here: the process dies right after somebody has decided.
const polish = [{ crash: true }, { text: "Holdfast holds fast." }];

export const config = defineConfig({
  claim: "2s",
  providers: {
    offline: scriptedProvider(
      { agents: { polish, writer: [{ text: "Holdfast is there." }] } },
      {
        onCall: ({ agent }) => appendFileSync("calls.log", `${agent}\n`),
        crash: () => process.kill(process.pid, "SIGKILL"),
      },
    ),
  },
});
