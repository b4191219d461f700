import { describe, expect, it } from "vitest";
import { useFlows } from "../../../test/support/cli-flows.ts";

const folder = useFlows();

const run = (id: string, more = "") => folder.run(`run flows.mjs#greet -i name=Ada --id ${id} ${more}`);

const listed = async (): Promise<string[]> =>
  (await folder.run("list --json")).json<{ runs: { id: string }[] }>().runs.map(({ id }) => id);

describe("holdfast delete", () => {
  it("deletes a run when told to, and lets its id be used again (S1-49)", async () => {
    await run("d1");
    expect((await folder.run("delete d1")).code).not.toBe(0);
    expect(await listed()).toEqual(["d1"]);
    const { code, stdout } = await folder.run(["delete", "d1", "--yes", "--reason", "asked to"]);
    expect([code, stdout]).toEqual([0, "✓ deleted d1; its id is free again\n"]);
    expect(await listed()).toEqual([]);
    expect((await folder.run("show d1")).code).toBe(4);
    expect((await run("d1")).code).toBe(0);
    expect(await listed()).toEqual(["d1"]);
  });

  it("refuses an unfinished run with a sentence, unless it is forced", async () => {
    await run("d2", "--detach");
    const refused = await folder.run("delete d2 --yes");
    expect(refused.stderr).toContain("Run d2 is queued and was not deleted.");
    expect(refused.stderr).toContain("holdfast delete d2 --force");
    expect((await folder.run("delete d2 --yes --force")).code).toBe(0);
    expect(await listed()).toEqual([]);
  });
});

describe("holdfast checkpoints clear", () => {
  it("leaves nothing of a workflow's ended runs, in no list and nothing to resume (S3-20)", async () => {
    await run("c1");
    await run("c2", "--detach");
    const { code, stdout } = await folder.run("checkpoints clear greet --yes");
    expect([code, stdout]).toEqual([0, expect.stringContaining("the run is deleted")]);
    expect(await listed()).toEqual(["c2"]);
    expect((await folder.run("checkpoints list c1")).code).toBe(4);
    expect((await folder.run("resume c1")).code).toBe(4);
  });

  it("deletes unfinished runs too when asked, and says how many", async () => {
    await run("c3");
    await run("c4", "--detach");
    const dry = await folder.run("checkpoints clear greet --unfinished --dry-run");
    expect(dry.stdout).toContain("would cancel and delete: 1 unfinished run");
    expect(await listed()).toEqual(["c4", "c3"]);
    const { code, stdout } = await folder.run("checkpoints clear greet --unfinished --yes");
    expect([code, stdout]).toEqual([0, expect.stringContaining("deleted: 1 unfinished run")]);
    expect(await listed()).toEqual([]);
  });

  it("keeps the record where that is asked for, and calls a failed run dropped, not resumable", async () => {
    await run("c5");
    const { code } = await folder.run("checkpoints clear greet --keep-record --yes");
    expect(code).toBe(0);
    expect(await listed()).toEqual(["c5"]);
    expect((await folder.run("checkpoints list c5 --json")).json()).toMatchObject({ checkpoints: [] });
  });
});
