import { describe, expect, it } from "vitest";
import { createLab, type Lab } from "../../../test/support/lab.ts";
import { type Engine, workflow } from "../../index.ts";

const greet = workflow("greet", async (ctx, name: string) => ctx.step("say", () => `Hello ${name}`));
const by = { actor: "ada", reason: "spring cleaning" };

async function begin(): Promise<{ lab: Lab; engine: Engine }> {
  const lab = createLab();
  const engine = lab.engine([greet]);
  for (const id of ["a", "b"]) {
    await lab.drive(engine.start(greet, "Ada", { id }));
    await lab.drive(engine.result(id));
  }
  return { lab, engine };
}

const leavesOf = async (engine: Engine): Promise<readonly object[]> =>
  (await engine.audit.list()).entries
    .filter(({ leaf, act }) => leaf !== null && act !== "log_opened")
    .map(({ act, actor, reason, run, what }) => ({ act, actor, reason, ...(run ? { run } : { what }) }))
    .toReversed();

async function textOf(lines: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const line of lines) text += line;
  return text;
}

async function* linesOf(text: string): AsyncGenerator<string> {
  yield text;
}

describe("acts on the store by a program (S1-54)", () => {
  it("are leaves of the audit log: exports, imports, deletions, prunes, and every change of settings", async () => {
    const { lab, engine } = await begin();
    const bundle = await lab.drive(textOf(engine.transfer.exportRun("a", by)));
    await lab.drive(engine.delete("a", by));
    await lab.drive(engine.transfer.importRuns(linesOf(bundle), { ...by, accept: by }));
    await lab.drive(engine.retention.prune({ maxAge: 1_000 }, by));
    await engine.schedules.create("nightly", { workflow: greet, cron: "0 3 * * *", input: "Ada" }, by);
    await engine.schedules.pause("nightly", by);
    await engine.queues.set("mail", { concurrency: 2 }, by);
    await engine.rateLimits.set("openai", { calls: 10, periodMs: 60_000 }, by);
    await engine.alerts.budgets.set("all", { usd: 10 }, by);
    await engine.alerts.budgets.delete("all", by);
    await engine.slo.setTarget("write", { goal: 20 }, by);
    const done = { actor: "ada", reason: "spring cleaning" };
    expect(await leavesOf(engine)).toEqual([
      { act: "export_run", run: "a", ...done },
      { act: "delete_run", run: "a", ...done },
      { act: "import_runs", what: null, ...done },
      { act: "prune_values", what: null, ...done },
      { act: "create_schedule", what: "nightly", ...done },
      { act: "pause_schedule", what: "nightly", ...done },
      { act: "set_queue", what: "mail", ...done },
      { act: "set_rate_limit", what: "openai", ...done },
      { act: "set_budget", what: "all", ...done },
      { act: "delete_budget", what: "all", ...done },
      { act: "set_slo_target", what: "write", ...done },
    ]);
  });

  it("are recorded before they happen, and say when they have failed", async () => {
    const { lab, engine } = await begin();
    await expect(lab.drive(engine.delete("missing", by))).rejects.toMatchObject({ code: "HF-1001" });
    const { entries } = await engine.audit.list();
    const [failed, tried] = entries.filter(({ leaf }) => leaf !== null);
    expect(tried).toMatchObject({ act: "delete_run", run: "missing" });
    expect(failed).toMatchObject({
      act: "act_failed",
      detail: { code: "HF-1001" },
      what: `leaf ${tried?.leaf}`,
    });
  });

  it("are recorded once when whoever calls has recorded them", async () => {
    const { lab, engine } = await begin();
    const work = () => engine.delete("a", by);
    await lab.drive(engine.audit.carry({ act: "delete_run", run: "a", auth: "token 4x8", ...by }, work));
    expect(await leavesOf(engine)).toHaveLength(1);
    expect(engine.audit.isCarrying).toBe(false);
  });

  it("leave nothing for what a policy does by itself, or for arguments that are refused", async () => {
    const { lab, engine } = await begin();
    await lab.drive(engine.retention.prune({ maxAge: 1_000 }));
    await expect(engine.queues.pause(7 as never)).rejects.toThrow();
    await expect(engine.queues.pause("mail", { actor: 7 } as never)).rejects.toThrow();
    expect(await leavesOf(engine)).toEqual([]);
  });
});
