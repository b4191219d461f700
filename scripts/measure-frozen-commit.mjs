// Freezes (SIGSTOP) a process that writes to a SQLite store as fast as it can, at random moments, and measures how long another process
// is kept from writing: node scripts/measure-frozen-commit.mjs [rounds] [freezeMs]. Needs `npm run build`.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createEngine, workflow } from "holdfast";
import { openSqliteStore } from "holdfast/stores/sqlite";

const flow = workflow("flow", async (ctx) => {
  for (let n = 0; ; n++) await ctx.step(`s${n}`, () => n);
});
const once = workflow("once", (ctx) => ctx.step("s", () => 1));

if (process.argv[2] === "writer") {
  const store = await openSqliteStore({ file: process.argv[3] ?? "" });
  const engine = createEngine({ store, workflows: [flow], owner: "writer" });
  await engine.start(flow, undefined);
  process.send?.("ready");
} else {
  const [rounds = 50, freezeMs = 5_000] = process.argv.slice(2).map(Number);
  const folder = mkdtempSync(path.join(tmpdir(), "frozen-"));
  const file = path.join(folder, "runs.db");
  /** @type {number[]} */
  const waits = [];
  for (let round = 0; round < rounds; round++) {
    const writer = spawn(process.execPath, [import.meta.filename, "writer", file], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    await new Promise((resolve) => writer.once("message", resolve));
    await delay(50 + Math.random() * 100);
    writer.kill("SIGSTOP");
    const thaw = setTimeout(() => writer.kill("SIGCONT"), freezeMs);
    const store = await openSqliteStore({ file });
    const engine = createEngine({ store, workflows: [once], owner: "other" });
    const start = performance.now();
    await engine.result((await engine.start(once, undefined)).id);
    waits.push(performance.now() - start);
    clearTimeout(thaw);
    writer.kill("SIGKILL");
    await engine.close();
    await store.close();
  }
  rmSync(folder, { recursive: true });
  const held = waits.filter((ms) => ms > freezeMs / 2);
  /** @param {readonly number[]} list */
  const sorted = (list) => [...list].sort((a, b) => a - b);
  const free = sorted(waits.filter((ms) => ms <= freezeMs / 2));
  console.log(`${rounds} freezes of ${freezeMs} ms: ${held.length} inside a commit.`);
  console.log(
    `Others wrote after ${Math.round(free[free.length >> 1] ?? 0)} ms (median), ${Math.round(free.at(-1) ?? 0)} ms at most;`,
  );
  if (held.length > 0)
    console.log(
      `held up: ${Math.round(sorted(held)[0] ?? 0)} to ${Math.round(sorted(held).at(-1) ?? 0)} ms.`,
    );
}
