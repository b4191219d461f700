import { ControlledExecutor } from "holdfast/dag";
import { openPgliteStore } from "holdfast/stores/pglite";
import { dag, tools } from "./flow.ts";

/** Goes back to the checkpoint after layer 2, with a DAG that has changed since. */
const store = await openPgliteStore({ folder: ".holdfast/pg" });
const executor = new ControlledExecutor({ store, tools, name: "research" });
const checkpoints = await executor.checkpointManager.list("tides");
for (const { id, layer_index } of checkpoints.toReversed()) {
  const { state } = await executor.checkpointManager.load(id);
  console.log(`checkpoint after layer ${layer_index}: ${state.tasks.map(({ taskId }) => taskId).join(", ")}`);
}
const [earlier] = checkpoints.filter(({ layer_index }) => layer_index === 2);
const tasks = [
  ...dag.tasks.filter(({ id }) => id !== "publish"),
  { id: "archive", tool: "write", dependsOn: ["tides"] },
];
const { warnings, results } = await executor.resumeFromCheckpoint(earlier?.id ?? "", { dag: { tasks } });
for (const { message } of warnings) console.log(`warning: ${message}`);
console.log(`a new run has finished ${Object.keys(results).join(", ")}`);
await executor.close();
await store.close();
