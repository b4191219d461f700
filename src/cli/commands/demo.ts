import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startWitness, type Witness } from "../../testing/witness.ts";
import { agents, PRICE, RUN_ID } from "../demo/agents.ts";
import { bold, type Command, dim, green, red, say } from "../output.ts";

interface Line {
  readonly event: "started" | "completed" | "rate-limited" | "recovered" | "finished";
  readonly step?: string;
  readonly recovery?: number;
  readonly ran?: readonly string[];
}

/** `holdfast demo`: ten agents, a rate limit at the ninth, SIGKILL, resume. Everything happens for real, on this machine. */
export const demo: Command = {
  name: "demo",
  usage: "demo",
  summary: "ten agents, a rate limit, kill -9, resume: nothing is paid twice",
  async run(_, { json }) {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-demo-"));
    const witness = await startWitness({ file: join(folder, "witness.jsonl") });
    try {
      return await perform(join(folder, "holdfast.db"), witness, json);
    } finally {
      await witness.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function perform(file: string, witness: Witness, json: boolean): Promise<number> {
  const tell = json ? () => undefined : say;
  tell(bold("\n1. Ten agents work on a question. SQLite file, no server, no key.\n"));
  const completed = await untilRateLimit(file, witness.port, tell);
  tell(red("\n   kill -9"));
  tell(bold("\n2. A new process picks up what is left.\n"));
  const finished = await untilFinished(file, witness.port, tell);
  const reused = agents.filter(({ name }) => completed.has(name));
  const ran = finished.ran ?? [];
  const saved = reused.reduce((sum, { tokens }) => sum + tokens, 0);
  const duplicates = countDuplicates(witness);
  const report = {
    reused: reused.map(({ name }) => name),
    ran,
    tokensSaved: saved,
    usdSaved: saved * PRICE,
    duplicates,
    run: RUN_ID,
  };
  if (json) say(JSON.stringify(report));
  else summarise(report);
  return duplicates === 0 && ran.length === agents.length - reused.length ? 0 : 1;
}

/** Effects beyond one per agent that the witness carried out. A repeated call with the same key is not carried out again. */
function countDuplicates(witness: Witness): number {
  const calls = witness.calls().filter((call) => call.outcome === "done");
  return calls.length - new Set(calls.map((call) => call.step)).size;
}

function summarise(report: {
  reused: readonly string[];
  ran: readonly string[];
  tokensSaved: number;
  usdSaved: number;
  duplicates: number;
}): void {
  say(bold("\n3. What the journal and the witness say\n"));
  say(
    `   reused    ${report.reused.length} agents    ${report.tokensSaved.toLocaleString("en")} tokens · $${report.usdSaved.toFixed(2)} not spent again`,
  );
  say(`   ran       ${report.ran.length} agents    ${report.ran.join(", ")}`);
  say(
    `   effects   ${report.duplicates} duplicates, counted by a separate process that wrote down every call`,
  );
  say(dim("\n   Next: wrap your own function in workflow() and ctx.step(). See README.md.\n"));
}

/** Runs the first process until it meets the rate limit, then kills it. Answers the agents that had finished. */
async function untilRateLimit(
  file: string,
  port: number,
  tell: (line: string) => void,
): Promise<Set<string>> {
  const completed = new Set<string>();
  const child = startProcess(file, port);
  for await (const line of lines(child)) {
    if (line.event === "completed" && line.step) {
      completed.add(line.step);
      tell(`   ${green("✓")} ${line.step}`);
    }
    if (line.event === "rate-limited") {
      tell(`   ${red("✗")} ${line.step}  HTTP 429`);
      child.kill("SIGKILL");
    }
  }
  return completed;
}

async function untilFinished(file: string, port: number, tell: (line: string) => void): Promise<Line> {
  let finished: Line = { event: "finished" };
  for await (const line of lines(startProcess(file, port))) {
    if (line.event === "recovered") tell(dim("   claim of the dead process has run out; taken over"));
    if (line.event === "completed") tell(`   ${green("✓")} ${line.step}`);
    if (line.event === "finished") finished = line;
  }
  return finished;
}

const startProcess = (file: string, port: number): ChildProcess =>
  spawn(
    process.execPath,
    [fileURLToPath(new URL("../demo/process.js", import.meta.url)), file, String(port)],
    { stdio: ["ignore", "pipe", "inherit"] },
  );

async function* lines(child: ChildProcess): AsyncGenerator<Line> {
  if (!child.stdout) return;
  for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line) as Line;
}
