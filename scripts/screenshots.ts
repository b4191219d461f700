/** Takes the pictures of the dashboard in docs/img/dashboard: `npm run screenshots`. Look at each before it is committed. */
import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { playSample, SAMPLE_FILES } from "../test/browser/sample.ts";
import { Stage } from "../test/browser/stage.ts";
import { ROOT } from "../test/source-tree.ts";

const FOLDER = process.argv[2] ?? path.join(ROOT, "docs/img/dashboard");

/** Pages by the name of their picture. */
const PAGES: Readonly<Record<string, string>> = {
  "needs-you": "/",
  runs: "/runs",
  "run-outline": "/r/payments-42",
  "run-graph": "/r/report-2026-11-15?view=graph",
  "run-timeline": "/r/aapl?view=timeline",
  "run-agent": "/r/complaint-7?below=conversation",
  "run-in-doubt": "/r/invite-ada",
  compare: "/diff?from=essay@first&to=essay@last",
  gates: "/gates",
  errors: "/errors",
  schedules: "/schedules",
  queues: "/queues",
  workers: "/workers",
  cost: "/cost",
  reliability: "/reliability",
  audit: "/audit",
  store: "/store",
  settings: "/settings",
};

const LOOKS = {
  light: { viewport: { width: 1280, height: 800 }, colorScheme: "light" },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: "dark" },
  phone: { viewport: { width: 375, height: 740 }, colorScheme: "light" },
} as const;

async function shoot(page: Page, url: string, file: string): Promise<void> {
  await page.goto(url);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.getByText("Loading…").first().waitFor({ state: "hidden" });
  await page.evaluate("new Promise((done) => setTimeout(done, 1_000))");
  await page.screenshot({ path: file });
}

mkdirSync(FOLDER, { recursive: true });
const stage = new Stage({ files: SAMPLE_FILES });
try {
  const opened = await stage.open();
  if ("missing" in opened) throw new Error(opened.missing);
  await playSample(stage);
  for (const [look, options] of Object.entries(LOOKS)) {
    const page = await stage.window("admin", "/", options);
    for (const [name, address] of Object.entries(PAGES))
      await shoot(page, `${stage.url}${address}`, path.join(FOLDER, `${name}-${look}.png`));
  }
  if (stage.complaints.length > 0) process.stderr.write(`${stage.complaints.join("\n")}\n`);
} finally {
  await stage.close();
}
