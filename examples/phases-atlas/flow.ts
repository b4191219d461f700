import { appendFileSync } from "node:fs";
import { defineAgent, defineTeam, type SpecialistInput, type SubtaskCall } from "holdfast/team";

type Call = SubtaskCall<SpecialistInput<{ topic: string }>>;

/** Stands for a model. */
const ask = (agent: string, subtask: string): void => appendFileSync("calls.log", `${agent} ${subtask}\n`);

/** A specialist that gathers and writes, with the confidence that it will report. */
const mercury = (type: string, confidence: number) =>
  defineAgent<SpecialistInput<{ topic: string }>>({
    type,
    version: "1.0",
    subtasks: [
      {
        name: "gather",
        deliverable: "notes",
        target: "outputs",
        run: ({ input, memory }: Call) => {
          ask(type, "gather");
          memory.set("sources", 3);
          return { topic: input.input.topic, sources: 3 };
        },
      },
      {
        name: "write",
        deliverable: "draft",
        target: "outputs",
        run: ({ input, results, attempt, report }: Call) => {
          ask(type, "write");
          // Crash it here.
          if (type === "mercury_2" && attempt === 1 && input.iteration === 0)
            process.kill(process.pid, "SIGKILL");
          report({ confidence, output_ref: `phase1/${type}_output.md` });
          return {
            text: `${input.input.topic} by ${type}`,
            from: results["gather"],
            feedback: input.feedback,
          };
        },
      },
    ],
  });

/** Atlas orchestrates, Mercury works, Apollo evaluates. */
export const atlasTeam = defineTeam<{ topic: string }>({
  name: "atlas-team",
  confidenceThreshold: 0.75,
  // The blocks of the checkpoint system design. A key that is left out has the document's value; encryption needs a key.
  checkpoint_config: { storage_path: "./outputs/{TASK}/checkpoints", encryption: false },
  recovery_config: { max_recovery_attempts: 3 },
  performance_config: { async_writes: false },
  phases: [
    {
      name: "research",
      orchestrator: {
        name: "atlas",
        run: async (phase) => {
          const plan = await phase.step("plan", () => ["history", "market"]);
          phase.recordDecision({
            description: "Allocated sub-tasks to specialists",
            rationale: "Task complexity requires parallel processing",
            confidence: 0.88,
          });
          await phase.createCheckpoint({ phase: phase.phase, type: "phase_start" });
          return plan;
        },
      },
      specialists: [mercury("mercury_1", 0.73), mercury("mercury_2", 0.9)],
      additional: () => mercury("mercury_3", 0.86),
      evaluator: {
        name: "apollo",
        passScore: 0.7,
        criteria: [
          { name: "accuracy", weight: 2, score: () => 0.9 },
          {
            name: "length",
            score: ({ iteration }) => (iteration === 0 ? { score: 0.2, issues: ["too short"] } : 0.8),
          },
        ],
      },
    },
    { name: "report", specialists: [mercury("mercury_4", 0.95)] },
  ],
});
