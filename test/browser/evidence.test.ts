import { execFile } from "node:child_process";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../source-tree.ts";
import { exampleProjects } from "../support/example-project.ts";
import { useFolders } from "../support/folders.ts";
import { startBrowser } from "../support/services/chromium.ts";

const MAIN = path.join(ROOT, "dist/cli/main.js");
const project = exampleProjects(useFolders("evidence"));

let browser: Browser | undefined;
let why = "";
/** The evidence of a run of the example, as somebody opens the file. */
let file = "";
const complaints: string[] = [];

beforeAll(async () => {
  const started = await startBrowser();
  if ("missing" in started) {
    why = started.missing;
    return;
  }
  browser = started.browser;
  const cwd = project("reconcile-payments");
  const holdfast = (...args: string[]) => promisify(execFile)(process.execPath, [MAIN, ...args], { cwd });
  await holdfast("run", "flow.ts", "--id", "march");
  file = path.join(cwd, "march.html");
  await holdfast("report", "evidence", "march", "--format", "html", "--out", file);
}, 120_000);
afterAll(() => browser?.close());

async function opened(width: number): Promise<Page> {
  const context = await (browser as Browser).newContext({ viewport: { width, height: 1_000 } });
  const page = await context.newPage();
  page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())));
  page.on("pageerror", (error) => void complaints.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:")) complaints.push(request.url());
  });
  await page.goto(pathToFileURL(file).href);
  return page;
}

/** How much wider than the window the page is. */
const overflow = async (page: Page): Promise<number> =>
  Number(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"));

describe("the evidence of a run, as a file in a browser", () => {
  it("shows the four reports with what the run did, and loads nothing (S1-56)", async ({ skip }) => {
    if (why !== "") skip(why);
    const page = await opened(1_280);
    expect(await page.getByRole("heading", { level: 2 }).allInnerTexts()).toEqual([
      "Execution audit trail",
      "Recovery incident log",
      "Idempotency violation report",
      "Checkpoint store capacity report",
      "What this does not show",
    ]);
    const trail = page.getByRole("region", { name: "Execution audit trail" });
    for (const name of ["pay[0]/transfer", "pay[1]/transfer", "mail"])
      expect(await trail.getByText(name, { exact: true }).first().isVisible()).toBe(true);
    for (const link of await page.getByRole("link").all()) {
      const target = (await link.getAttribute("href")) ?? "";
      expect(await page.locator(`[id="${target.slice(1)}"]`).count()).toBe(1);
    }
    expect(complaints).toEqual([]);
  });

  it("needs no scrolling to the side, in a wide window and on a phone", async ({ skip }) => {
    if (why !== "") skip(why);
    for (const width of [1_280, 390])
      expect([width, await overflow(await opened(width))]).toEqual([width, 0]);
  });

  it("fits on paper", async ({ skip }) => {
    if (why !== "") skip(why);
    const page = await opened(794);
    await page.emulateMedia({ media: "print" });
    expect(await overflow(page)).toBe(0);
    const pdf = await page.pdf({ format: "A4" });
    expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
  });
});
