import { appendFileSync } from "node:fs";
import { type AIL, type DAGStructure, type DAGTools, dagWorkflow, type HIL } from "holdfast/dag";

const log = (taskId: string): void => {
  console.error(`… ${taskId}`);
  appendFileSync("calls.log", `${taskId}\n`);
};

/** A tool does what a task says. These are offline; a real one would ask a search engine or a model. */
export const tools: DAGTools = {
  search: ({ topic }, { taskId, attempt, update }) => {
    log(taskId);
    // Crash it here.
    if (taskId === "moon" && attempt === 1) process.kill(process.pid, "SIGKILL");
    update({ messages: [`searched for ${String(topic)}`] });
    return { topic, high: topic === "moon" ? "6 h 12 min apart" : "6 h 25 min apart" };
  },
  write: (_, { taskId, results }) => {
    log(taskId);
    return `${taskId} from ${Object.keys(results).join(" and ")}`;
  },
  post: {
    effect: "keyed",
    run: (_, { taskId }) => {
      log(taskId);
      return "published";
    },
  },
};

export const dag: DAGStructure = {
  tasks: [
    { id: "plan", tool: "write" },
    { id: "tides", tool: "search", arguments: { topic: "tides" }, dependsOn: ["plan"], resultType: "source" },
    { id: "moon", tool: "search", arguments: { topic: "moon" }, dependsOn: ["plan"], resultType: "source" },
    { id: "outline", tool: "write", dependsOn: ["tides", "moon"], speculative: true },
    { id: "cartoon", tool: "write", dependsOn: ["tides"], speculative: true },
    { id: "draft", tool: "write", dependsOn: ["outline", "tides", "moon"] },
    { id: "publish", tool: "post", dependsOn: ["draft"] },
  ],
};

/** The AI in the loop: while it thinks, the speculative tasks run. It confirms one of them, and adds a task. */
const ail: AIL = ({ finished }) =>
  finished.includes("moon")
    ? {
        description: "check the figures first",
        rationale: "two sources disagree about the time between high and low water",
        alternatives: ["trust the newer source"],
        confidence: 0.6,
        commands: [
          { type: "confirm_task", taskId: "outline" },
          { type: "add_task", task: { id: "check", tool: "write", dependsOn: ["tides", "moon"] } },
          { type: "change_task", taskId: "draft", change: { dependsOn: ["outline", "check"] } },
        ],
      }
    : undefined;

/** The human in the loop: nothing is published without a person. */
const hil: HIL = ({ finished, state }) =>
  finished.includes("draft")
    ? {
        show: state.tasks.at(-1)?.result,
        text: true,
        choices: { approve: [], reject: [{ type: "skip_task", taskId: "publish" }] },
      }
    : undefined;

export const research = dagWorkflow("research", { tools, dag, ail, hil });
