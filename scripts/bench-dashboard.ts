/**
 * Measures the dashboard in a real browser on a store with 10,000 runs, one of which has 10,000 steps and 50 MB of
 * outputs: how soon pages can be used, how smoothly they scroll, and whether memory stays flat under live updates.
 * `MINUTES` of live updates (default 1); `FOLDER` keeps the store for the next time.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import { createEngine, workflow } from "../src/index.ts";
import { openSqliteStore } from "../src/stores/sqlite/index.ts";
import { Stage } from "../test/browser/stage.ts";

const RUNS = Number(process.env["RUNS"] ?? 10_000);
const STEPS = Number(process.env["STEPS"] ?? 10_000);
const MINUTES = Number(process.env["MINUTES"] ?? 1);
const OUTPUT = "x".repeat(5_000);
const kept = process.env["FOLDER"];
const folder = kept ?? mkdtempSync(path.join(tmpdir(), "holdfast-bench-dashboard-"));
const file = path.join(folder, "runs.db");

const short = workflow("short", async (ctx, n: number) => {
  await ctx.step("load", () => n);
  if (n % 50 === 0) await ctx.gate("approve", { show: n, choices: ["yes", "no"] });
  if (n % 35 === 0)
    await ctx.step("pay", () => Promise.reject(new Error(`HTTP 500 for order ${n}`)), { retry: false });
  return n;
});
const long = workflow("long", async (ctx, steps: number) => {
  for (let n = 0; n < steps; n++) await ctx.step(`step-${n}`, () => `${n} ${OUTPUT}`);
  return steps;
});

const isMade = existsSync(file);
const store = await openSqliteStore({ file });
const engine = createEngine({ store, workflows: [short, long] });
if (!isMade) {
  for (let from = 0; from < RUNS; from += 500) {
    const batch = Array.from({ length: Math.min(500, RUNS - from) }, (_, at) => from + at);
    await Promise.all(batch.map((n) => engine.start(short, n, { id: `run-${n}` })));
    await Promise.all(batch.map((n) => engine.settled(`run-${n}`)));
  }
  await (await engine.start(long, STEPS, { id: "long" })).result();
}

const heapOf = async (page: Page): Promise<number> => {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize / 1e6;
};

/** From the request of the page to the first row that can be used. */
async function readyMs(page: Page, url: string, row: string): Promise<number> {
  const began = performance.now();
  await page.goto(url, { waitUntil: "commit" });
  await page.locator(row).first().waitFor();
  return performance.now() - began;
}

/** Scrolls the longest part of the page for three seconds and counts frames. It runs in the page. */
const SCROLL = `(async () => {
  const parts = [document.scrollingElement, ...document.querySelectorAll("main *")];
  const longest = parts.reduce((a, b) => (b.scrollHeight - b.clientHeight > a.scrollHeight - a.clientHeight ? b : a));
  let frames = 0;
  const began = performance.now();
  await new Promise((done) => {
    const frame = () => {
      frames++;
      longest.scrollTop += 60;
      if (performance.now() - began < 3_000) requestAnimationFrame(frame);
      else done();
    };
    requestAnimationFrame(frame);
  });
  return (frames * 1_000) / (performance.now() - began);
})()`;

const stage = new Stage({ store: `sqlite:${file}` });
const tell = (what: string, value: number, unit: string): void =>
  console.log(`${what.padEnd(48)} ${value.toFixed(value < 10 ? 1 : 0).padStart(8)} ${unit}`);
try {
  const page = await stage.open();
  if ("missing" in page) throw new Error(page.missing);
  const ROW = "main :is([role=row], [role=treeitem], tbody tr, li) a, main [role=treeitem]";
  for (const [name, address] of [
    [`Runs, ${RUNS} runs`, "/runs"],
    [`Run, ${STEPS} steps`, "/r/long"],
  ] as const) {
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      times.push(await readyMs(page, `${stage.url}${address}`, ROW));
      // The server finishes what the page has asked for besides, as it would before a person opens the next one.
      await delay(3_000);
    }
    tell(`${name}: usable after (median of 5)`, times.sort((a, b) => a - b)[2] ?? 0, "ms");
    tell(`${name}: scrolling`, await page.evaluate<number>(SCROLL), "frames/s");
    tell(`${name}: heap`, await heapOf(page), "MB");
  }
  await page.goto(`${stage.url}/runs`);
  await page.locator(ROW).first().waitFor();
  const before = await heapOf(page);
  const began = Date.now();
  let [started, told] = [0, 0];
  for (; Date.now() < began + MINUTES * 60_000; started++) {
    const minute = Math.floor((Date.now() - began) / 60_000);
    if (minute > told) tell(`${started} live runs in ${minute} min: heap`, await heapOf(page), "MB");
    told = minute;
    await (await engine.start(short, 1, { id: `live-${Date.now()}-${started}` })).result();
    await delay(50);
  }
  tell(`${started} live runs in ${MINUTES} min: heap before`, before, "MB");
  tell(`${started} live runs in ${MINUTES} min: heap after`, await heapOf(page), "MB");
  for (const complaint of stage.complaints) console.log(complaint);
} finally {
  await stage.close();
  await engine.close();
  await store.close();
  if (!kept) rmSync(folder, { recursive: true, force: true });
}
