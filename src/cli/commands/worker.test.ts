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
