import { createEngine } from "../../core/engine/engine.ts";
import { silentLogger } from "../../core/logger.ts";
import { openSqliteStore } from "../../stores/sqlite/index.ts";
import { createWitnessClient } from "../../testing/witness/witness.ts";
import { RUN_ID, THINKING_MS, tenAgents } from "./agents.ts";

/** The process that the demo kills. It reports on stdout, one line of JSON each. */
const [file, port] = process.argv.slice(2) as [string, string];
const tell = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const store = await openSqliteStore({ file });
const witness = createWitnessClient(Number(port));
const think = () => new Promise<void>((resolve) => setTimeout(resolve, THINKING_MS));
const flow = tenAgents(witness, think);
const engine = createEngine({ store, workflows: [flow], logger: silentLogger });

const started = new Set<string>();
engine.on("step_started", ({ step }) => (started.add(step), tell({ event: "started", step })));
engine.on("step_completed", ({ step }) => tell({ event: "completed", step }));
engine.on("step_failed", ({ step }) => tell({ event: "rate-limited", step }));
engine.on("recovered", ({ recovery }) => tell({ event: "recovered", recovery }));

const begun = performance.now();
await engine.start(flow, { question: "Should we buy ACME?" }, { id: RUN_ID });
await engine.result(RUN_ID);
const run = await engine.get(RUN_ID);
tell({ event: "finished", ran: [...started], usage: run?.usage, ms: Math.round(performance.now() - begun) });
await engine.close();
await store.close();
witness.close();
