import { appendFileSync } from "node:fs";
import { defineTeam } from "holdfast/team";
import { agents } from "./agents.ts";

const LATE = ["valuation_agent", "risk_analyst"];
const WRITER = "report_writer";

/**
 * 13 specialists on one stock. Ten work side by side, four at a time. The portfolio manager looks at what they found,
 * and the analysis sleeps for a moment, as it would overnight, before valuation and report.
 */
export const stockTeam = defineTeam({
  name: "stock-team",
  agents,
  concurrency: 4,
  stages: [
    {
      name: "research",
      agents: agents.map(({ type }) => type).filter((type) => type !== WRITER && !LATE.includes(type)),
      gate: { name: "pm_gate", choices: ["approve", "reject"] },
      pauseMs: 200,
    },
    { name: "valuation", agents: LATE },
    { name: "report", agents: [WRITER] },
  ],
  hooks: {
    onResume: ({ agent, subtask, progress }) =>
      console.error(`… ${agent.type} goes on with ${subtask}: ${progress.text}`),
    onFailure: ({ agent, subtask, progress }) =>
      console.error(`… ${agent.type} stops at ${subtask}: ${progress.text}`),
  },
  targets: {
    // The last word of the report; every other deliverable stays in the checkpoints.
    "Neo4j + message": ({ agent, deliverable }) =>
      appendFileSync("messages.txt", `${agent.type}: ${deliverable} is there\n`),
  },
});
