import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";
import { FLOWS, hooks } from "../../../test/support/cli-flows.ts";
import { markOf, systemProcesses } from "../../core/process-proof.ts";
import { createEngine, type Workflow } from "../../index.ts";
import { openSqliteStore } from "../../stores/sqlite/index.ts";

const folder = cliFolder();
const file = folder.write("flows.mjs", FLOWS);
afterAll(() => folder.remove());

/** No process has such a number. */
const GONE = 999_999_999;
const DEAD = {
  owner: `${hostname()}:${GONE}`,
  processes: { mark: markOf(GONE, "1"), isGone: systemProcesses.isGone },
};

/** A process of another machine, of which nothing is known here. */
const ELSEWHERE = {
  owner: "elsewhere:1",
  claimMs: 50,
  processes: { mark: "1.1.elsewhere.0", isGone: systemProcesses.isGone },
};

/** A run that a process left in the middle of a step, as `kill -9` does. */
async function killedIn(id: string, name: string, by: object = DEAD): Promise<() => void> {
  const flows: Record<string, Workflow<unknown, unknown>> = await import(file);
  const store = await openSqliteStore({ file: join(folder.path, ".holdfast/holdfast.db") });
  const flow = flows[name] as Workflow<unknown, unknown>;
  const engine = createEngine({ store, workflows: [flow], ...by });
  const { begun, release } = hooks.hold("pay");
  await engine.start(flow, {}, { id });
  await begun;
  await store.close();
  return release;
}

describe("a run whose process was killed", () => {
  it("is taken over at once, and a step of unknown outcome may be repeated at once (C2)", async () => {
    const release = await killedIn("k1", "long");
    const { code, stderr } = await folder.run("resume k1 --file flows.mjs");
    expect(stderr.split("\n")[0]).toMatch(
      /^! \S+:999999999 had this run, and its process is gone: it can be taken over/,
    );
    expect([code, stderr]).toEqual([75, expect.stringMatching(/resume k1 --in-doubt rerun {3}if it did/)]);
    release();
    const again = await folder.run("resume k1 --file flows.mjs --in-doubt rerun");
    expect([again.code, again.stderr]).toEqual([0, expect.not.stringContaining("HF-1012")]);
  });

  it("on another machine is not offered to be repeated while it may still be at it (C2)", async () => {
    await killedIn("k2", "long", ELSEWHERE);
    await folder.until("k2", ({ claim }) => claim.until <= Date.now());
    const { code, stderr } = await folder.run("resume k2 --file flows.mjs");
    expect([code, stderr]).toEqual([
      75,
      expect.stringMatching(/resume k2 --in-doubt rerun --after \d+s {3}if it did/),
    ]);
    expect(stderr).toMatch(/it can be run again from\s+[\d:]{8} UTC/);
    const shown = await folder.run("show k2");
    expect(shown.stdout).toMatch(/resume k2 --in-doubt rerun --after \d+s/);
    expect((await folder.run("show k2:pay")).stdout).toMatch(/--in-doubt rerun --after \d+s/);
    const early = await folder.run("resume k2 --file flows.mjs --in-doubt rerun");
    expect(early.stderr).toContain("HF-1012");
  });
});

describe("Ctrl-C", () => {
  it("at a gate leaves nothing drawn after the last word, and says who paused (C5, C12)", async () => {
    let press = (_: "SIGINT"): void => undefined;
    const listening = new Promise<void>((resolve) => {
      const onListening = (one: typeof press): void => {
        press = one;
        resolve();
      };
      void (running = folder.run("run flows.mjs#gated --id g1", { columns: 80, answers: [], onListening }));
    });
    await listening;
    await folder.until("g1", ({ status }) => status === "waiting");
    press("SIGINT");
    const { stderr } = await running;
    const after = stderr.slice(stderr.lastIndexOf("Paused at"));
    expect(after).not.toContain("waiting for you");
    expect(after).not.toContain("Pausing");
    const trail = (await folder.run("logs g1 --json")).json<{ events: { type: string; actor?: string }[] }>();
    const paused = trail.events.find(({ type }) => type === "pause_requested");
    expect(paused?.actor).toMatch(/./);
    await folder.run("cancel g1");
    expect((await folder.run("show g1")).stdout).toMatch(/◌ release +not answered/);
    expect((await folder.run("gate list")).stdout).toContain("No decisions waiting");
  });
});

let running: ReturnType<typeof folder.run>;

describe("a step that failed by its own mistake", () => {
  it("is told with its place, and going on is not advised before the code is changed (C4)", async () => {
    const plain =
      '({ name: "wrong", version: "1", schema: 1, migrations: [], compensateOnFailure: false, body })';
    folder.write(
      "wrong.mjs",
      `const body = async (ctx) => {\n  await ctx.step("a", () => undefined.foo);\n};\nexport const wrong = ${plain};\n` +
        `export const unsavable = { ...wrong, name: "unsavable", body: (ctx) => ctx.step("f", () => ({ f: () => 1 })) };\n`,
    );
    const mistake = await folder.run("run wrong.mjs#wrong --id m1 -v");
    expect(mistake.code).toBe(1);
    expect(mistake.stderr).toMatch(/At {4}\S*wrong\.mjs:2:39/);
    expect(mistake.stderr).toMatch(/Fix {3}Change the code at/);
    expect(mistake.stderr).toMatch(/ {4}at \S+wrong\.mjs:2:39/);
    expect((await folder.run("show m1")).stdout).toMatch(/wrong\.mjs:2:39/);
    expect((await folder.run("show m1:a -v")).stdout).toMatch(/thrown at +\S*wrong\.mjs:2:39[^]*Stack/);
    const unsavable = await folder.run("run wrong.mjs#unsavable --id m2");
    expect([unsavable.code, unsavable.stderr]).toEqual([1, expect.stringContaining("Use plain data")]);
  });
});
