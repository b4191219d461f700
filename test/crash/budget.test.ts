import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { text as readText } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import { useFolders } from "../support/folders.ts";
import type { BudgetConfig, BudgetReport } from "./budget-child.ts";

const CHILD = childScript("test/crash/budget-child");
const newFile = useFolders("budget");
const [CHILDREN, CALLS, TOKENS] = [5, 12, 100];

type Given = Omit<BudgetConfig, "children" | "calls" | "tokens">;

async function work(given: Given): Promise<BudgetReport | "killed"> {
  const config: BudgetConfig = { ...given, children: CHILDREN, calls: CALLS, tokens: TOKENS };
  const args = [CHILD, JSON.stringify(config)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once("close", (_, signal) => resolve(signal)),
  );
  const printed = await readText(child.stdout);
  return (await ended) === "SIGKILL" ? "killed" : (JSON.parse(printed) as BudgetReport);
}

describe("a limit for a run and its children whose process is killed again and again", () => {
  it("is kept by all of them together, and work goes on where it was when it is raised", async () => {
    const [file, witness] = [`${newFile()}.db`, newFile()];
    const budget = 2_000;
    const kills = [1, 3, 6, 4];
    for (const killAt of kills)
      expect(await work({ file, witness, budget, killAt }), String(killAt)).toBe("killed");
    const held = (await work({ file, witness, budget })) as BudgetReport;
    expect(held.status).toBe("waiting");
    expect(held.waits).toEqual(Array.from({ length: CHILDREN }, () => "budget"));
    // At most one call of each child had passed when the limit was reached.
    expect(held.tokens).toBeGreaterThanOrEqual(budget);
    expect(held.tokens).toBeLessThan(budget + CHILDREN * TOKENS);
    const begun = () => (existsSync(witness) ? readFileSync(witness, "utf8").trim().split("\n").length : 0);
    // A process only loses its calls in progress.
    const lost = begun() - held.tokens / TOKENS;
    expect(lost).toBeGreaterThanOrEqual(kills.length);
    expect(lost).toBeLessThanOrEqual(kills.length * CHILDREN);
    const done = (await work({ file, witness, budget, raise: 1_000_000 })) as BudgetReport;
    expect(done).toEqual({ status: "completed", waits: [], tokens: CHILDREN * CALLS * TOKENS });
    expect(begun()).toBe(CHILDREN * CALLS + lost);
  });
});
