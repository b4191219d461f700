import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type CliFolder, cliFolder } from "../../../test/support/cli.ts";
import type { StopSignal } from "../host.ts";

let folder: CliFolder;
const folders: CliFolder[] = [];
beforeEach(() => {
  folder = cliFolder();
  folders.push(folder);
});
afterAll(() => {
  for (const one of folders) one.remove();
});

/** A workflow that ticks soon after its file was loaded. */
const FLOW = `import { workflow } from "${new URL("../../index.ts", import.meta.url).pathname}";
export const nightly = workflow("nightly", { schedule: { everyMs: 1_000 } }, (ctx) =>
  ctx.step("report", () => globalThis.ticked(ctx.runId)));`;

describe("a command that advances runs", () => {
  it.each(["worker flow.ts", "serve flow.ts --port 0"])(
    "minds schedules, and is listed while it is there: %s",
    async (line) => {
      folder.write("flow.ts", FLOW);
      const ticked = new Promise<string>((resolve) => Object.assign(globalThis, { ticked: resolve }));
      let press: (signal: StopSignal) => void = () => undefined;
      const ended = folder.run(line, { onListening: (one) => (press = one) });
      const early = ended.then(({ stderr }) => Promise.reject(new Error(stderr)));
      const runId = await Promise.race([ticked, early]);
      await folder.until(runId, ({ status }) => status === "completed");
      const listed = async () =>
        (await folder.run("workers --json")).json<{ workers: { workflows: { name: string }[] }[] }>().workers;
      expect(await listed()).toMatchObject([{ workflows: [{ name: "nightly" }], isStale: false }]);
      press("SIGTERM");
      early.catch(() => undefined);
      expect((await ended).code).toBe(0);
      expect(await listed()).toEqual([]);
      const shown = (await folder.run("list --label schedule=nightly --json")).stdout;
      expect(shown).toContain(runId);
    },
  );
});

describe("the health checks of a worker", () => {
  const IDLE = FLOW.replace("{ schedule: { everyMs: 1_000 } }, ", "");

  it("listen on a free port if asked to, and say where", async () => {
    folder.write("flow.ts", IDLE);
    // A worker hears signals before it says that it is there, so this one is stopped in a later turn.
    const press = (stop: (signal: StopSignal) => void): unknown => setImmediate(stop, "SIGTERM");
    const { stdout, code } = await folder.run("worker flow.ts --health-port 0 --jsonl", {
      onListening: press,
    });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/"health":"http:\/\/127\.0\.0\.1:[1-9]\d*"/)]);
  });

  it("are refused on what is no port, and on one that is taken", async () => {
    folder.write("flow.ts", IDLE);
    expect((await folder.run("worker flow.ts --health-port 65536")).stderr).toContain("65536 isn't a port");
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as AddressInfo;
    const { code, stderr } = await folder.run(`worker flow.ts --health-port ${port}`);
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining("HF-6066")]);
    taken.close();
  });
});
