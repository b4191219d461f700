import { createReadStream } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { filesIn, useFolders } from "../../../../test/support/folders.ts";
import { createLab } from "../../../../test/support/lab.ts";
import { chat, run, stateAt, verify } from "../../../../test/support/retention.ts";
import { workflow } from "../../../index.ts";
import { archiveInto } from "../../../manage.ts";
import { archiveToFolder } from "../../../stores/file/index.ts";
import { createMemoryStore } from "../../../stores/memory.ts";

const folder = useFolders("archives");
const greet = workflow("greet", (ctx, name: string) => ctx.step("say", () => `Hello ${name.repeat(9_000)}`));

describe("an archive that is built in", () => {
  it("copies runs to another store before they are deleted (S0-38)", async () => {
    const lab = createLab();
    const target = createMemoryStore();
    const flow = chat(40);
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "a", "i".repeat(20_000));
    await lab.drive(engine.cancel("a"));
    const state = await stateAt(lab.store, "a");
    const policy = { maxAge: 0, onExpiry: "delete", archive: archiveInto(target) } as const;
    await lab.drive(engine.retention.prune(policy));
    expect(await lab.store.read("a")).toBeNull();
    await verify(target, "a");
    expect(await stateAt(target, "a")).toEqual(state);
    await run(lab, engine, flow, "a", "again");
    await lab.drive(engine.cancel("a"));
    await lab.drive(engine.retention.prune(policy));
    expect(await stateAt(target, "a")).not.toEqual(state);
    await lab.drive(engine.close());
  });

  it("writes a bundle per run into a folder, which can be imported again (S0-38)", async () => {
    const lab = createLab();
    const root = folder();
    const engine = lab.engine([greet]);
    await run(lab, engine, greet, "a", "Ada");
    const result = await lab.drive(engine.result("a"));
    const archive = archiveToFolder(root);
    await lab.drive(engine.retention.prune({ maxAge: 0, onExpiry: "delete", archive }));
    expect(filesIn(root)).toEqual(["a.jsonl"]);
    expect(await lab.drive(engine.get("a"))).toBeNull();
    const text = createReadStream(path.join(root, "a.jsonl"), { encoding: "utf8" });
    await lab.drive(engine.transfer.importRuns(text));
    expect(await lab.drive(engine.result("a"))).toBe(result);
    await lab.drive(engine.close());
  });
});

describe("the archive table", () => {
  const agent = workflow("agent", async (ctx) => {
    const row = {
      stock_ticker: "AAPL",
      agent_type: ctx.runId,
      analysis_id: "550e8400-e29b-41d4-a716-446655440000",
    };
    for (const progress_pct of [50, 100])
      await ctx.checkpoint(`at ${progress_pct}`, {
        record: { table: "agent_checkpoints", row: { ...row, progress_pct } },
      });
  });

  it("must be there: a store without it refuses the policy, and drops nothing", async () => {
    const lab = createLab();
    const engine = lab.engine([agent]);
    await run(lab, engine, agent, "a");
    const policy = { maxAge: 0, workflows: { other: { archiveRecords: true } } } as const;
    await expect(lab.drive(engine.retention.prune(policy))).rejects.toMatchObject({ code: "HF-4505" });
    await expect(lab.drive(engine.retention.preview(policy))).rejects.toMatchObject({ code: "HF-4505" });
    expect(() => lab.engine([agent], { retention: policy })).toThrow("no archive for checkpoints");
    expect(await lab.store.records?.("a")).toHaveLength(2);
    await lab.drive(engine.close());
  });
});
