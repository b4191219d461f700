import {
  ControlledExecutor,
  type DAGEvent,
  type DAGStructure,
  type DAGTools,
  type TaskCall,
} from "../../src/dag/index.ts";
import { createEngine } from "../../src/index.ts";
import { openPgliteStore } from "../../src/stores/pglite/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

/** The configuration of a process that executes the DAG. */
export interface DagConfig {
  readonly store: "sqlite" | "pglite";
  readonly path: string;
  /** The address of the witness, where tasks have their effects. */
  readonly witness: string;
  /** The event at which the process is killed, as `describe` names it. */
  readonly killAt?: string;
}

const { store: kind, path, witness, killAt } = JSON.parse(process.argv[2] ?? "") as DagConfig;

async function tell(place: string, body: unknown): Promise<string | null> {
  const response = await fetch(`${witness}${place}`, { method: "POST", body: JSON.stringify(body) });
  return ((await response.json()) as { text: string | null }).text;
}

const act = (_: unknown, { taskId, key }: TaskCall) => tell("/do", { task: taskId, key });
const tools: DAGTools = {
  look: act,
  charge: { run: act, effect: "keyed" },
  mail: {
    run: act,
    effect: "once",
    verify: async ({ key }) => {
      const text = await tell("/seen", { key });
      return text === null ? { status: "not-done" } : { status: "done", value: text };
    },
  },
};

const DAG: DAGStructure = {
  tasks: [
    { id: "plan", tool: "look" },
    { id: "search", tool: "look", dependsOn: ["plan"] },
    { id: "pay", tool: "charge", dependsOn: ["plan"] },
    { id: "notify", tool: "mail", dependsOn: ["plan"] },
    { id: "guess", tool: "look", dependsOn: ["search"], speculative: true },
    { id: "write", tool: "look", dependsOn: ["search", "pay"] },
    { id: "publish", tool: "mail", dependsOn: ["write"] },
  ],
};

/** The name of a moment: the event, its layer and its task. */
const describe = (event: DAGEvent): string =>
  [event.type, "layer_index" in event ? event.layer_index : "", "task_id" in event ? event.task_id : ""]
    .join(" ")
    .trim();

const moments: string[] = [];
const store =
  kind === "sqlite" ? await openSqliteStore({ file: path }) : await openPgliteStore({ folder: path });
const engine = createEngine({ store, claimMs: 1_500, sweepMs: 50, assumedStepMs: 1_500 });
const executor = new ControlledExecutor({
  engine,
  tools,
  ail: ({ layer_index }) =>
    layer_index === 2
      ? {
          confidence: 0.8,
          commands: [
            { type: "confirm_task", taskId: "guess" },
            { type: "inject_context", context: { checked: true } },
          ],
        }
      : undefined,
});
for (const type of [
  "layer_started",
  "task_started",
  "task_completed",
  "speculation_started",
  "speculation_confirmed",
  "decision_made",
  "checkpoint_saved",
  "workflow_completed",
] as const)
  executor.on(type, (event) => {
    moments.push(describe(event));
    if (describe(event) === killAt) process.kill(process.pid, "SIGKILL");
  });
await executor.start(DAG, { id: "w" });
const { results, state, layers } = await executor.result("w");
const { tasks, decisions, context } = state;
const done = tasks.map(({ taskId }) => taskId);
process.stdout.write(
  JSON.stringify({ results, done, layers, context, decisions: decisions.map(({ type }) => type), moments }),
);
await executor.close();
await engine.close();
await store.close();
