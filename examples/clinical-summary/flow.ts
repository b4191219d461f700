import { workflow } from "holdfast";
import { type AgentTool, runAgent, scriptedProvider } from "holdfast/agent";

/** The model, offline: it asks for laboratory values, is killed once, and sums up. */
const model = scriptedProvider(
  {
    agents: {
      clinician: [
        { calls: [{ tool: "lab_values" }] },
        // Crash it here: the chart is read, the values are there, the summary isn't.
        { crash: true },
        { text: "Grace Hopper (MRN-204417): anaemia, iron is low. Repeat the blood count in two weeks." },
      ],
    },
  },
  { crash: () => process.kill(process.pid, "SIGKILL") },
);

const labValues: AgentTool = {
  name: "lab_values",
  description: "The laboratory values of this visit",
  parameters: {},
  effect: "repeatable",
  run: () => {
    console.log("… asking the laboratory");
    return { patient: "Grace Hopper", haemoglobin: 9.8, ferritin: 6 };
  },
};

/** Reads a patient's chart and writes a summary for the next doctor. */
export const summary = workflow("clinical-summary", async (ctx, visit: number) => {
  ctx.plan(["chart", "clinician"]);
  const chart = await ctx.step("chart", () => {
    console.log(`… reading the chart of visit ${visit}`);
    return "Grace Hopper, MRN-204417, born 1906-12-09. Tired for three months.";
  });
  const { output } = await runAgent(ctx, "clinician", {
    provider: model,
    model: "offline",
    prompt: `Sum up this visit: ${chart}`,
    tools: [labValues],
  });
  return output;
});
