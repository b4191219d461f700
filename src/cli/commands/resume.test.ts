import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FLOWS, hooks, useFlows } from "../../../test/support/cli-flows.ts";
import { createStockAgent, type StockAgent, stockAgent } from "../../../test/support/stock-agent.ts";
import { openSqliteStore } from "../../stores/sqlite/index.ts";
import { AgentCheckpointer } from "../../team/index.ts";

const folder = useFlows();

/** A run that is paused before its second step. */
const paused = (id: string, flow = "greet -i name=Ada", step = "compose") =>
  folder.run(`run flows.mjs#${flow} --id ${id} --break-at ${step}`);

/** The claim of a process that let go in the middle has run out. */
const letGo = (id: string) => folder.until(id, ({ claim }) => claim.until <= Date.now());

describe("holdfast resume", () => {
  it("says beforehand what is reused, run and changed, and does nothing of it", async () => {
    await paused("r1");
    const { code, stdout } = await folder.run("resume r1 --plan");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}reuse {2}1 step {2}.*120 tok · \$0\.01 won't be spent again$/m);
    expect(stdout).toMatch(/^ {2}run {4}next 1 +compose$/m);
    expect(hooks.calls).toEqual(["look up"]);
    const { plan } = (await folder.run("resume r1 --plan --json")).json<{ plan: object }>();
    expect(plan).toMatchObject({
      runId: "r1",
      status: "paused",
      code: true,
      reuse: { steps: 1, tokens: 120 },
    });
  });

  it("estimates what is left from how runs of the workflow went before", async () => {
    await folder.run("run flows.mjs#greet -i name=Ada");
    await paused("r2");
    expect((await folder.run("resume r2 --plan")).stdout).toMatch(
      /compose … est\. \S+ \(as the run before\)/,
    );
  });

  it("names the program for a run that has no workflow, because an agent's object is saved in it", async () => {
    const store = await openSqliteStore({ file: join(folder.path, ".holdfast/holdfast.db") });
    const checkpointer = new AgentCheckpointer<StockAgent>({ store, createAgent: createStockAgent });
    const agent = stockAgent("550e8400-e29b-41d4-a716-446655440000");
    await checkpointer.saveCheckpoint(agent, agent.doNext());
    await checkpointer.saveFailure(agent, new Error("rate limit"));
    await checkpointer.close();
    await store.close();
    const id = `${agent.analysisId}-${agent.agentType}`;
    const { code, stderr } = await folder.run(`resume ${id}`);
    expect([code, stderr]).toEqual([4, expect.stringContaining("Start that program again")]);
    const { stdout } = await folder.run(`show ${id}`);
    expect(stdout).toContain(`cancel ${id}`);
    expect(stdout).not.toMatch(/resume |fork /);
  });

  it("goes on, and says what was reused and saved (S3-36)", async () => {
    await paused("r3");
    const { code, stdout, stderr } = await folder.run("resume r3");
    expect([code, stdout]).toEqual([0, "Hello Ada\n"]);
    expect(stderr).toMatch(/^✓ completed in \S+ · recovered in \S+ · reused 1 step.*\$0\.01$/m);
    const again = await folder.run("resume r3");
    expect([again.code, again.stdout]).toEqual([0, "Hello Ada\n"]);
    expect(again.stderr).toContain("nothing was run");
  });

  it("says which finished steps were not asked for again, and counts only what was reused (C13)", async () => {
    await paused("v1", "varied", "last");
    const { code, stderr } = await folder.run("resume v1");
    expect(code).toBe(0);
    expect(stderr).toMatch(/^! HF-2292 The code didn't ask again for these finished steps: x0\.\d+\./m);
    expect(stderr).not.toContain("reused");
    expect(hooks.calls).toEqual(["x", "x"]);
    expect((await folder.run("show v1")).stdout).toMatch(/^HF-2292 The code didn't ask again/m);
    const { unasked } = (await folder.run("show v1 --json")).json<{ unasked: string[] }>();
    expect(unasked).toHaveLength(1);
  });

  it("says until when it waits for the next try, and tries now when it is told to (A11)", async () => {
    hooks.fail = "HTTP 429";
    hooks.retryAfterMs = 700_000;
    await folder.run("run flows.mjs#fragile --id f1");
    hooks.fail = undefined;
    const waiting = folder.run("resume f1");
    await folder.until("f1", (row) => row.waiting.some(({ kind }) => kind === "retry"));
    expect((await folder.run("show f1")).stdout).toContain("holdfast resume f1 --now");
    expect((await folder.run("resume f1 --now")).code).toBe(0);
    const { code, stderr } = await waiting;
    expect(code).toBe(0);
    expect(stderr).toMatch(/^◌ ask +waits 1\dm\d\ds for its next try · now: holdfast resume f1 --now$/m);
  });

  it("says what a fork from an earlier checkpoint would do, and makes none", async () => {
    await folder.run("run flows.mjs#greet -i name=Ada --id p4");
    const before = (await folder.run("list --json")).json<{ runs: unknown[] }>().runs.length;
    const { code, json } = await folder.run(["resume", "p4@look up", "--plan", "--json"]);
    expect([code, json()]).toMatchObject([
      0,
      { plan: null, fork: { from: { runId: "p4" }, effects: "reuse" } },
    ]);
    expect((await folder.run("resume p4 --from first --plan")).stdout).toContain("fork at p4@");
    expect((await folder.run("list --json")).json<{ runs: unknown[] }>().runs).toHaveLength(before);
  });

  it("plans with the values it is given", async () => {
    await paused("p5", "listens", "wait");
    const plan = (more: string[]) => folder.run(["resume", "p5", "--plan", "--json", ...more]);
    expect((await plan(["--set", "memory.note=1"])).code).toBe(0);
    expect((await plan(["--set", "steps.never=1"])).code).not.toBe(0);
  });

  it("goes on from an earlier checkpoint as a new run, and leaves the old one alone (S3-02, S3-16)", async () => {
    await folder.run("run flows.mjs#greet -i name=Ada --id r4");
    const { code, stdout, stderr } = await folder.run(["resume", "r4@look up", "--json"]);
    expect(code).toBe(0);
    const { run } = JSON.parse(stdout) as { run: string };
    expect(run).not.toBe("r4");
    expect(stderr).toMatch(/continues from r4@\d+; r4 is unchanged/);
    expect(hooks.calls).toEqual(["look up", "compose", "compose"]);
    expect((await folder.run(["resume", "r4", "--from", "look up"])).stdout).toBe("Hello Ada\n");
    expect((await folder.run("resume --checkpoint-id r4@first")).stdout).toBe("Hello Ada\n");
    expect((await folder.run("resume r4@nowhere")).code).toBe(4);
  });

  it("brings context and other values along", async () => {
    await paused("r5", "listens", "wait");
    const line = ["resume", "r5", "--inject", "look again", "--set", 'memory.note="C-17"'];
    const { stdout } = await folder.run(line);
    expect(JSON.parse(stdout)).toEqual({ inbox: ["look again"], memory: "C-17" });
    await paused("r6");
    expect((await folder.run("resume r6 --set memry.x=1")).stderr).toContain("--set memory…=<json>");
    expect((await folder.run("resume r6 --set memory.x=oops")).code).toBe(2);
  });

  it("asks a terminal about a step whose outcome is unknown, and does as it is told", async () => {
    const doubt = async (id: string) => {
      const hold = hooks.hold("pay");
      await folder.run(`run flows.mjs#once --id ${id}`, {
        onListening: (press) => void hold.begun.then(() => (press("SIGINT"), press("SIGINT"))),
      });
      await letGo(id);
    };
    folder.write("holdfast.config.json", JSON.stringify({ claim: "300ms" }));
    await doubt("r7");
    const left = await folder.run("resume r7");
    expect(left.code).toBe(75);
    expect(left.stderr).toContain("the outcome of pay is unknown");
    expect(left.stderr).toContain("holdfast resume r7 --in-doubt rerun");
    expect(hooks.calls).toEqual(["prepare", "pay"]);
    const later = await folder.run("resume r7", { columns: 100, answers: [""] });
    expect(later.code).toBe(75);
    const done = await folder.run("resume r7", { columns: 100, answers: ["2", '"by hand"'] });
    expect([done.code, done.stdout]).toEqual([0, "by hand\n"]);
    await doubt("r8");
    const marked = await folder.run([
      "resume",
      "r8",
      "--in-doubt",
      "mark-done",
      "--result",
      '"sent"',
      "--yes",
    ]);
    expect([marked.code, marked.stdout]).toEqual([0, "sent\n"]);
    expect(hooks.calls.filter((name) => name === "pay")).toHaveLength(2);
  });

  it("does not let a coding agent mark a step as done without consent", async () => {
    folder.write("holdfast.config.json", JSON.stringify({ claim: "300ms" }));
    const hold = hooks.hold("pay");
    await folder.run("run flows.mjs#once --id r9", {
      onListening: (press) => void hold.begun.then(() => (press("SIGINT"), press("SIGINT"))),
    });
    await letGo("r9");
    await folder.run("resume r9");
    const env = { CURSOR_AGENT: "1" };
    const refused = await folder.run("resume r9 --in-doubt mark-done --yes", { env });
    expect([refused.code, refused.stderr]).toEqual([8, expect.stringContaining("HF-4313")]);
    const consent = { ...env, HOLDFAST_AGENT_CONSENT: "yes, says Ada" };
    expect((await folder.run("resume r9 --in-doubt mark-done --yes", { env: consent })).code).toBe(0);
  });

  it("names the process that has the run, and starts nothing", async () => {
    const hold = hooks.hold("look up");
    const first = folder.run("run flows.mjs#greet -i name=Ada --id r10");
    await hold.begun;
    const { code, stderr } = await folder.run("resume r10");
    expect([code, stderr]).toEqual([
      7,
      expect.stringMatching(/Run r10 is in progress: \S+:\d+ is working on it\./),
    ]);
    expect((await folder.run("run flows.mjs#greet --id r10")).code).toBe(7);
    hold.release();
    expect((await first).stdout).toBe("Hello Ada\n");
  });

  it("takes up every interrupted run with --all, and leaves paused ones alone", async () => {
    await folder.run("run flows.mjs#greet -i name=Ada --id a1 --detach");
    await folder.run("run flows.mjs#greet -i name=Bob --id a2 --detach");
    await paused("a3");
    const { code, stdout } = await folder.run("resume --all");
    expect([code, stdout]).toEqual([0, "2 runs continued, 2 completed\n"]);
    expect((await folder.until("a3", () => true)).status).toBe("paused");
    expect((await folder.run("resume --all")).stdout).toBe("Nothing was interrupted.\n");
  });

  it("advances only the run that was asked for", async () => {
    await folder.run("run flows.mjs#greet -i name=Ada --id o1 --detach");
    await folder.run("run flows.mjs#greet -i name=Bob --id o2");
    expect((await folder.until("o1", () => true)).status).toBe("queued");
  });

  it("finds the code of a run again, or says how to name it", async () => {
    await paused("c1");
    folder.write("moved/flows.mjs", FLOWS);
    const { rmSync } = await import("node:fs");
    rmSync(`${folder.path}/flows.mjs`);
    const lost = await folder.run("resume c1");
    expect([lost.code, lost.stderr]).toEqual([4, expect.stringContaining("It was started from flows.mjs")]);
    expect((await folder.run("resume c1 --file moved/flows.mjs")).stdout).toBe("Hello Ada\n");
  });

  it("does nothing where there is nothing to do, and asks which of several", async () => {
    expect((await folder.run("resume")).stdout).toBe("Nothing to resume.\n");
    await paused("n1");
    await paused("n2");
    expect((await folder.run("resume")).code).toBe(2);
    expect((await folder.run("resume n")).stderr).toContain("It could be: n2 (paused), n1 (paused).");
    expect((await folder.run("resume zzz")).code).toBe(4);
    expect(
      (await folder.run("resume greet --plan --json")).json<{ plan: { runId: string } }>().plan.runId,
    ).toBe("n2");
    expect(
      (await folder.run("resume @last --plan --json")).json<{ plan: { runId: string } }>().plan.runId,
    ).toBe("n2");
  });
});
