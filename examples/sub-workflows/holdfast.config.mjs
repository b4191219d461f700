import { appendFileSync } from "node:fs";
import { scriptedProvider } from "holdfast/agent";
import { defineConfig } from "holdfast/config";

// Crash it here: in the middle of the inner workflow.
const judge = [{ crash: true }, { text: "Bolts hold." }];

export const config = defineConfig({
  claim: "2s",
  providers: {
    offline: scriptedProvider(
      { agents: { judge, shorten: [{ text: "Bolts." }], title: [{ text: "On bolts" }] } },
      {
        onCall: ({ agent }) => appendFileSync("calls.log", `${agent}\n`),
        crash: () => process.kill(process.pid, "SIGKILL"),
      },
    ),
  },
});
