import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PAGES } from "./addresses.ts";
import { playSample, SAMPLE_FILES } from "./sample.ts";
import { Stage } from "./stage.ts";

const SIZES = {
  phone: { width: 375, height: 740 },
  laptop: { width: 1440, height: 900 },
  "4K": { width: 3840, height: 2160 },
} as const;

const stage = new Stage({ files: SAMPLE_FILES });
const windows = new Map<string, Page>();
let why = "";

beforeAll(async () => {
  const opened = await stage.open();
  if ("missing" in opened) {
    why = opened.missing;
    return;
  }
  await playSample(stage);
  for (const [size, viewport] of Object.entries(SIZES))
    windows.set(size, await stage.window("admin", "/", { viewport }));
});
afterAll(() => stage.close());

async function open(size: string, address: string): Promise<Page> {
  const page = windows.get(size);
  if (!page) throw new Error(`no window of the size ${size}`);
  await page.goto(`${stage.url}${address}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.getByText("Loading…").first().waitFor({ state: "hidden" });
  return page;
}

/** What is wider than the window, cut without a title that says it whole, or higher than its box. It runs in the page. */
const FAULTS = `(() => {
  const root = document.documentElement;
  const faults = root.scrollWidth > root.clientWidth ? ["the page: " + root.scrollWidth + " px wide"] : [];
  for (const one of document.querySelectorAll("body *")) {
    const { textOverflow } = getComputedStyle(one);
    const isCut = textOverflow === "ellipsis" && one.scrollWidth > one.clientWidth + 1;
    if (isCut && !one.closest("[title]") && !one.matches("input, select"))
      faults.push("cut without a title: " + one.textContent);
  }
  for (const node of document.querySelectorAll(".react-flow__node > *"))
    if (node.scrollHeight > node.clientHeight + 1) faults.push("higher than its box: " + node.textContent);
  return faults;
})()`;

describe("the dashboard, on screens of every size", () => {
  it.for(Object.keys(SIZES).flatMap((size) => PAGES.map((address) => [size, address] as const)))(
    "shows everything whole, or says it in a title: %s %s (S1-32)",
    async ([size, address], { skip }) => {
      if (why) return skip(why);
      const page = await open(size, address);
      expect(await page.evaluate(FAULTS)).toEqual([]);
    },
  );

  it("draws graphs in the size of their letters", async ({ skip }) => {
    if (why) return skip(why);
    const partOfLetters = async (size: string): Promise<number> => {
      const page = await open(size, "/r/report-2026-11-15?view=graph");
      await page.locator(".react-flow__node").first().waitFor();
      expect(await page.evaluate(FAULTS)).toEqual([]);
      return page.evaluate<number>(
        `document.querySelector(".react-flow__node").offsetWidth / parseFloat(getComputedStyle(document.documentElement).fontSize)`,
      );
    };
    expect(await partOfLetters("4K")).toBeCloseTo(await partOfLetters("laptop"), 0);
  });

  it("offers on a phone what can be done with a row, and the way out", async ({ skip }) => {
    if (why) return skip(why);
    for (const [address, name] of [
      ["/schedules", "Pause"],
      ["/queues", "Hold"],
      ["/settings", "Rotate"],
      ["/cost", "Change"],
      ["/settings", "Sign out"],
    ] as const) {
      const page = await open("phone", address);
      const box = await page.getByRole("button", { name, exact: true }).first().boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThan(375);
    }
  });
});
