import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { ROOT } from "./source-tree.ts";

const module = (file: string): string => JSON.stringify(pathToFileURL(path.join(ROOT, "dist", file)).href);

/** A script as a newcomer writes it: it closes nothing. */
const script = (folder: string): string => `
  import { createEngine, workflow } from ${module("index.js")};
  import { openSqliteStore } from ${module("stores/sqlite/index.js")};
  const flow = workflow("hello", (ctx, name) => ctx.step("greet", () => "Hello " + name));
  const store = await openSqliteStore({ file: ${JSON.stringify(path.join(folder, "h.db"))} });
  const engine = createEngine({ store, workflows: [flow], claimMs: 3_600_000, sweepMs: 3_600_000 });
  console.log(await engine.result((await engine.start(flow, "Ada", { id: "one" })).id));
`;

it("a process ends by itself when its runs have ended, though nothing was closed", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "holdfast-exit-"));
  try {
    const child = () =>
      spawnSync(process.execPath, ["--input-type=module", "-e", script(folder)], {
        encoding: "utf8",
        timeout: 60_000,
      });
    const first = child();
    expect([first.stdout, first.status, first.signal]).toEqual(["Hello Ada\n", 0, null]);
    expect(child().stdout).toBe("Hello Ada\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
