import { appendFileSync } from "node:fs";
import { scriptedProvider } from "../../src/agent/index.ts";
import { createEngine } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { loadWorkflow } from "../../src/yaml/index.ts";

/**
 * Continues the run of a workflow file and records every model call, until the run ends or a scripted answer kills the
 * process.
 */
const [folder = "", crashes = ""] = process.argv.slice(2);
const script = Object.fromEntries(
  crashes.split(",").map((agent) => [agent, [{ crash: true }, { text: agent }]]),
);
const provider = scriptedProvider(
  { agents: script },
  {
    onCall: ({ agent }) => appendFileSync(`${folder}/calls`, `${agent}\n`),
    crash: () => process.kill(process.pid, "SIGKILL"),
  },
);
const { workflow } = await loadWorkflow(`${folder}/flow.yaml`, { providers: { model: provider } });
const engine = createEngine({
  store: await openSqliteStore({ file: `${folder}/runs.db` }),
  workflows: [workflow],
  claimMs: 300,
  sweepMs: 50,
});
await engine.start(workflow, { items: ["x", "y", "z"] }, { id: "r" });
console.log(JSON.stringify(await engine.result("r")));
await engine.close();
