import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { cliFolder } from "../../../test/support/cli.ts";
import { fillStore, reconcile, withRuns } from "../../../test/support/cli-runs.ts";
import { workflow } from "../../index.ts";

const folder = cliFolder();

const vote = workflow("vote", async (ctx) => {
  const { choice } = await ctx.gate("vote", { choices: ["left", "right"] });
  return choice;
});

const refund = workflow("refund", async (ctx) => {
  const data = z.object({ cents: z.number() });
  return (await ctx.gate("amount", { choices: ["pay"], data })).data;
});

beforeAll(async () => {
  await fillStore(folder.path);
  await withRuns(folder.path, async (engine) => {
    await engine.start(vote, undefined, { id: "vote-1" });
    await engine.start(refund, undefined, { id: "refund-1" });
    await engine.settled("refund-1");
    for (const id of ["twin-1", "twin-2", "later-1"]) await engine.start(reconcile, { batch: id }, { id });
    for (const id of ["vote-1", "twin-1", "twin-2", "later-1"]) await engine.settled(id);
  });
});
afterAll(() => folder.remove());

describe("gate", () => {
  it("lists what waits for an answer, the longest first", async () => {
    const { stdout } = await folder.run("gate list");
    const lines = stdout.trimEnd().split("\n");
    expect(lines[1]).toMatch(/^recon-88:approve +reconcile .* approve reject +batch=2026-01 matched=2$/);
    expect(lines).toHaveLength(7);
    const empty = cliFolder();
    expect((await empty.run("gate")).stdout).toBe("✓ No decisions waiting.\n");
    empty.remove();
  });

  it("lists the gate of a run that was paused there, and says that it has to be resumed", async () => {
    const other = cliFolder();
    await withRuns(other.path, async (engine) => {
      await engine.start(vote, undefined, { id: "held" });
      await engine.settled("held");
      await engine.pause("held");
    });
    const { stdout } = await other.run("gate list");
    expect(stdout).toBe(
      "✓ No decisions waiting.\n‖ held:vote belongs to a paused run: answer it, then holdfast resume held\n",
    );
    expect((await other.run("gate list --json")).json()).toMatchObject({
      gates: [],
      paused: [{ address: "held:vote" }],
    });
    const answered = await other.run("gate answer held:vote --choice left");
    expect(answered.stdout).toContain("The run is paused. Continue: holdfast resume held");
    other.remove();
  });

  it("shows the question, how far the run is, and the commands that answer it (S0-16)", async () => {
    const { stdout } = await folder.run("gate show recon-88:approve");
    expect(stdout).toContain("2 of 4 complete");
    expect(stdout).toContain('"matched": 2');
    expect(stdout).toContain("holdfast gate reject recon-88:approve");
    expect((await folder.run("gate show vote --json")).json()).toMatchObject({
      address: "vote-1:vote",
      choices: ["left", "right"],
    });
  });

  it("takes the data that it asks for, as JSON", async () => {
    expect((await folder.run("gate show refund-1")).stdout).toContain("with --data <json>");
    const answer = (data: string) =>
      folder.run(["gate", "answer", "refund-1:amount", "--choice", "pay", "--data", data, "--json"]);
    expect((await answer("{cents}")).stdout).toContain("--data isn't valid JSON");
    expect((await answer('{"cents": 5}')).json()).toMatchObject({ choice: "pay", data: { cents: 5 } });
  });

  it("is found by its name where only one run waits at it, and by a run that waits at one", async () => {
    expect((await folder.run("gate show twin-1 --json")).json()).toMatchObject({ address: "twin-1:approve" });
    const several = await folder.run("gate approve approve");
    expect(several.code).toBe(4);
    expect(several.stderr).toContain("recon-88:approve");
    const none = await folder.run("gate approve aprove");
    expect([none.code, none.stderr]).toEqual([4, expect.stringContaining("Did you mean approve?")]);
    expect((await folder.run("gate approve done-1")).stderr).toContain("waits at no gate");
    expect((await folder.run("gate approve twin-1:pay")).stderr).toContain("The run waits at: approve");
  });

  it("is approved or rejected with the choice that says so, once", async () => {
    const yes = await folder.run([
      "gate",
      "approve",
      "recon-88:approve",
      "--comment",
      "looks right",
      "--as",
      "ada",
      "--reason",
      "checked",
    ]);
    expect(yes.stdout).toContain("✓ recon-88:approve: approve (by ada)");
    expect(yes.stdout).toContain("holdfast resume recon-88");
    const again = await folder.run("gate reject recon-88:approve");
    expect(again.code).toBe(4);
    const no = await folder.run("gate reject twin-1 --json");
    expect(no.json()).toMatchObject({ gate: "twin-1:approve", choice: "reject" });
    await withRuns(folder.path, async (engine) => {
      await engine.recover();
      expect(await engine.result("twin-1")).toBe("rejected");
    });
  });

  it("is not guessed at when no choice means it", async () => {
    const { code, stderr } = await folder.run("gate approve vote");
    expect([code, stderr]).toEqual([2, expect.stringContaining("left, right")]);
    expect((await folder.run("gate answer vote --choice middle")).code).toBe(2);
  });

  it("asks on a terminal, and only there", async () => {
    expect((await folder.run("gate answer twin-2")).stderr).toContain("HF-4354");
    expect((await folder.run("gate answer twin-2 --json", { answers: ["approve"] })).code).toBe(2);
    expect((await folder.run("gate answer twin-2", { answers: [] })).code).toBe(2);
    const asked = await folder.run("gate answer twin-2", { answers: ["Approve"] });
    expect([asked.code, asked.stderr]).toEqual([
      0,
      expect.stringContaining("twin-2:approve [approve/reject]:"),
    ]);
  });

  it("takes words from a file or standard input where it takes any", async () => {
    expect((await folder.run("gate approve later-1 --input nowhere.txt")).code).toBe(4);
    expect((await folder.run(["gate", "approve", "later-1", "--input", "-", "--comment", "x"])).code).toBe(2);
    const { code } = await folder.run("gate approve later-1 --input - --json", { input: "from the phone" });
    expect(code).toBe(0);
    expect((await folder.run("show later-1:approve --reveal")).stdout).toContain("from the phone");
  });

  it("takes a comment as the reason, also where it takes no words for the run (C3)", async () => {
    const words = await folder.run("gate answer vote --choice left --input -", { input: "for the run" });
    expect([words.code, words.stderr]).toEqual([2, expect.stringContaining("--comment <text>")]);
    const { code, stdout } = await folder.run("gate answer vote --choice left --comment because --as ada");
    expect([code, stdout]).toEqual([0, expect.stringContaining("vote-1:vote: left (by ada)")]);
    // There is no worker command, so none is promised (C12).
    expect(stdout).toContain("Continue: holdfast resume vote-1");
    expect((await folder.run("logs vote-1")).stdout).toContain("answered left by ada: because");
  });
});
