import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";
import { fillStore, withRuns } from "../../../test/support/cli-runs.ts";
import { workflow } from "../../index.ts";
import { newAuditKey } from "../../security/index.ts";

const folder = cliFolder();

const mails = workflow("mails", (ctx) =>
  ctx.step("mail", () => Promise.reject(Object.assign(new Error("connection reset"), { fatal: true })), {
    effect: "once",
  }),
);

beforeAll(async () => {
  await fillStore(folder.path);
  await withRuns(folder.path, async (engine) => {
    await engine.start(mails, undefined, { id: "mail-1" });
    await engine.settled("mail-1");
    await engine.pause("recon-88", { actor: "ada", reason: "a look" });
  });
});
afterAll(() => folder.remove());

describe("report", () => {
  it("tells a run's trail with who did what and why, and that the record is intact", async () => {
    const { stdout, code } = await folder.run("report trail recon-88");
    expect(code).toBe(0);
    expect(stdout).toContain("is exactly as it was written");
    expect(stdout).toContain("ada: pause requested ×1");
    expect(stdout).toMatch(/#\d+ [\w-]{8} run +pause requested by ada: a look/);
    const data = (await folder.run("report trail recon-88 --json")).json() as { lines: { entry: string }[] };
    expect(data).toMatchObject({ run: "recon-88", verified: true });
    expect(data.lines.at(-1)?.entry).toMatch(/^[\w-]{43}$/);
  });

  it("tells acts by actor, and how often each step was called (S1-56)", async () => {
    const all = (await folder.run("report acts --json")).json<{ acts: { actor: string }[]; runs: number }>();
    expect(all.runs).toBe(4);
    const actor = all.acts[0]?.actor ?? "";
    expect((await folder.run(["report", "acts", "--actor", actor])).stdout).toContain(actor);
    expect((await folder.run("report acts --actor nobody")).stdout).toContain("0 acts in 4 runs");
    const { steps } = (await folder.run("report steps --json")).json<{ steps: { attempts: number }[] }>();
    expect(steps.length).toBeGreaterThan(0);
    expect((await folder.run("report steps")).stdout).toContain("ATTEMPTS");
  });

  it("tells recoveries, or that no worker was lost", async () => {
    const { stdout } = await folder.run("report recoveries");
    expect(stdout).toContain("No worker was lost.");
    expect(stdout).toMatch(/ended: 1 completed \(0 after a recovery\), 2 failed/);
    expect((await folder.run("report recoveries --workflow brief --json")).json()).toMatchObject({
      runs: { completed: 1, failed: 0, completionRate: 1 },
      incidents: [],
    });
  });

  it("says whether a promise about effects was broken", async () => {
    const { stdout, code } = await folder.run("report effects");
    expect(code).toBe(0);
    expect(stdout).toContain("no promise was broken");
    expect((await folder.run("report effects --json")).json()).toMatchObject({ violations: 0 });
  });

  it("tells what the store holds by workflow and by day", async () => {
    const { stdout } = await folder.run("report capacity");
    expect(stdout).toMatch(/4 runs: /);
    expect(stdout).toMatch(/\n\d{4}-\d\d-\d\d +4 /);
    expect((await folder.run("report capacity --json")).json()).toMatchObject({ total: { runs: 4 } });
  });

  it("refuses a period that is none, and a run that is not there", async () => {
    expect((await folder.run("report effects --since yesterday")).code).toBe(2);
    expect((await folder.run("report effects --since 2026-02-01 --until 2026-01-01")).code).toBe(2);
    expect((await folder.run("report trail nobody")).code).toBe(4);
  });

  it("writes evidence of a run as a page, and each report of a month as Markdown (S1-56)", async () => {
    const page = await folder.run("report evidence recon-88 --format html");
    expect(page.code).toBe(0);
    expect(page.stdout).toMatch(/^<!doctype html>/);
    for (const title of ["Execution audit trail", "Recovery incident log", "Idempotency violation report"])
      expect(page.stdout).toContain(`>${title}</h2>`);
    const month = new Date().toISOString().slice(0, 7);
    const { stdout } = await folder.run(`report effects --month ${month} --format md`);
    expect(stdout).toContain("## Idempotency violation report");
    expect(stdout).not.toContain("## Recovery incident log");
    expect((await folder.run(`report recoveries --month ${month}`)).stdout).toContain("No worker was lost.");
    expect((await folder.run("report capacity --month 2026-13")).code).toBe(2);
    expect((await folder.run(`report effects --month ${month} --since 2d`)).code).toBe(2);
  });

  it("signs evidence so that anybody with the public key sees that a file was changed (S1-56)", async () => {
    const { privateKey, publicKey } = newAuditKey("example.com/audit");
    const key = path.join(folder.path, "audit.key");
    writeFileSync(key, privateKey, { mode: 0o600 });
    const { code, stdout } = await folder.run("report evidence recon-88 --key audit.key -o e.html");
    expect([code, stdout]).toEqual([0, expect.stringContaining("wrote e.html.note")]);
    const check = ["report", "verify", "e.html.note", "--key", publicKey];
    expect((await folder.run(check)).stdout).toContain("✓ e.html: unchanged");
    const file = path.join(folder.path, "e.html");
    writeFileSync(file, readFileSync(file, "utf8").replace("recon-88", "recon-89"));
    expect(await folder.run(check)).toMatchObject({
      code: 6,
      stdout: expect.stringContaining("✗ e.html: changed"),
    });
    expect((await folder.run("report verify e.html.note")).code).toBe(2);
    const other = newAuditKey("example.com/audit").publicKey;
    expect((await folder.run(["report", "verify", "e.html.note", "--key", other])).code).not.toBe(0);
    expect((await folder.run("report evidence recon-88 --key audit.key -o e.html")).stderr).toContain(
      "HF-4356",
    );
  });
});
