import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";
import { fillStore, timeless } from "../../../test/support/cli-runs.ts";

const folder = cliFolder();
beforeAll(() => fillStore(folder.path));
afterEach(() => vi.useRealTimers());
afterAll(() => folder.remove());

const SECRET = "sk-abcdefghijklmnopqrstuvwx";

describe("show", () => {
  it("says how a run stands, how far it is, and what can be done", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 7_200_000 });
    const { code, stdout } = await folder.run("show recon-88 --input");
    expect(code).toBe(0);
    expect(timeless(stdout)).toMatchInlineSnapshot(`
      "recon-88  reconcile   ‖ gate
      waiting for approval at gate approve for 2h
      2 of 4 · 6,120 tok · $0.04 · checkpoint #10 · started 2h ago

      STEP       STATE             TOOK  USED
      ✓ load     done 0s
      ✓ match    done 0s  6,120 tok · $0.04
      ‖ approve  waiting for you  2h00m
      ○ pay      planned

      Input
        batch=2026-01

      You can
        holdfast gate show recon-88:approve
        holdfast pause recon-88
        holdfast cancel recon-88
        holdfast fork recon-88@10
      "
    `);
  });

  it("tells a failed step with its error, and how to go on (S1-05)", async () => {
    const { stdout } = await folder.run("show aapl-17");
    expect(stdout).toContain("✗ failed, resumable");
    expect(stdout).toContain("failed: HTTP 429 from koyfin");
    expect(stdout).toMatch(/✗ ma_review +failed +\S+ +Error: HTTP 429 from koyfin/);
    expect(stdout).toContain("holdfast resume aapl-17");
  });

  it("masks what looks like a secret, unless it is told to reveal", async () => {
    const { stdout } = await folder.run("show done-1 --output");
    expect(stdout).toContain("apiKey=***");
    expect(stdout).not.toContain(SECRET);
    expect((await folder.run("show done-1 --output --json")).stdout).not.toContain(SECRET);
    expect((await folder.run("show done-1 --output --reveal")).stdout).toContain(SECRET);
  });

  it("shows attempts and decisions when asked", async () => {
    const { stdout } = await folder.run("show done-1 --attempts --decisions");
    expect(stdout).toMatch(/attempt 1 +failed .*HTTP 503 from scorer/);
    expect(stdout).toMatch(/attempt 2 +done/);
    expect(stdout).toContain("editor: publish (90 % sure): score is high");
  });

  it("says of tokens without a price that they have none", async () => {
    const { stdout } = await folder.run("show done-1");
    expect(stdout).toContain("4,000 tok of it unpriced");
    expect(stdout).toMatch(/✓ write .*4,000 tok · unpriced/);
  });

  it("shows one step with all that is known of it", async () => {
    const { stdout } = await folder.run("show done-1:score");
    expect(stdout).toContain("done-1:score");
    expect(stdout).toContain("checkpoint  done-1@9");
    expect(stdout).toMatch(/output +0.9/);
    const paid = await folder.run("show aapl-17:ma_review --json");
    expect(paid.json()).toMatchObject({
      schema: "holdfast/show/v1",
      run: "aapl-17",
      state: "failed",
      attempts: [{ attempt: 1, outcome: "failed", error: { message: "HTTP 429 from koyfin" } }],
      acts: ["holdfast retry aapl-17:ma_review", "holdfast resume aapl-17"],
    });
  });

  it("answers 4 for a run or a step that is not there, and names what is near", async () => {
    expect((await folder.run("show nothing")).code).toBe(4);
    const { code, stderr } = await folder.run("show aapl-17:ma_reviwe");
    expect(code).toBe(4);
    expect(stderr).toContain("holdfast show aapl-17:ma_review");
    expect((await folder.run("show recon-88:pay")).stderr).toContain("planned and hasn't started");
  });

  it("gives the whole run as a document", async () => {
    const { stdout } = await folder.run("show recon-88 --json");
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      id: "recon-88",
      status: "waiting",
      needsYou: true,
      progress: { done: 2, total: 4, text: "2 of 4" },
      pending: ["pay"],
      checkpoint: "recon-88@10",
    });
  });

  it("watches a run until it has ended", async () => {
    const ended = await folder.run("show done-1 --watch");
    expect(ended.stdout).toContain("✓ completed");
    const waiting = await folder.run("show recon-88 --watch", { onListening: (press) => press("SIGINT") });
    expect([waiting.code, waiting.stdout.includes("‖ gate")]).toEqual([0, true]);
  });
});

describe("logs", () => {
  it("tells the journal line by line", async () => {
    const { code, stdout } = await folder.run("logs done-1");
    expect(code).toBe(0);
    expect(timeless(stdout)).toMatchInlineSnapshot(`
      "<time>    #1 ▶ run                created (brief 1)
      <time>    #5 ✓ collect            done
      <time>    #7 ! score              attempt 1 failed, again in 0s: Error: HTTP 503 from scorer
      <time>    #9 ✓ score              done · 1,200 tok · $0.01
      <time>   #10 · decision           decision made
      <time>   #11 · checkpoint:scored  checkpoint scored (user_requested)
      <time>   #13 ✓ write              done · 4,000 tok · unpriced
      <time>   #14 ✓ run                completed
      "
    `);
  });

  it("shows only a step, a level or an attempt", async () => {
    const all = (await folder.run("logs done-1 --level debug")).stdout.trimEnd().split("\n");
    expect(all).toHaveLength(14);
    const step = (await folder.run("logs done-1:score --level debug --attempt 2")).stdout;
    expect(step.trimEnd().split("\n")).toHaveLength(2);
    expect((await folder.run("logs done-1 --level warn")).stdout).toMatch(/score +attempt 1 failed/);
    expect((await folder.run("logs done-1 --level loud")).code).toBe(2);
  });

  it("streams events with their headers", async () => {
    const { stdout } = await folder.run("logs aapl-17 --jsonl");
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.find(({ type }) => type === "step_failed")).toMatchObject({
      run: "aapl-17",
      step: "ma_review",
      level: "error",
      meta: { attempt: 1 },
      error: "Error: HTTP 429 from koyfin",
    });
  });

  it("follows a run until it has ended", async () => {
    const { code, stdout } = await folder.run("logs done-1 -f");
    expect(code).toBe(0);
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/run +completed/);
  });

  it("leaves out what happened before a moment", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 7_200_000 });
    expect((await folder.run("logs done-1 --since 1h")).stdout).toBe("");
    expect((await folder.run("logs done-1 --since 3h")).stdout).not.toBe("");
    expect((await folder.run("logs done-1 --since yesteryear")).code).toBe(2);
  });
});
