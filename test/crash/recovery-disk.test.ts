import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createEngine, type Effect, workflow } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { checkInvariants } from "../../src/testing/invariants/invariants.ts";
import { signalled } from "../support/lab.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-disk-"));
const run = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;
const isMounted = run("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder);
const whyNot = isMounted ? "" : " (skipped: this process may not mount a file system)";

afterAll(() => {
  if (isMounted) run("umount", "--lazy", folder);
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(!isMounted)(`a disk that really is full${whyNot}`, () => {
  it("holds its runs before their next step, says so everywhere, and lets them go on when it has room", async () => {
    const ballast = join(folder, "ballast");
    writeFileSync(ballast, Buffer.alloc(6 * 1024 * 1024));
    const store = await openSqliteStore({ file: join(folder, "runs.db") });
    const calls = new Map<string, number>();
    const effects: readonly Effect[] = ["repeatable", "keyed", "once"];
    const flow = workflow("flow", async (ctx) => {
      for (let n = 0; n < STEPS; n++) {
        const effect = effects[n % 3] as Effect;
        await ctx.step(`s${n}`, ({ step }) => (calls.set(step, (calls.get(step) ?? 0) + 1), text()), {
          effect,
        });
      }
      return "end";
    });
    const engine = createEngine({ store, workflows: [flow], sweepMs: 50 });
    const [fails, recovers] = [signalled(), signalled()];
    engine.on("store_failing", () => fails.resolve());
    engine.on("store_recovered", () => recovers.resolve());
    await engine.start(flow, undefined, { id: "r" });
    expect(await Promise.race([fails.promise, engine.result("r")])).toBeUndefined();
    const called = calls.size;
    const row = await store.read("r");
    expect(engine.health()).toMatchObject({
      store: { state: "failing", error: expect.stringContaining("full") },
      runs: [{ runId: "r", notSavedSince: { seq: row?.seq } }],
    });
    expect(await engine.status("r")).toMatchObject({
      headline: expect.stringMatching(new RegExp(`not saved since #${row?.seq}$`)),
      notSavedSince: row?.seq,
    });
    await expect(engine.start(flow, undefined, { id: "other" })).rejects.toMatchObject({ code: "HF-3002" });
    expect(called).toBeLessThan(STEPS);
    expect(calls.size).toBe(called);
    rmSync(ballast);
    await recovers.promise;
    expect(await engine.result("r")).toBe("end");
    expect([...calls.values()]).toEqual(Array(STEPS).fill(1));
    expect((await engine.status("r")).notSavedSince).toBeNull();
    expect(await checkInvariants(store, { calls: [] })).toEqual([]);
    await engine.close();
    await store.close();
  });
});

const STEPS = 60;
const text = (): string => randomBytes(48 * 1024).toString("base64");
