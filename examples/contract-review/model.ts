import { appendFileSync } from "node:fs";
import { scriptedProvider } from "holdfast/agent";

const read = (number: number) => ({ calls: [{ tool: "read_clause", input: { number } }] });
const limit = { error: { status: 429, message: "Too many requests" } };

/** The model, offline. It is killed once, meets a rate limit once, and heeds what a person has added. */
export const model = scriptedProvider(
  {
    agents: {
      reviewer: [
        // Whatever turn it is: the answer to what the lawyer adds below.
        { when: "up to 2 million", text: "Clause 3 must be capped at 2 million; the rest is fine." },
        read(1),
        read(2),
        // Crash it here: the process dies while the model thinks about clause 3.
        { crash: true },
        read(3),
        read(4),
        limit,
        { text: "Clause 3 has no limit. Reject the contract." },
      ],
    },
  },
  {
    onCall: ({ turn }) => appendFileSync("calls.log", `turn ${turn}\n`),
    crash: () => process.kill(process.pid, "SIGKILL"),
  },
);
