import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";
import { brief, fillStore, reconcile, withRuns } from "../../../test/support/cli-runs.ts";
import { chooseDriver } from "../../stores/sqlite/driver.ts";
import { width } from "../format.ts";
import { ORIGIN_KEY } from "../run-origin.ts";

const folder = cliFolder();
const HOUR = 3_600_000;

const later = (ms: number): void => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
};

beforeAll(() => fillStore(folder.path));
afterEach(() => vi.useRealTimers());
afterAll(() => folder.remove());

const ids = async (line: string): Promise<string[]> =>
  (await folder.run(`${line} --json`)).json<{ runs: { id: string }[] }>().runs.map(({ id }) => id);

describe("list", () => {
  it("shows what runs do or wait for, newest first", async () => {
    later(2 * HOUR);
    const { code, stdout } = await folder.run("list");
    expect(code).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "RUN       WORKFLOW        STATUS               DONE  AGE   COST  WHY / WAITING FOR     INPUT
      recon-88  reconcile       ‖ gate                2/4   2h  $0.04  approve for 2h        batch=2026-01
      aapl-17   stock-analysis  ✗ failed, resumable     1   2h         HTTP 429 from koyfin  AAPL
      done-1    brief           ✓ completed           3/3   2h  $0.02                        topic=bolts
      "
    `);
  });

  it("fits into a narrow terminal by cutting what can be cut", async () => {
    later(2 * HOUR);
    const { stdout } = await folder.run("list --no-color", { columns: 80 });
    const lines = stdout.trimEnd().split("\n");
    expect(lines.filter((line) => width(line) > 80)).toEqual([]);
    expect(lines[1]).toMatch(/^recon-88 +reconcile +‖ gate +2\/4 +2h +\$0.04 +approve for/);
  });

  it("does not take a store that was asked for and is not there for an empty one (R7)", async () => {
    const missing = join(folder.path, "none", "x.db");
    for (const store of [`sqlite:${missing}`, `file:${join(folder.path, "none", "f")}`]) {
      const { code, stdout, stderr } = await folder.run(`list --store ${store}`);
      expect([code, stdout]).toEqual([4, ""]);
      expect(stderr).toContain("HF-3052");
    }
    const { code } = await folder.run("list", { env: { HOLDFAST_STORE: `sqlite:${missing}` } });
    expect(code).toBe(4);
    expect(existsSync(join(folder.path, "none"))).toBe(false);
  });

  it("makes no store of an empty file", async () => {
    const file = folder.write("empty.txt", "");
    const { code, stderr } = await folder.run(`list --store sqlite:${file}`);
    expect([code, stderr]).toEqual([4, expect.stringContaining("HF-3052")]);
    expect(readFileSync(file, "utf8")).toBe("");
  });

  it("finds a text, and keeps filters as a view", async () => {
    expect(await ids("list --text koyfin")).toEqual(["aapl-17"]);
    expect(await ids("list --text RECON-8")).toEqual(["recon-88"]);
    expect(await ids("list --needs-me --text reconcile --save-view mine")).toEqual(["recon-88"]);
    expect(await ids("list --view mine")).toEqual(["recon-88"]);
    expect(await ids("list --view mine --status failed")).toEqual([]);
    expect((await folder.run("list --view none")).stderr).toContain("HF-6015");
    expect((await folder.run("list --stalled --save-view s")).code).toBe(2);
  });

  it("keeps what needs a person apart from what does not", async () => {
    expect(await ids("list --needs-me")).toEqual(["recon-88", "aapl-17"]);
    expect(await ids("list --status completed")).toEqual(["done-1"]);
    expect(await ids("list --status completed --status failed")).toEqual(["aapl-17", "done-1"]);
  });

  it("finds runs by workflow, by what their error says and by when they started", async () => {
    expect(await ids("list reconcile")).toEqual(["recon-88"]);
    expect(await ids("status --workflow brief")).toEqual(["done-1"]);
    expect(await ids("ls --error koyfin")).toEqual(["aapl-17"]);
    later(2 * HOUR);
    expect(await ids("list --since 1h")).toEqual([]);
    expect(await ids("list --since 3h")).toHaveLength(3);
  });

  it("says when there are more than it shows", async () => {
    const { stdout } = await folder.run("list --limit 1");
    expect(stdout).toContain("… more");
    expect((await folder.run("list --limit 1 --json")).json()).toMatchObject({ more: true });
    expect((await folder.run("list --limit 0")).code).toBe(2);
  });

  it("streams one line for each run", async () => {
    const { stdout } = await folder.run("list --jsonl");
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ id }) => id)).toEqual(["recon-88", "aapl-17", "done-1", undefined]);
    expect(lines.at(-1)).toEqual({ schema: "holdfast/list/v1", ok: true, count: 3, more: false });
  });

  it("looks again until Ctrl-C", async () => {
    const { code, stdout } = await folder.run("list --watch", { onListening: (press) => press("SIGINT") });
    expect(code).toBe(0);
    expect(stdout).toContain("recon-88");
  });
});

describe("list of other stores", () => {
  it("says how to begin where there are no runs, and makes no store", async () => {
    const empty = cliFolder();
    const { code, stdout } = await empty.run("list");
    expect(code).toBe(0);
    expect(stdout).toContain("holdfast run");
    expect((await empty.run("list --needs-me")).stdout).toContain("All quiet");
    expect((await empty.run("list --status failed")).stdout).toContain("No run matches");
    empty.remove();
  });

  it("calls a run stalled that could go on and that nobody has", async () => {
    const crashed = cliFolder();
    await withRuns(crashed.path, async (engine) => {
      const never = { ...brief, name: "stuck", body: () => new Promise<never>(() => undefined) };
      await engine.start(never, { topic: "x" }, { id: "stuck-1" });
    });
    later(9 * 60_000);
    const { stdout } = await crashed.run("list --stalled");
    expect(stdout).toMatch(/stuck-1 +stuck +◌ stalled 9m/);
    expect((await crashed.run("list --needs-me --json=runs")).json()).toMatchObject({
      runs: [{ id: "stuck-1", needsYou: true, stalledSince: expect.any(String) }],
    });
    crashed.remove();
  });

  it("still lists every run when the values of one cannot be read", async () => {
    const damaged = cliFolder();
    await fillStore(damaged.path);
    const db = (await chooseDriver("auto")).connect(join(damaged.path, ".holdfast", "holdfast.db"));
    db.exec("UPDATE journal SET data = 'x', head = 'x' WHERE run = (SELECT n FROM runs WHERE id = 'done-1')");
    db.close();
    const { code, stdout } = await damaged.run("list");
    expect([code, stdout.split("\n").length]).toEqual([0, 5]);
    expect((await damaged.run("show done-1")).code).toBe(6);
    expect((await damaged.run("validate done-1")).code).toBe(6);
    damaged.remove();
  });

  it("finds runs by their labels and shows their names", async () => {
    const named = cliFolder();
    await withRuns(named.path, async (engine) => {
      for (const team of ["red", "blue"]) {
        const config = { [ORIGIN_KEY]: { name: `nightly-${team}`, labels: { team } } };
        await engine.start(reconcile, { batch: team }, { id: `run-${team}`, config });
        await engine.settled(`run-${team}`);
      }
    });
    const { stdout } = await named.run("list --label team=blue");
    expect(stdout).toContain("nightly-blue");
    expect(stdout).not.toContain("red");
    expect((await named.run("list --label team --json")).json<{ runs: unknown[] }>().runs).toHaveLength(2);
    named.remove();
  });
});
