import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { useFolders } from "../../../test/support/folders.ts";
import { createEngine } from "../../core/engine/engine.ts";
import { workflow } from "../../core/workflow.ts";
import { openFileStore } from "./index.ts";

const newFolder = useFolders("file-engine");
const LONG = "a long value ".repeat(2_000);

/** Runs a workflow whose third step fails until `isMended`, so that another engine resumes the run. */
async function work(folder: string, isMended: boolean, calls: string[]): Promise<string> {
  const job = workflow("job", async (ctx) => {
    for (const name of ["one", "two"])
      await ctx.step(name, async () => {
        calls.push(name);
        return LONG + name;
      });
    return ctx.step("three", async () => {
      calls.push("three");
      if (!isMended) throw Object.assign(new Error("not yet"), { retryable: false });
      return "done";
    });
  });
  const store = await openFileStore({ folder });
  const engine = createEngine({ store, workflows: [job] });
  try {
    if (isMended) await engine.resume("job-1", { actor: "ada" });
    else await engine.start(job, undefined, { id: "job-1" });
    return String(await engine.result("job-1"));
  } finally {
    await engine.close();
    await store.close();
  }
}

it("a run in files is resumed by another engine without repeating a step", async () => {
  const folder = newFolder();
  const calls: string[] = [];
  await expect(work(folder, false, calls)).rejects.toMatchObject({ code: "HF-2101" });
  expect(await work(folder, true, calls)).toBe("done");
  expect(calls).toEqual(["one", "two", "three", "three"]);
  const names = readdirSync(path.join(folder, "runs", "job-1"));
  expect(names.filter((name) => name.startsWith("checkpoint_")).length).toBeGreaterThan(4);
  const { run } = JSON.parse(readFileSync(path.join(folder, "runs", "job-1", "run.json"), "utf8"));
  expect(run.status).toBe("completed");
});

it.each(["a changed byte", "a missing file"])(
  "a run with %s in its middle is damaged, and no other is",
  async (damage) => {
    const folder = newFolder();
    await expect(work(folder, false, [])).rejects.toMatchObject({ code: "HF-2101" });
    const run = path.join(folder, "runs", "job-1");
    const records = readdirSync(run)
      .filter((name) => name.startsWith("checkpoint_"))
      .sort();
    const file = path.join(run, records[2] ?? "");
    if (damage === "a missing file") rmSync(file);
    else writeFileSync(file, readFileSync(file, "utf8").replace('"version"', '"Version"'));
    const store = await openFileStore({ folder });
    const other = workflow("other", async (ctx) => ctx.step("one", async () => 1));
    const engine = createEngine({ store, workflows: [other] });
    const detail = { run: "job-1", problem: "An entry is missing." };
    await expect(engine.plan("job-1")).rejects.toMatchObject({ code: "HF-3010", detail });
    await engine.start(other, undefined, { id: "other-1" });
    expect(await engine.result("other-1")).toBe(1);
    await engine.close();
    await store.close();
    expect(store.recovered.map(({ file: found }) => found)).toEqual(
      damage === "a missing file" ? [] : [path.relative(folder, file)],
    );
  },
);
