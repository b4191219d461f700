import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";
import { FLOWS, hooks } from "../../../test/support/cli-flows.ts";
import { createEngine, type Workflow } from "../../index.ts";
import { openSqliteStore } from "../../stores/sqlite/index.ts";

const folder = cliFolder();
const file = folder.write("flows.mjs", FLOWS);
afterAll(() => folder.remove());

/** No process has such a number. */
const DEAD = `${hostname()}:999999999`;

/** A run that a process left in the middle of a step, as `kill -9` does. */
async function killedIn(id: string, name: string): Promise<void> {
  const flows: Record<string, Workflow<unknown, unknown>> = await import(file);
  const store = await openSqliteStore({ file: join(folder.path, ".holdfast/holdfast.db") });
  const flow = flows[name] as Workflow<unknown, unknown>;
  const engine = createEngine({ store, workflows: [flow], owner: DEAD, claimMs: 1_500 });
  const { begun } = hooks.hold("pay");
  await engine.start(flow, {}, { id });
  await begun;
  await store.close();
}

describe("a run whose process was killed", () => {
  it("is said at once to be held, by whom and until when, and is not offered to be repeated too early (C2)", async () => {
    await killedIn("k1", "long");
    const { code, stderr } = await folder.run("resume k1 --file flows.mjs");
    expect(stderr.split("\n")[0]).toMatch(
      /^◌ \S+:999999999 had this run and is gone; its claim holds until [\d:]{8} UTC, so it goes on in \ds$/,
    );
    expect([code, stderr]).toEqual([
      75,
      expect.stringMatching(/resume k1 --in-doubt rerun --after \d+s {3}if it did/),
    ]);
    expect(stderr).toMatch(/it can be run again from\s+[\d:]{8} UTC/);
    const shown = await folder.run("show k1");
    expect(shown.stdout).toMatch(/resume k1 --in-doubt rerun --after \d+s/);
    expect((await folder.run("show k1:pay")).stdout).toMatch(/--in-doubt rerun --after \d+s/);
    const early = await folder.run("resume k1 --file flows.mjs --in-doubt rerun");
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
    expect([unsavable.code, unsavable.stderr]).toEqual([1, expect.stringContaining("Return plain data")]);
  });
});
