import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { builtScript } from "../../testing/package-files.ts";
import { startWitness, type Witness } from "../../testing/witness/witness.ts";
import { defineCommand } from "../command.ts";
import { agents, PRICE, RUN_ID } from "../demo/agents.ts";
import { EXIT } from "../exit-codes.ts";
import { count, duration, usd } from "../format.ts";
import type { Outcome } from "../outcome.ts";
import type { Paint } from "../paint.ts";

interface Line {
  readonly event: "started" | "completed" | "rate-limited" | "recovered" | "finished";
  readonly step?: string;
  readonly recovery?: number;
  readonly ran?: readonly string[];
}

/**
 * `holdfast demo`: ten agents, a rate limit at the ninth, SIGKILL, resume. Everything really happens, on this machine.
 */
export const command = defineCommand({
  name: "demo",
  summary: "Watch ten agents survive a rate limit and kill -9, and pay for nothing twice",
  async run({ out, host }) {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-demo-"));
    const witness = await startWitness({ file: join(folder, "witness.jsonl") });
    const say = (line: string): void => (out.isJson ? undefined : host.stdout.write(out.plain(`${line}\n`)));
    try {
      return await perform(join(folder, "holdfast.db"), witness, { say, paint: out.paint });
    } finally {
      await witness.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
});

/** Reports events as they happen, not at the end. */
interface Stage {
  readonly say: (line: string) => void;
  readonly paint: Paint;
}

async function perform(file: string, witness: Witness, stage: Stage): Promise<Outcome> {
  const { say, paint } = stage;
  say(paint.bold("\n1. Ten agents work on a question. No server, no key.\n"));
  const completed = await untilRateLimit(file, witness.port, stage);
  const killedAt = performance.now();
  say(paint.red("\n   kill -9"));
  say(paint.bold("\n2. A new process picks up what is left.\n"));
  const finished = await untilFinished(file, witness.port, killedAt, stage);
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
  const isRight = duplicates === 0 && ran.length === agents.length - reused.length;
  return { data: report, text: summary(report, paint), exit: isRight ? EXIT.done : EXIT.failed };
}

/**
 * The number of effects beyond one per agent that the witness carried out. A repeated call with the same key isn't
 * carried out again.
 */
function countDuplicates(witness: Witness): number {
  const calls = witness.calls().filter((call) => call.outcome === "done");
  return calls.length - new Set(calls.map((call) => call.step)).size;
}

function summary(
  report: {
    reused: readonly string[];
    ran: readonly string[];
    tokensSaved: number;
    usdSaved: number;
    duplicates: number;
  },
  paint: Paint,
): string {
  const { reused, ran, tokensSaved, usdSaved, duplicates } = report;
  return [
    paint.bold("\n3. What the journal and the witness say\n"),
    `   reused    ${reused.length} agents · ${count(tokensSaved)} tokens and ${usd(usdSaved)} saved`,
    `   ran       ${ran.length} agents · ${ran.join(", ")}`,
    `   effects   ${duplicates} duplicates, counted by a separate process`,
    paint.dim("\n   Next: make your own function durable → npx holdfast init"),
  ].join("\n");
}

/** Runs the first process until it meets the rate limit, then kills it. Returns the finished agents. */
async function untilRateLimit(file: string, port: number, { say, paint }: Stage): Promise<Set<string>> {
  const completed = new Set<string>();
  const child = startProcess(file, port);
  for await (const line of lines(child)) {
    if (line.event === "completed" && line.step) {
      completed.add(line.step);
      say(`   ${paint.green("✓")} ${line.step}`);
    }
    if (line.event === "rate-limited") {
      say(`   ${paint.red("✗")} ${line.step}  HTTP 429`);
      child.kill("SIGKILL");
    }
  }
  return completed;
}

async function untilFinished(
  file: string,
  port: number,
  killedAt: number,
  { say, paint }: Stage,
): Promise<Line> {
  let finished: Line = { event: "finished" };
  for await (const line of lines(startProcess(file, port))) {
    if (line.event === "recovered")
      say(
        paint.dim(
          `   took over from the dead process, ${duration(performance.now() - killedAt)} after the kill`,
        ),
      );
    if (line.event === "completed") say(`   ${paint.green("✓")} ${line.step}`);
    if (line.event === "finished") finished = line;
  }
  return finished;
}

const startProcess = (file: string, port: number): ChildProcess =>
  spawn(process.execPath, [builtScript("cli/demo/process"), file, String(port)], {
    stdio: ["ignore", "pipe", "inherit"],
  });

async function* lines(child: ChildProcess): AsyncGenerator<Line> {
  if (!child.stdout) return;
  for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line) as Line;
}
